/**
 * The deployed apps with their variables, secrets, resources and connections. `node deploy/generate.ts` generates the
 * Kubernetes manifests from them. docker/compose.yaml is written by hand. deploy/checks compares both with the code.
 *
 * apps/all-in-one is not deployed: it is for development, where all services run in one process.
 */

export interface DeployedApp {
  /** Name of the app's folder, and of its image, Deployment, Service, ServiceAccount and Secret. */
  readonly name: string;
  /**
   * `platform`: in deploy/base. `demo`: in deploy/demo, the shop and the simulated acquirer for a platform without real
   * money.
   */
  readonly component: 'platform' | 'demo';
  /**
   * PostgreSQL schema. The app's role is `svc_<schema>`, the schema's owner `svc_<schema>_owner`. Undefined: the app
   * has no tables.
   */
  readonly schema?: string;
  /** Variables whose values are not secret. An overlay replaces the values that contain a host. */
  readonly variables: Readonly<Record<string, string>>;
  /** Variables whose values come from the app's Secret. The keys of the Secret are the names of the variables. */
  readonly secrets: readonly string[];
  /** Number of replicas, or the range of the autoscaler. */
  readonly replicas: number | { readonly min: number; readonly max: number };
  readonly resources: Resources;
  /** Allowed outgoing connections. DNS is always allowed; all others are refused. */
  readonly connectsTo: readonly Destination[];
  /** Folder in which the app writes files. They are lost with the pod. */
  readonly scratchFolder?: string;
  /** A Secret whose keys are mounted as files in a folder. */
  readonly mountedSecret?: { readonly secret: string; readonly folder: string };
}

export interface Resources {
  /** Requested CPU in millicores. There is no limit, because throttling would only delay a payer's request. */
  readonly cpuMillis: number;
  /** Requested memory in MiB. The limit is the same. */
  readonly memoryMi: number;
}

/**
 * `internet`: ports 443 and 8443 of public addresses. `postgresql`, `rabbitmq`: pods in a labelled namespace. `app`:
 * pods of an app.
 */
export type Destination = 'postgresql' | 'rabbitmq' | 'internet' | { readonly app: string };

/** Port on which every app listens in its container. docker/Dockerfile sets the same port. */
export const PORT = 8080;

/** Time after SIGTERM for running requests and messages to finish. */
export const SHUTDOWN_SECONDS = 35;
/** Time before SIGTERM in which a Gateway still sends requests to a stopping pod. */
export const PRE_STOP_SECONDS = 5;

/** Example hosts of the platform. An overlay replaces them in the variables and in the routes. */
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
    component: 'platform',
    schema: 'identity',
    variables: production,
    secrets: ['SVC_DATABASE_URL', 'SVC_AMQP_URL', 'SVC_ADMIN_KEY', 'SVC_SEALING_KEY'],
    replicas: 2,
    resources: { cpuMillis: 100, memoryMi: 256 },
    connectsTo: ['postgresql', 'rabbitmq'],
  },
  {
    name: 'payment-processor',
    component: 'platform',
    schema: 'payment_processor',
    // The simulated acquirer is the only acquirer so far, so this deployment moves no real money.
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
    component: 'platform',
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
    component: 'platform',
    schema: 'webhook_dispatcher',
    variables: production,
    secrets: ['SVC_DATABASE_URL', 'SVC_AMQP_URL', 'SVC_ADMIN_KEY', 'SVC_SEALING_KEY'],
    // A fixed number: the service mostly waits for merchants' servers, so its CPU does not show its load to an
    // autoscaler.
    replicas: 2,
    resources: { cpuMillis: 100, memoryMi: 256 },
    connectsTo: ['postgresql', 'rabbitmq', 'internet'],
  },
  {
    name: 'code-decoder',
    component: 'platform',
    schema: 'code_decoder',
    // A phone opens the payment page with a code, so codes begin with the address of the page.
    variables: { ...production, SVC_CODES_URL: `https://${HOSTNAMES.gateway}` },
    secrets: ['SVC_DATABASE_URL', 'SVC_AMQP_URL', 'SVC_ADMIN_KEY', 'SVC_CODE_PROVIDERS'],
    replicas: { min: 2, max: 10 },
    resources: { cpuMillis: 100, memoryMi: 256 },
    connectsTo: ['postgresql', 'rabbitmq', 'internet'],
  },
  {
    name: 'payment-history',
    component: 'platform',
    schema: 'payment_history',
    variables: production,
    secrets: ['SVC_DATABASE_URL', 'SVC_AMQP_URL', 'SVC_ADMIN_KEY'],
    replicas: { min: 2, max: 10 },
    resources: { cpuMillis: 100, memoryMi: 256 },
    connectsTo: ['postgresql', 'rabbitmq'],
  },
  {
    name: 'merchant-retrieval',
    component: 'platform',
    schema: 'merchant_retrieval',
    variables: production,
    secrets: ['SVC_DATABASE_URL', 'SVC_AMQP_URL', 'SVC_ADMIN_KEY'],
    replicas: { min: 2, max: 10 },
    resources: { cpuMillis: 100, memoryMi: 256 },
    connectsTo: ['postgresql', 'rabbitmq'],
  },
  {
    name: 'demo-shop',
    component: 'demo',
    schema: 'demo_shop',
    variables: {
      ...production,
      // The public address, because the content security policy of the shop allows redirects only to this address.
      SVC_GATEWAY_URL: `https://${HOSTNAMES.gateway}`,
      SVC_SHOP_URL: `https://${HOSTNAMES.shop}`,
      SVC_SHOP_CREDENTIALS_FILE: '/demo/demo.json',
    },
    // The shop is a merchant, so it has no access to the broker.
    secrets: ['SVC_DATABASE_URL'],
    replicas: 1,
    resources: { cpuMillis: 50, memoryMi: 192 },
    connectsTo: ['postgresql', 'internet'],
    mountedSecret: { secret: 'demo-shop-credentials', folder: '/demo' },
  },
  {
    name: 'simulated-acquirer',
    component: 'demo',
    variables: { SVC_ENVIRONMENT: 'development', SVC_ACQUIRER_STORE: '/data/charges.jsonl' },
    secrets: [],
    // Only one replica, because its charges are stored in a file of the pod.
    replicas: 1,
    resources: { cpuMillis: 50, memoryMi: 128 },
    connectsTo: [],
    scratchFolder: '/data',
  },
];

/** Labels of an object: its name, and its component such as `platform` or `demo`. */
export function createLabels(name: string, component: string): Record<string, string> {
  return {
    'app.kubernetes.io/name': name,
    'app.kubernetes.io/part-of': 'svc-payments',
    'app.kubernetes.io/component': component,
  };
}
