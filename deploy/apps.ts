/**
 * The deployed apps with their variables, secrets, resources and connections. `node deploy/generate.ts` generates the
 * Kubernetes manifests from them. docker/compose.yaml is written by hand. deploy/checks compares both with the code.
 *
 * apps/all-in-one is not deployed: it is for development, where all services run in one process.
 */
import { prometheusName } from './observability/metric-list.ts';

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
  /**
   * The load by which KEDA scales the app (components/keda). The CPU is the wrong signal for an app that mostly waits for
   * others.
   */
  readonly scaling?: LoadScaling;
  readonly resources: Resources;
  /** Allowed outgoing connections. DNS is always allowed; all others are refused. */
  readonly connectsTo: readonly Destination[];
  /** Folder in which the app writes files. They are lost with the pod. */
  readonly scratchFolder?: string;
  /** A Secret whose keys are mounted as files in a folder. */
  readonly mountedSecret?: { readonly secret: string; readonly folder: string };
  /** The part of an app of the platform that the component demo adds. */
  readonly inDemo?: Pick<DeployedApp, 'variables' | 'connectsTo'>;
}

export interface LoadScaling {
  /** Query of Prometheus, with the names that it gives to the metrics of OpenTelemetry. */
  readonly query: string;
  /** KEDA runs as many replicas as the result of the query contains this value. */
  readonly perReplica: number;
  readonly maxReplicas: number;
}

export interface Resources {
  /** Requested CPU in millicores. There is no limit, because throttling would only delay a payer's request. */
  readonly cpuMillis: number;
  /** Requested memory in MiB. The limit is the same. README.md compares it with the measured peak. */
  readonly memoryMi: number;
}

/**
 * Memory of a Node.js process besides the old generation of its heap, in MiB: the program, stacks, buffers, and the young
 * generation. Measured by `./svc bench memory`.
 */
const MEMORY_BESIDES_OLD_SPACE_MI = 160;

/**
 * Limit of the old generation of V8's heap, in MiB. Without it, V8 chooses a limit near or above the memory limit of the
 * container, which is then killed instead of collecting garbage.
 */
export function maxOldSpaceMi({ memoryMi }: Resources): number {
  return memoryMi - MEMORY_BESIDES_OLD_SPACE_MI;
}

/** Connections of a replica: its pool (SVC_DATABASE_POOL_MAX), one for notifications (ADR 67), one for readiness checks. */
export const CONNECTIONS_PER_REPLICA = 10 + 1 + 1;
/** Replicas that a rollout adds before it removes old ones. */
export const MAX_SURGE = 1;

/** Largest number of connections of an app to PostgreSQL, during a rollout at full load. */
export function maxConnections({ replicas, scaling, schema }: DeployedApp): number {
  if (schema === undefined) return 0;
  const maxReplicas = Math.max(typeof replicas === 'number' ? replicas : replicas.max, scaling?.maxReplicas ?? 0);
  return (maxReplicas + MAX_SURGE) * CONNECTIONS_PER_REPLICA;
}

/**
 * `internet`: ports 443 and 8443 of public addresses. `postgresql`, `rabbitmq`: pods in a labelled namespace. `app`:
 * pods of an app.
 */
export type Destination = 'postgresql' | 'rabbitmq' | 'internet' | { readonly app: string };

/** Port on which every app listens in its container. docker/Dockerfile sets the same port. */
export const PORT = 8080;

/** Namespaces of the overlays. */
export const NAMESPACES = { platform: 'svc-payments', gateway: 'svc-gateway' } as const;

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
  console: 'console.svc.example',
} as const;

const production = { SVC_ENVIRONMENT: 'production', SVC_ERROR_PAGES_URL: `https://${HOSTNAMES.api}/errors` };

export const DEPLOYED_APPS: readonly DeployedApp[] = [
  {
    name: 'identity',
    component: 'platform',
    schema: 'identity',
    // Passkeys are created for the host name of the console.
    variables: { ...production, SVC_CONSOLE_URL: `https://${HOSTNAMES.console}` },
    secrets: ['SVC_DATABASE_URL', 'SVC_AMQP_URL', 'SVC_ADMIN_KEY', 'SVC_SEALING_KEY'],
    replicas: 2,
    resources: { cpuMillis: 100, memoryMi: 320 },
    connectsTo: ['postgresql', 'rabbitmq'],
  },
  {
    name: 'payment-processor',
    component: 'platform',
    schema: 'payment_processor',
    // An acquirer comes from a component: adyen, or demo.
    variables: {
      ...production,
      SVC_API_URL: `https://${HOSTNAMES.api}`,
      SVC_CODES_URL: `https://${HOSTNAMES.gateway}`,
    },
    secrets: ['SVC_DATABASE_URL', 'SVC_AMQP_URL', 'SVC_ADMIN_KEY', 'SVC_SEALING_KEY', 'SVC_CARD_FINGERPRINT_KEYS'],
    replicas: { min: 2, max: 6 },
    // Each replica charges up to SVC_ACQUIRER_CONCURRENCY (100) cards at a time. Further charges wait.
    scaling: { query: `sum(${prometheusName('svc.acquirer.permits.waiting')})`, perReplica: 20, maxReplicas: 6 },
    resources: { cpuMillis: 250, memoryMi: 448 },
    connectsTo: ['postgresql', 'rabbitmq'],
    inDemo: {
      variables: { SVC_ACQUIRER_URL: `http://simulated-acquirer:${PORT}` },
      connectsTo: [{ app: 'simulated-acquirer' }],
    },
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
    secrets: ['SVC_DATABASE_URL', 'SVC_AMQP_URL', 'SVC_ADMIN_KEY', 'SVC_CHALLENGE_KEYS'],
    replicas: { min: 2, max: 10 },
    resources: { cpuMillis: 250, memoryMi: 512 },
    connectsTo: ['postgresql', 'rabbitmq'],
  },
  {
    name: 'webhook-dispatcher',
    component: 'platform',
    schema: 'webhook_dispatcher',
    variables: production,
    secrets: ['SVC_DATABASE_URL', 'SVC_AMQP_URL', 'SVC_ADMIN_KEY', 'SVC_SEALING_KEY'],
    // A fixed number without KEDA: the service mostly waits for merchants' servers, so its CPU does not show its load.
    replicas: 2,
    // Seconds since the oldest due webhook became due. It is read from the database, so each replica reports the same.
    scaling: { query: `max(${prometheusName('svc.webhook.due.age')})`, perReplica: 10, maxReplicas: 6 },
    resources: { cpuMillis: 100, memoryMi: 448 },
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
    resources: { cpuMillis: 100, memoryMi: 320 },
    connectsTo: ['postgresql', 'rabbitmq', 'internet'],
  },
  {
    name: 'payment-history',
    component: 'platform',
    schema: 'payment_history',
    variables: production,
    secrets: ['SVC_DATABASE_URL', 'SVC_AMQP_URL', 'SVC_ADMIN_KEY'],
    replicas: { min: 2, max: 10 },
    resources: { cpuMillis: 100, memoryMi: 320 },
    connectsTo: ['postgresql', 'rabbitmq'],
  },
  {
    name: 'merchant-retrieval',
    component: 'platform',
    schema: 'merchant_retrieval',
    variables: production,
    secrets: ['SVC_DATABASE_URL', 'SVC_AMQP_URL', 'SVC_ADMIN_KEY'],
    replicas: { min: 2, max: 10 },
    resources: { cpuMillis: 100, memoryMi: 320 },
    connectsTo: ['postgresql', 'rabbitmq'],
  },
  {
    name: 'console',
    component: 'platform',
    schema: 'console',
    variables: {
      ...production,
      SVC_CONSOLE_URL: `https://${HOSTNAMES.console}`,
      SVC_CODES_URL: `https://${HOSTNAMES.gateway}`,
    },
    secrets: ['SVC_DATABASE_URL', 'SVC_AMQP_URL', 'SVC_ADMIN_KEY'],
    replicas: { min: 2, max: 6 },
    resources: { cpuMillis: 100, memoryMi: 320 },
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
    resources: { cpuMillis: 50, memoryMi: 256 },
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
    resources: { cpuMillis: 50, memoryMi: 256 },
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
