import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SvcError } from '../base/svc-error.ts';

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
  'console',
] as const;
export type Service = (typeof SERVICES)[number];

/** The acquirers of the demo merchants, for `./svc up --acquirer`; the first is the default. */
export const DEMO_ACQUIRERS = ['simulated', 'adyen-emulator'] as const;
export type DemoAcquirer = (typeof DEMO_ACQUIRERS)[number];

export interface Ports {
  readonly api: number;
  readonly gateway: number;
  readonly shop: number;
  readonly admin: number;
  readonly acquirer: number;
  /** The transformer of the demo's till. */
  readonly transformer: number;
  /** The emulator of Adyen: its API for the platform, and its pages. */
  readonly adyenEmulator: number;
  /** The pages of the merchants' people. */
  readonly console: number;
  /** The first of the ports on which programs serve their metrics (`./svc up --observe`). */
  readonly firstMetrics: number;
  /** The dashboards of `./svc up --observe`. */
  readonly dashboards: number;
  readonly prometheus: number;
  readonly postgres: number;
  /** PostgreSQL servers of single services (`ownDatabases`). */
  readonly ownDatabases: Readonly<Record<Service, number>>;
  /** AMQP of the RabbitMQ that ./svc starts. */
  readonly rabbitMq: number;
  /** Ports of services in their own processes, behind the reverse proxy. */
  readonly services: Readonly<Record<Service, number>>;
}

export interface Settings {
  /** The repository. */
  readonly root: string;
  /** Data, logs, secrets and process files. Copies with different folders and port bases run side by side. */
  readonly dataDir: string;
  readonly ports: Ports;
  /** This machine's network address, which also serves the public hosts over HTTPS (`./svc up --lan`). */
  readonly lan?: string;
  /** Whether programs serve their metrics to Prometheus (`./svc up --observe`). */
  readonly observe?: boolean;
  /** The acquirer of the demo merchants. Of other merchants it is the simulated bank, unless they have an account. */
  readonly acquirer: DemoAcquirer;
  /** Folder of the PostgreSQL programs (SVC_POSTGRES_BIN). Default: those of the npm package. */
  readonly postgresBin?: string;
  /** Whether the first start trades a week for the demo's roastery (SVC_DEMO_WEEK=off: no). */
  readonly tradesWeek: boolean;
  /**
   * Services with a PostgreSQL server of their own (SVC_OWN_DATABASES, names separated by commas; docs/scaling.md). Existing data
   * decides instead, so later commands need no variable.
   */
  readonly ownDatabases: readonly Service[];
  /** The URL of the caller's RabbitMQ (SVC_AMQP_URL or AMQP_URL). A secret, because it contains a password. */
  readonly externalAmqpUrl: string | undefined;
  /** The management API of that RabbitMQ, with an administrator's login (SVC_RABBITMQ_MANAGEMENT_URL). A secret. */
  readonly externalManagementUrl: string | undefined;
  /** The caller's environment variables for the apps (FORWARDED_SETTINGS). */
  readonly forwarded: Readonly<Record<string, string>>;
}

/** Prefixes of the caller's environment variables that each app receives; all apps receive SVC_LOG_LEVEL. */
export const FORWARDED_SETTINGS: Readonly<Partial<Record<Service | 'simulated-acquirer', readonly string[]>>> = {
  'payment-processor': [
    'SVC_ACQUIRER_TIMEOUT_MS',
    'SVC_ACQUIRER_CONCURRENCY',
    'SVC_ACQUIRER_LIVE',
    'SVC_CARD_VAULT',
    'SVC_RECONCILIATION_',
    'SVC_VELOCITY_',
    // An account in the test system of Adyen. Live settings are for deployments (docs/go-live.md).
    'SVC_ADYEN_TEST_',
    'SVC_CARD_VAULT',
  ],
  'simulated-acquirer': ['SVC_ACQUIRER_LATENCY_MS', 'SVC_ACQUIRER_LIVE'],
  identity: ['SVC_SMTP_', 'SVC_MAIL_'],
  'webhook-dispatcher': ['SVC_DELIVERY'],
  'hosted-gateway': [
    'SVC_KEYLESS_',
    'SVC_PAYMENTS_',
    'SVC_CHALLENGE_NUMBERS',
    'SVC_ACQUIRER_LIVE',
    'SVC_SMTP_',
    'SVC_MAIL_',
  ],
  'code-decoder': ['SVC_INVOICE_', 'SVC_CODE_'],
  console: ['SVC_SMTP_', 'SVC_MAIL_'],
  'merchant-retrieval': ['SVC_RETRIEVAL_', 'SVC_STREAM_'],
};

const HOST = '127.0.0.1';
const DEFAULT_PORT_BASE = 7300;
const RABBITMQ_OFFSET = 33;
const HIGHEST_OFFSET = RABBITMQ_OFFSET + SERVICES.length;
const LOWEST_PORT = 1024;

export function readSettings(root: string, env: NodeJS.ProcessEnv, cwd: string): Settings {
  const dataDir = resolve(cwd, env['SVC_DATA_DIR'] || join(root, '.data'));
  if (/[\n\r\0']/.test(dataDir)) throw new SvcError(`SVC_DATA_DIR must not contain quotes or line breaks: ${dataDir}`);
  const forwarded = selectVariables(env, ['SVC_LOG_LEVEL', ...Object.values(FORWARDED_SETTINGS).flat()]);
  const externalAmqpUrl = env['SVC_AMQP_URL'] || env['AMQP_URL'] || undefined;
  const externalManagementUrl = env['SVC_RABBITMQ_MANAGEMENT_URL'] || undefined;
  const ports = planPorts(env['SVC_PORT_BASE']);
  const week = env['SVC_DEMO_WEEK'] || 'on';
  if (week !== 'on' && week !== 'off') throw new SvcError(`SVC_DEMO_WEEK must be on or off, not "${week}"`);
  const tradesWeek = week === 'on';
  return {
    root,
    dataDir,
    ports,
    acquirer: DEMO_ACQUIRERS[0],
    tradesWeek,
    ownDatabases: readOwnDatabases(env['SVC_OWN_DATABASES'], dataDir),
    ...(env['SVC_POSTGRES_BIN'] ? { postgresBin: env['SVC_POSTGRES_BIN'] } : {}),
    externalAmqpUrl,
    externalManagementUrl,
    forwarded,
  };
}

function readOwnDatabases(value: string | undefined, dataDir: string): readonly Service[] {
  const names = (value ?? '').split(',').filter((name) => name !== '');
  const unknownName = names.find((name) => !SERVICES.some((service) => service === name));
  if (unknownName !== undefined)
    throw new SvcError(`SVC_OWN_DATABASES: there is no service "${unknownName}"`, {
      hint: `there are ${SERVICES.join(', ')}`,
    });
  const wanted = SERVICES.filter((service) => names.includes(service));
  if (!existsSync(join(dataDir, 'postgres'))) return wanted;
  const existing = SERVICES.filter((service) => existsSync(join(dataDir, 'databases', service)));
  const missing = wanted.find((service) => !existing.includes(service));
  if (missing === undefined) return existing;
  throw new SvcError(`${missing} already has its data in the common database`, {
    hint: 'SVC_OWN_DATABASES has an effect on a new data folder only: choose one with SVC_DATA_DIR',
  });
}

/** The port of the PostgreSQL server that has the schema of the service. */
export function databasePortOf({ ports, ownDatabases }: Settings, service: Service): number {
  return ownDatabases.includes(service) ? ports.ownDatabases[service] : ports.postgres;
}

/** The variables whose names begin with one of these prefixes. */
export function selectVariables(env: NodeJS.ProcessEnv, prefixes: readonly string[]): Record<string, string> {
  const selected = Object.entries(env).filter(([name]) => prefixes.some((prefix) => name.startsWith(prefix)));
  return Object.fromEntries(selected) as Record<string, string>;
}

/** Replaces the data folder by its real path, because command lines of running processes contain the real path. */
export function resolveDataDir(settings: Settings): Settings {
  return existsSync(settings.dataDir) ? { ...settings, dataDir: realpathSync(settings.dataDir) } : settings;
}

export function createDataDir(settings: Settings): Settings {
  try {
    mkdirSync(settings.dataDir, { recursive: true });
    return resolveDataDir(settings);
  } catch (error) {
    throw new SvcError(`the data folder cannot be created: ${(error as Error).message}`, {
      hint: 'choose another with SVC_DATA_DIR',
      cause: error,
    });
  }
}

export function planPorts(base: string | undefined): Ports {
  const first = Number(base || DEFAULT_PORT_BASE);
  const highest = 65_535 - HIGHEST_OFFSET;
  if (!Number.isInteger(first) || first < LOWEST_PORT || first > highest) {
    throw new SvcError(`SVC_PORT_BASE must be a whole number from ${LOWEST_PORT} to ${highest}, not "${base}"`);
  }
  const portsFrom = (offset: number) =>
    Object.fromEntries(SERVICES.map((service, index) => [service, first + offset + index])) as Record<Service, number>;
  return {
    api: first,
    gateway: first + 1,
    shop: first + 2,
    admin: first + 3,
    acquirer: first + 4,
    transformer: first + 5,
    adyenEmulator: first + 6,
    console: first + 7,
    dashboards: first + 8,
    firstMetrics: first + 20,
    prometheus: first + 31,
    postgres: first + 32,
    rabbitMq: first + RABBITMQ_OFFSET,
    services: portsFrom(10),
    ownDatabases: portsFrom(RABBITMQ_OFFSET + 1),
  };
}

/** The port on which a process of this app listens; of the reverse proxy, the port of the API. */
export function portOf(ports: Ports, app: Service | 'front' | 'simulated-acquirer'): number {
  if (app === 'front') return ports.api;
  return app === 'simulated-acquirer' ? ports.acquirer : ports.services[app];
}

export function urlOf(port: number): string {
  return `http://${HOST}:${port}`;
}

/** The URL of a public host for payers and partners: its network address with `--lan`, else the loopback address. */
export function publicUrlOf(lan: string | undefined, port: number): string {
  return lan === undefined ? urlOf(port) : `https://${lan}:${port}`;
}

/**
 * The URL of the console. Browsers create passkeys for a host name only, so it is not a loopback address. With `--lan` the
 * console has a network address, and no passkeys.
 */
export function consoleUrlOf(lan: string | undefined, port: number): string {
  return lan === undefined ? `http://localhost:${port}` : publicUrlOf(lan, port);
}

/** All paths below the data folder. */
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
    prometheus: {
      config: join(dataDir, 'prometheus', 'prometheus.json'),
      data: join(dataDir, 'prometheus', 'data'),
      log: join(dataDir, 'log', 'prometheus.log'),
      process: join(dataDir, 'run', 'prometheus.json'),
    },
    dashboards: {
      log: join(dataDir, 'log', 'dashboards.log'),
      process: join(dataDir, 'run', 'dashboards.json'),
    },
    aptLog: join(dataDir, 'log', 'apt.log'),
    postgres: join(dataDir, 'postgres'),
    /** Has a folder for each service with a PostgreSQL server of its own. */
    databases: join(dataDir, 'databases'),
    rabbitMq: join(dataDir, 'rabbitmq'),
    run: join(dataDir, 'run'),
    services: join(dataDir, 'run', 'services.json'),
    processes: join(dataDir, 'run', 'processes.json'),
    /** Has a folder for each app that `./svc nx serve` has built. */
    served: join(dataDir, 'run', 'served'),
    lock: join(dataDir, 'run', 'svc.lock'),
    env: join(dataDir, 'env'),
    ownerEnv: join(dataDir, 'owner-env'),
    tls: { certificate: join(dataDir, 'tls', 'certificate.pem'), key: join(dataDir, 'tls', 'key.pem') },
    secrets: join(dataDir, 'secrets.json'),
    /** E-mails, unless an SMTP server is configured. */
    mail: join(dataDir, 'mail'),
    demo: join(dataDir, 'demo.json'),
    /** Exists while the demo's week is traded (SVC_DEMO_CLOCK_FILE). */
    demoClock: join(dataDir, 'run', 'demo-clock'),
    acquirerStore: join(dataDir, 'acquirer', 'charges.jsonl'),
    adyenEmulatorStore: join(dataDir, 'acquirer', 'adyen.jsonl'),
  };
}
