/** Runs the platform with `./svc up -d …`, with data and ports of the benchmark. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import type { Demo } from '../../tools/svc/demo/seed.ts';
import type { DemoAcquirer } from '../../tools/svc/settings/settings.ts';
import type { ProcessGroups } from '../measuring/cpu.ts';
import type { Merchant, RunningSystem, System } from './system.ts';

export interface RunningPlatform extends RunningSystem {
  readonly demo: Demo;
  /** The emulator of Adyen, which runs with the option `acquirer`. */
  readonly adyenEmulatorUrl: string;
  /** Folder of the platform's data, with demo.json and the file of the simulated bank. */
  readonly dataDir: string;
  /** Starts the stopped platform again with the same data. */
  restart(): Promise<RunningPlatform>;
  /** Runs `./svc` with the data and the ports of this platform. */
  svc(...args: string[]): Promise<void>;
}

export const ROOT = join(import.meta.dirname, '..', '..');
const PORTS_OF_PLATFORM = 50;
/** Each platform has its own ports, so that several can run side by side. SVC_PORT_BASE chooses other ports. */
let nextPortBase = Number(process.env['SVC_PORT_BASE'] ?? 18_700);

export type Deployment = 'embedded' | 'rabbitmq' | 'distributed';

export const DEPLOYMENT_NAMES: Readonly<Record<Deployment, string>> = {
  embedded: 'embedded',
  rabbitmq: 'RabbitMQ, all in one',
  distributed: 'RabbitMQ, a process each',
};

interface PlatformOptions {
  /** The name in the report. */
  readonly name?: string;
  /** Folder of the data in `.data/bench`. Two platforms that run side by side need two folders. */
  readonly folder?: string;
  /** Further environment variables for `./svc`, for example those of OpenTelemetry. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly acquirerLatencyMs?: number;
  /** Acquirer of the demo merchants: `adyen-emulator`. Default: the simulated bank. */
  readonly acquirer?: DemoAcquirer;
  /** See {@link System.halfLoadOf}. */
  readonly halfLoadOf?: string;
  readonly root?: string;
}

export function newPlatform(
  deployment: Deployment,
  {
    name = DEPLOYMENT_NAMES[deployment],
    folder = deployment,
    settings = {},
    acquirerLatencyMs = 0,
    acquirer,
    halfLoadOf,
    root = ROOT,
  }: PlatformOptions = {},
): System<RunningPlatform> {
  const portBase = nextPortBase;
  nextPortBase += PORTS_OF_PLATFORM;
  return {
    name,
    acquirerLatencyMs,
    ...(halfLoadOf === undefined ? {} : { halfLoadOf }),
    start: async () => {
      const dataDir = join(root, '.data', 'bench', folder);
      const svc = newSvcCommand(
        dataDir,
        {
          SVC_PORT_BASE: String(portBase),
          SVC_DEMO_WEEK: 'off',
          SVC_ACQUIRER_LATENCY_MS: String(acquirerLatencyMs),
          SVC_ACQUIRER_CONCURRENCY: '1000',
          SVC_PAYMENTS_PER_MINUTE: '100000',
          // All payments of the measurement have one merchant with one endpoint.
          SVC_DELIVERY_CONCURRENCY_PER_ENDPOINT: '50',
          SVC_DELIVERY_CONCURRENCY_PER_MERCHANT: '50',
          // As in production, where the reverse proxy logs each request instead of the services.
          SVC_LOG_LEVEL: 'warn',
          ...settings,
        },
        root,
      );
      await svc('down'); // a killed run may have left the platform running
      rmSync(dataDir, { recursive: true, force: true });
      const up = async (): Promise<RunningPlatform> => {
        await svc(
          ...['up', '-d', ...(deployment === 'embedded' ? [] : [`--${deployment}`])],
          ...(acquirer === undefined ? [] : ['--acquirer', acquirer]),
        );
        return { ...(await connectTo(dataDir, portBase, svc)), dataDir, restart: up, svc };
      };
      return up();
    },
  };
}

/** The platform at a commit, in a Git worktree of the commit. The first start installs and builds it. */
export function newPlatformAtCommit(
  commit: string,
  deployment: Deployment,
  options: PlatformOptions = {},
): System<RunningPlatform> {
  const root = addWorktree(commit, join(ROOT, '.data', 'bench', 'commits', commit));
  return newPlatform(deployment, { name: `${DEPLOYMENT_NAMES[deployment]}, at ${commit}`, ...options, root });
}

function addWorktree(commit: string, folder: string): string {
  const git = (...args: string[]): void => void execFileSync('git', args, { cwd: ROOT, stdio: 'pipe' });
  git('worktree', 'prune');
  if (!existsSync(join(folder, 'svc'))) git('worktree', 'add', '--detach', folder, commit);
  return folder;
}

type SvcCommand = (...args: string[]) => Promise<void>;

function newSvcCommand(dataDir: string, settings: Readonly<Record<string, string>>, root: string): SvcCommand {
  const inheritedVariables = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('SVC_') && name !== 'AMQP_URL',
  );
  const env = {
    ...Object.fromEntries(inheritedVariables),
    SVC_DATA_DIR: dataDir,
    ...settings,
  };
  return async (...args) => {
    await promisify(execFile)(join(root, 'svc'), args, { cwd: root, env, maxBuffer: 64 * 1024 * 1024 });
  };
}

async function connectTo(
  dataDir: string,
  portBase: number,
  svc: SvcCommand,
): Promise<Omit<RunningPlatform, 'dataDir' | 'restart' | 'svc'>> {
  const readJson = <T>(...path: string[]): T => JSON.parse(readFileSync(join(dataDir, ...path), 'utf8')) as T;
  const demo = readJson<Demo>('demo.json');
  const database = new pg.Client({
    host: '127.0.0.1',
    port: portBase + 32,
    user: 'postgres',
    password: readJson<{ postgresPassword: string }>('secrets.json').postgresPassword,
    database: 'svc',
  });
  database.on('error', () => undefined);
  await database.connect();
  return {
    demo,
    adyenEmulatorUrl: `http://127.0.0.1:${portBase + 6}`,
    merchant: findMerchant(demo, 0),
    groups: readProcessGroups(dataDir),
    sql: async <Row extends object>(statement: string) => (await database.query(statement)).rows as Row[],
    readCharges: () => readCharges(join(dataDir, 'acquirer', 'charges.jsonl')),
    stop: async () => {
      await database.end();
      await svc('down');
    },
  };
}

/** A merchant of the demo, with its first site. */
export function findMerchant({ gatewayUrl, merchants }: Demo, index: number): Merchant {
  const merchant = merchants[index];
  const [site] = merchant?.sites ?? [];
  if (!merchant || !site) throw new Error(`The demo data contain no merchant ${index} with a site.`);
  const { siteId, apiKey, webhookSecret } = site;
  return { gatewayUrl, merchantId: String(merchant.merchantId), siteId: String(siteId), apiKey, webhookSecret };
}

function readProcessGroups(dataDir: string): ProcessGroups {
  const readText = (...path: string[]): string => readFileSync(join(dataDir, ...path), 'utf8');
  const services = (JSON.parse(readText('run', 'services.json')) as { pid: number }).pid;
  const postgres = Number(readText('postgres', 'postmaster.pid').split('\n')[0]);
  const groups = { services: [services], PostgreSQL: [postgres] };
  try {
    const broker = JSON.parse(readText('rabbitmq', 'broker.json')) as { process?: { pid: number } };
    return broker.process === undefined ? groups : { ...groups, RabbitMQ: [broker.process.pid] };
  } catch {
    return groups; // the embedded broker has no process
  }
}

/**
 * References of the payments that the simulated acquirer has charged and not reversed. The last line
 * with an idempotency key contains the current state of the charge with that key.
 */
export function readCharges(file: string): string[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const records = lines.map((line) => JSON.parse(line) as { key: string; outcome: string; paymentReference: string });
  const lastRecords = new Map(records.map((record) => [record.key, record]));
  return [...lastRecords.values()].flatMap(({ outcome, paymentReference }) =>
    outcome === 'approved' ? [paymentReference] : [],
  );
}
