/**
 * The deployed apps and the needs of each: the one description for the Kubernetes manifests (`node deploy/generate.ts`).
 * docker/compose.yaml is written by hand, and deploy/checks compares both with the code.
 *
 * apps/all-in-one is not here: it is for development, where all services share a process.
 */

export interface DeployedApp {
  /** Name of the app's folder, its image, Deployment, Service, ServiceAccount and Secret. */
  readonly name: string;
  /** `platform` is deploy/base; `demo` adds, for a platform without real money, a shop and a simulated acquirer. */
  readonly part: 'platform' | 'demo';
  /** PostgreSQL schema; its role is `svc_<schema>`, its owner `svc_<schema>_owner`. Undefined: the app has no tables. */
  readonly schema?: string;
  /** Variables whose values are not secret. An overlay replaces those that contain a host. */
  readonly variables: Readonly<Record<string, string>>;
  /** Variables that come from the app's own Secret, under their own names. */
  readonly secrets: readonly string[];
  /** The number of replicas, or its range for the autoscaler. */
  readonly replicas: number | { readonly min: number; readonly max: number };
  readonly resources: Resources;
  /** Allowed connections besides DNS; all others are refused. */
  readonly connectsTo: readonly Destination[];
  /** Folder it writes to, lost with the pod. */
  readonly scratch?: string;
  /** Files from a Secret: name of the Secret, and folder to mount it in. */
  readonly files?: { readonly secret: string; readonly folder: string };
}

export interface Resources {
  /** Requested millicores. No limit: throttling a process would only delay a payer's request. */
  readonly cpuMillis: number;
  /** Requested MiB, also the limit. */
  readonly memoryMi: number;
}

/** `internet`: ports 443 and 8443 of public addresses; the others are pods, by name or by their namespace's label. */
export type Destination = 'postgresql' | 'rabbitmq' | 'internet' | { readonly app: string };

/** Port of every app in its container; the image sets it too (docker/Dockerfile). */
export const PORT = 8080;

/** Seconds after SIGTERM for running requests and messages to finish. */
export const DRAIN_SECONDS = 35;
/** Seconds until a Gateway knows that a pod is stopping; until then it still sends requests. */
export const LEAVE_SECONDS = 5;

/** Public hosts; an overlay replaces them, here and in the routes. */
export const HOSTNAMES = {
  api: 'api.svc.example',
  gateway: 'pay.svc.example',
  shop: 'shop.svc.example',
  admin: 'admin.svc.example',
} as const;

const production = { SVC_ENVIRONMENT: 'production', SVC_ERROR_PAGES_URL: `https://${HOSTNAMES.api}/errors` };

export const DEPLOYED_APPS: readonly DeployedApp[] = [
  {
    name: 'identity',
    part: 'platform',
    schema: 'identity',
    variables: production,
    secrets: ['SVC_DATABASE_URL', 'SVC_AMQP_URL', 'SVC_ADMIN_KEY', 'SVC_SEALING_KEY'],
    replicas: 2,
    resources: { cpuMillis: 100, memoryMi: 256 },
    connectsTo: ['postgresql', 'rabbitmq'],
  },
  {
    name: 'payment-processor',
    part: 'platform',
    schema: 'payment_processor',
    // The simulated acquirer is the only one so far: this base moves no real money.
    variables: {
      ...production,
      SVC_ACQUIRER_URL: `http://simulated-acquirer:${PORT}`,
      SVC_API_URL: `https://${HOSTNAMES.api}`,
      SVC_CODES_URL: `https://${HOSTNAMES.gateway}`,
    },
    secrets: ['SVC_DATABASE_URL', 'SVC_AMQP_URL', 'SVC_ADMIN_KEY', 'SVC_SEALING_KEY'],
    replicas: { min: 2, max: 6 },
    resources: { cpuMillis: 250, memoryMi: 384 },
    connectsTo: ['postgresql', 'rabbitmq', { app: 'simulated-acquirer' }],
  },
  {
    name: 'hosted-gateway',
    part: 'platform',
    schema: 'hosted_gateway',
    variables: {
      ...production,
      SVC_GATEWAY_URL: `https://${HOSTNAMES.gateway}`,
      SVC_CODES_URL: `https://${HOSTNAMES.gateway}`,
    },
    secrets: ['SVC_DATABASE_URL', 'SVC_AMQP_URL', 'SVC_ADMIN_KEY'],
    replicas: { min: 2, max: 10 },
    resources: { cpuMillis: 250, memoryMi: 384 },
    connectsTo: ['postgresql', 'rabbitmq'],
  },
  {
    name: 'webhook-dispatcher',
    part: 'platform',
    schema: 'webhook_dispatcher',
    variables: production,
    secrets: ['SVC_DATABASE_URL', 'SVC_AMQP_URL', 'SVC_ADMIN_KEY', 'SVC_SEALING_KEY'],
    // It waits for merchants' servers, so CPU does not show its load.
    replicas: 2,
    resources: { cpuMillis: 100, memoryMi: 256 },
    connectsTo: ['postgresql', 'rabbitmq', 'internet'],
  },
  {
    name: 'code-decoder',
    part: 'platform',
    schema: 'code_decoder',
    // A phone opens codes on the payer's page, so they begin with its address.
    variables: { ...production, SVC_CODES_URL: `https://${HOSTNAMES.gateway}` },
    secrets: ['SVC_DATABASE_URL', 'SVC_AMQP_URL', 'SVC_ADMIN_KEY', 'SVC_CODE_PROVIDERS'],
    replicas: { min: 2, max: 10 },
    resources: { cpuMillis: 100, memoryMi: 256 },
    connectsTo: ['postgresql', 'rabbitmq', 'internet'],
  },
  {
    name: 'payment-history',
    part: 'platform',
    schema: 'payment_history',
    variables: production,
    secrets: ['SVC_DATABASE_URL', 'SVC_AMQP_URL', 'SVC_ADMIN_KEY'],
    replicas: { min: 2, max: 10 },
    resources: { cpuMillis: 100, memoryMi: 256 },
    connectsTo: ['postgresql', 'rabbitmq'],
  },
  {
    name: 'merchant-retrieval',
    part: 'platform',
    schema: 'merchant_retrieval',
    variables: production,
    secrets: ['SVC_DATABASE_URL', 'SVC_AMQP_URL', 'SVC_ADMIN_KEY'],
    replicas: { min: 2, max: 10 },
    resources: { cpuMillis: 100, memoryMi: 256 },
    connectsTo: ['postgresql', 'rabbitmq'],
  },
  {
    name: 'demo-shop',
    part: 'demo',
    schema: 'demo_shop',
    variables: {
      ...production,
      // The public address: forms on its pages may only lead there.
      SVC_GATEWAY_URL: `https://${HOSTNAMES.gateway}`,
      SVC_SHOP_URL: `https://${HOSTNAMES.shop}`,
      SVC_SHOP_CREDENTIALS_FILE: '/demo/demo.json',
    },
    // It is a merchant, without access to the broker.
    secrets: ['SVC_DATABASE_URL'],
    replicas: 1,
    resources: { cpuMillis: 50, memoryMi: 192 },
    connectsTo: ['postgresql', 'internet'],
    files: { secret: 'demo-shop-credentials', folder: '/demo' },
  },
  {
    name: 'simulated-acquirer',
    part: 'demo',
    variables: { SVC_ENVIRONMENT: 'development', SVC_ACQUIRER_STORE: '/data/charges.jsonl' },
    secrets: [],
    // One replica, without persistence: its charges are lost with its pod.
    replicas: 1,
    resources: { cpuMillis: 50, memoryMi: 128 },
    connectsTo: [],
    scratch: '/data',
  },
];

/** Labels of every object: its name and its part. */
export function labelsOf(name: string, component: string): Record<string, string> {
  return {
    'app.kubernetes.io/name': name,
    'app.kubernetes.io/part-of': 'svc-payments',
    'app.kubernetes.io/component': component,
  };
}
