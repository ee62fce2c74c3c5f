import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SvcError } from './svc-error.ts';

/** The apps that own a schema and a database role, in the order of their ports. */
export const SERVICES = [
  'identity',
  'payment-processor',
  'hosted-gateway',
  'webhook-dispatcher',
  'demo-shop',
  'code-decoder',
  'payment-history',
  'merchant-retrieval',
] as const;
export type Service = (typeof SERVICES)[number];

export interface Ports {
  readonly api: number;
  readonly gateway: number;
  readonly shop: number;
  readonly admin: number;
  readonly acquirer: number;
  /** The transformer of the demo's till. */
  readonly transformer: number;
  readonly postgres: number;
  /** AMQP, where RabbitMQ is our own. */
  readonly rabbitMq: number;
  /** For an app in a process of its own: behind the front, or alone (`./svc nx serve <app>`) beside an embedded one. */
  readonly alone: Readonly<Record<Service, number>>;
}

export interface Settings {
  /** The repository. */
  readonly root: string;
  /** Data, logs, secrets and process files: two copies with two folders and two port bases run side by side. */
  readonly dataDir: string;
  readonly ports: Ports;
  /** This machine's address on a network, where the public hosts are served over HTTPS as well (`./svc up --lan`). */
  readonly lan?: string;
  /** A RabbitMQ that the caller runs (SVC_AMQP_URL, or AMQP_URL as many know it); a secret. */
  readonly externalAmqpUrl: string | undefined;
  /** Its management API with an administrator's login (SVC_RABBITMQ_MANAGEMENT_URL); a secret. */
  readonly externalManagementUrl: string | undefined;
  /** What the caller set for the apps themselves (FORWARDED_SETTINGS). */
  readonly forwarded: Readonly<Record<string, string>>;
}

/** Settings of the caller that reach an app, by how their names begin; SVC_LOG_LEVEL reaches all. */
export const FORWARDED_SETTINGS: Readonly<Partial<Record<Service | 'simulated-acquirer', readonly string[]>>> = {
  'payment-processor': [
    'SVC_ACQUIRER_TIMEOUT_MS',
    'SVC_ACQUIRER_CONCURRENCY',
    'SVC_ACQUIRER_LIVE',
    'SVC_RECONCILIATION_',
  ],
  'simulated-acquirer': ['SVC_ACQUIRER_LATENCY_MS', 'SVC_ACQUIRER_LIVE'],
  'webhook-dispatcher': ['SVC_DELIVERY'],
  'hosted-gateway': ['SVC_KEYLESS_', 'SVC_PAYMENTS_', 'SVC_ACQUIRER_LIVE'],
  'code-decoder': ['SVC_INVOICE_', 'SVC_CODE_', 'SVC_SIMULATED_PROVIDER'],
  'merchant-retrieval': ['SVC_RETRIEVAL_', 'SVC_STREAM_'],
};

const HOST = '127.0.0.1';
const DEFAULT_PORT_BASE = 7300;
const HIGHEST_OFFSET = 33;
const LOWEST_PORT = 1024;

/** Reads the settings of ./svc from the environment; makes nothing. */
export function readSettings(root: string, env: NodeJS.ProcessEnv, cwd: string): Settings {
  const dataDir =
    env['SVC_DATA_DIR'] === undefined || env['SVC_DATA_DIR'] === ''
      ? join(root, '.data')
      : resolve(cwd, env['SVC_DATA_DIR']);
  if (/[\n\r\0']/.test(dataDir)) throw new SvcError(`SVC_DATA_DIR must not contain quotes or line breaks: ${dataDir}`);
  const prefixes = ['SVC_LOG_LEVEL', ...Object.values(FORWARDED_SETTINGS).flat()];
  const forwarded = Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && prefixes.some((prefix) => entry[0].startsWith(prefix)),
    ),
  );
  const externalAmqpUrl = [env['SVC_AMQP_URL'], env['AMQP_URL']].find((url) => url !== undefined && url !== '');
  const externalManagementUrl = env['SVC_RABBITMQ_MANAGEMENT_URL'] || undefined;
  return { root, dataDir, ports: planPorts(env['SVC_PORT_BASE']), externalAmqpUrl, externalManagementUrl, forwarded };
}

/** The same settings with the data folder's real path, which is what a process's command line is compared with. */
export function resolveDataDir(settings: Settings): Settings {
  return existsSync(settings.dataDir) ? { ...settings, dataDir: realpathSync(settings.dataDir) } : settings;
}

/** Makes the data folder where it is missing. */
export function makeDataDir(settings: Settings): Settings {
  try {
    mkdirSync(settings.dataDir, { recursive: true });
    return resolveDataDir(settings);
  } catch (error) {
    throw new SvcError(`the data folder cannot be made: ${(error as Error).message}`, {
      hint: 'choose another with SVC_DATA_DIR',
      cause: error,
    });
  }
}

/** Every port of one copy, from its first one. */
export function planPorts(base: string | undefined): Ports {
  const first = base === undefined || base === '' ? DEFAULT_PORT_BASE : Number(base);
  const highest = 65_535 - HIGHEST_OFFSET;
  if (!Number.isInteger(first) || first < LOWEST_PORT || first > highest) {
    throw new SvcError(`SVC_PORT_BASE must be a whole number from ${LOWEST_PORT} to ${highest}, not "${base}"`);
  }
  const alone = Object.fromEntries(SERVICES.map((service, index) => [service, first + 10 + index]));
  return {
    api: first,
    gateway: first + 1,
    shop: first + 2,
    admin: first + 3,
    acquirer: first + 4,
    transformer: first + 5,
    postgres: first + 32,
    rabbitMq: first + HIGHEST_OFFSET,
    alone: alone as Record<Service, number>,
  };
}

/** The address of one listener of this machine. */
export function urlOf(port: number): string {
  return `http://${HOST}:${port}`;
}

/** Under which payers and partners reach a public host: on the network, where it is served there. */
export function publicUrlOf(lan: string | undefined, port: number): string {
  return lan === undefined ? urlOf(port) : `https://${lan}:${port}`;
}

/** Where everything below the data folder is; one place, because up, down, status, logs and serve share it. */
export function pathsOf(settings: Settings) {
  const { dataDir } = settings;
  return {
    log: join(dataDir, 'log'),
    servicesLog: join(dataDir, 'log', 'services.log'),
    postgresLog: join(dataDir, 'log', 'postgres.log'),
    rabbitMqLog: join(dataDir, 'log', 'rabbitmq.log'),
    transformer: {
      config: join(dataDir, 'transformer', 'transformer.json'),
      log: join(dataDir, 'log', 'pos-transformer.log'),
      process: join(dataDir, 'run', 'transformer.json'),
    },
    aptLog: join(dataDir, 'log', 'apt.log'),
    postgres: join(dataDir, 'postgres'),
    rabbitMq: join(dataDir, 'rabbitmq'),
    run: join(dataDir, 'run'),
    services: join(dataDir, 'run', 'services.json'),
    processes: join(dataDir, 'run', 'processes.json'),
    restart: join(dataDir, 'run', 'restart.json'),
    restartOutcome: join(dataDir, 'run', 'restart-outcome.json'),
    lock: join(dataDir, 'run', 'svc.lock'),
    env: join(dataDir, 'env'),
    ownerEnv: join(dataDir, 'owner-env'),
    tls: { certificate: join(dataDir, 'tls', 'certificate.pem'), key: join(dataDir, 'tls', 'key.pem') },
    secrets: join(dataDir, 'secrets.json'),
    demo: join(dataDir, 'demo.json'),
    acquirerStore: join(dataDir, 'acquirer', 'charges.jsonl'),
  };
}
