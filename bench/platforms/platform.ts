/** The platform as `./svc up -d …` starts it, with its own data and ports. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import type { Demo } from '../../tools/svc/demo/seed.ts';
import type { Groups } from '../measuring/cpu.ts';
import type { RunningSystem, System } from './system.ts';

export interface RunningPlatform extends RunningSystem {
  /** After a stop, on the same data. */
  restart(): Promise<RunningPlatform>;
}

export const ROOT = join(import.meta.dirname, '..', '..');
const PORT_BASE = 18_300;

export type Deployment = 'embedded' | 'rabbitmq' | 'distributed';

export const DEPLOYMENT_NAMES: Readonly<Record<Deployment, string>> = {
  embedded: 'embedded',
  rabbitmq: 'RabbitMQ, all in one',
  distributed: 'RabbitMQ, a process each',
};

/** @param settings passed to `./svc` in addition to its own, for example the variables of OpenTelemetry */
export function platform(
  deployment: Deployment,
  settings: Readonly<Record<string, string>> = {},
  name = DEPLOYMENT_NAMES[deployment],
  root = ROOT,
): System<RunningPlatform> {
  return {
    name,
    start: async (acquirerLatencyMs) => {
      const dataDir = join(root, '.data', 'bench', deployment);
      const svc = newSvcCommand(
        dataDir,
        {
          SVC_ACQUIRER_LATENCY_MS: String(acquirerLatencyMs),
          SVC_ACQUIRER_CONCURRENCY: '1000',
          SVC_PAYMENTS_PER_MINUTE: '100000',
          // All payments of the measurement have one merchant with one endpoint.
          SVC_DELIVERY_CONCURRENCY_PER_ENDPOINT: '50',
          SVC_DELIVERY_CONCURRENCY_PER_MERCHANT: '50',
          // As in production, where the proxy before the services logs each request.
          SVC_LOG_LEVEL: 'warn',
          ...settings,
        },
        root,
      );
      await svc('down'); // left over from a killed run
      rmSync(dataDir, { recursive: true, force: true });
      const up = async (): Promise<RunningPlatform> => {
        await svc('up', '-d', ...(deployment === 'embedded' ? [] : [`--${deployment}`]));
        return { ...(await connectTo(dataDir, svc)), restart: up };
      };
      return up();
    },
  };
}

/** The platform at a commit, in its own worktree; the first start installs and builds it. */
export function platformAt(commit: string, deployment: Deployment): System<RunningPlatform> {
  const root = join(ROOT, '.data', 'bench', 'commits', commit);
  return platform(deployment, {}, `${DEPLOYMENT_NAMES[deployment]}, at ${commit}`, checkOut(commit, root));
}

function checkOut(commit: string, folder: string): string {
  const git = (...args: string[]): void => void execFileSync('git', args, { cwd: ROOT, stdio: 'pipe' });
  git('worktree', 'prune');
  if (!existsSync(join(folder, 'svc'))) git('worktree', 'add', '--detach', folder, commit);
  return folder;
}

type Svc = (...args: string[]) => Promise<void>;

function newSvcCommand(dataDir: string, settings: Readonly<Record<string, string>>, root: string): Svc {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_') && name !== 'AMQP_URL');
  const env = {
    ...Object.fromEntries(own),
    SVC_DATA_DIR: dataDir,
    SVC_PORT_BASE: String(PORT_BASE),
    ...settings,
  };
  return async (...args) => {
    await promisify(execFile)(join(root, 'svc'), args, { cwd: root, env, maxBuffer: 64 * 1024 * 1024 });
  };
}

async function connectTo(dataDir: string, svc: Svc): Promise<RunningSystem> {
  const json = <T>(...path: string[]): T => JSON.parse(readFileSync(join(dataDir, ...path), 'utf8')) as T;
  const demo = json<Demo>('demo.json');
  const [merchant] = demo.merchants;
  const [site] = merchant?.sites ?? [];
  if (!merchant || !site) throw new Error('The platform has no merchant to be measured with.');
  const database = new pg.Client({
    host: '127.0.0.1',
    port: PORT_BASE + 32,
    user: 'postgres',
    password: json<{ postgresPassword: string }>('secrets.json').postgresPassword,
    database: 'svc',
  });
  database.on('error', () => undefined);
  await database.connect();
  return {
    merchant: {
      gatewayUrl: demo.gatewayUrl,
      merchantId: String(merchant.merchantId),
      siteId: String(site.siteId),
      apiKey: site.apiKey,
      webhookSecret: site.webhookSecret,
    },
    groups: groupsOf(dataDir),
    sql: async <Row extends object>(statement: string) => (await database.query(statement)).rows as Row[],
    readCharges: () => readCharges(join(dataDir, 'acquirer', 'charges.jsonl')),
    stop: async () => {
      await database.end();
      await svc('down');
    },
  };
}

function groupsOf(dataDir: string): Groups {
  const text = (...path: string[]): string => readFileSync(join(dataDir, ...path), 'utf8');
  const services = (JSON.parse(text('run', 'services.json')) as { pid: number }).pid;
  const postgres = Number(text('postgres', 'postmaster.pid').split('\n')[0]);
  const groups = { services: [services], PostgreSQL: [postgres] };
  try {
    const broker = JSON.parse(text('rabbitmq', 'broker.json')) as { process?: { pid: number } };
    return broker.process === undefined ? groups : { ...groups, RabbitMQ: [broker.process.pid] };
  } catch {
    return groups; // embedded
  }
}

/** References of the payments that the simulated acquirer charged and did not void; the last line of a key counts. */
export function readCharges(file: string): string[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const records = lines.map((line) => JSON.parse(line) as { key: string; outcome: string; paymentReference: string });
  const last = new Map(records.map((record) => [record.key, record]));
  return [...last.values()].flatMap(({ outcome, paymentReference }) =>
    outcome === 'approved' ? [paymentReference] : [],
  );
}
