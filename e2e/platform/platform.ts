/**
 * The real platform, as `./svc up -d` starts it, with a data folder and ports of its own. The tests read its addresses
 * and keys from demo.json, and stop it with `./svc down`. The platform does not touch anything else on this machine.
 * Test files that only use a platform share one (shared-platform.ts).
 */
import { spawn } from 'node:child_process';
import { type EventEmitter, once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { PATIENCE, waitUntil } from '@svc/testing';
import pg from 'pg';
import { acquireLock, type Lock } from '../../tools/svc/base/lock.ts';
import type { Demo, DemoMerchant, DemoSite } from '../../tools/svc/demo/seed.ts';
import type { Mode } from '../../tools/svc/platform/services.ts';
import type { Processes, SupervisedAppName, SupervisedProcess } from '../../tools/svc/processes/processes.ts';
import { planPorts, type Service } from '../../tools/svc/settings/settings.ts';

export const ROOT = join(import.meta.dirname, '..', '..');
/** Has a data folder for each platform. `./svc test` sets it to a folder in memory for a whole run. */
export const DATA_DIRS = process.env['SVC_TEST_PLATFORMS'] ?? join(ROOT, '.data', 'e2e');
/** This file is written when the services start, and removed when they are stopped. */
const SERVICES_FILE = join('run', 'services.json');

/** A line of the simulated acquirer's file of charges. Of several lines with one key, the last line counts. */
export interface ChargeLine {
  readonly key: string;
  readonly outcome: 'approved' | 'declined' | 'reversed';
  /** Cents. */
  readonly amount: number;
  readonly paymentReference: string;
}

export type MerchantSite = DemoSite & { readonly merchant: DemoMerchant };

export interface CommandResult {
  readonly code: number | null;
  /** Output and errors, in the order of a terminal. */
  readonly output: string;
}

/** Offsets from the first port that `./svc` listens on: hosts, acquirers, till, each app alone, PostgreSQL, RabbitMQ, own databases. */
const PORTS_OF_SVC = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 32, 33, 35, 37];
const START_SLOTS = Array.from({ length: Math.max(1, Math.floor(availableParallelism() / 2)) }, (_, index) =>
  join(DATA_DIRS, `start-${index}.lock`),
);
const MAX_START_MS = 240_000;
const PORT_BASES = { first: 20_000, last: 30_000, step: 45, workersMax: 8 };

export class Platform {
  private sqlPool: pg.Pool | undefined;

  private constructor(
    readonly dataDir: string,
    private readonly portBase: number,
    private readonly settings: Readonly<Record<string, string>>,
    private runsAs: Mode,
    private options: readonly string[],
  ) {}

  /**
   * @param name name of the new data folder below .data/e2e
   * @param settings variables for `./svc`, for example SVC_ACQUIRER_LATENCY_MS
   * @param mode defaults to the mode of `./svc up` without options
   * @param options additional options of `./svc up`, for example --lan
   */
  static async start(
    name: string,
    settings: Readonly<Record<string, string>> = {},
    mode: Mode = 'embedded',
    options: readonly string[] = [],
  ): Promise<Platform> {
    const dataDir = join(DATA_DIRS, name);
    if (existsSync(dataDir)) {
      const leftover = new Platform(dataDir, PORT_BASES.first, settings, mode, options);
      await leftover.svc('down'); // left over from a killed run
      rmSync(dataDir, { recursive: true, force: true });
    }
    // One start uses two processors. With more parallel starts, each would take longer than ./svc waits for its
    // services.
    const slot = await takeFreeLock('the starts of other platforms', START_SLOTS);
    try {
      const platform = new Platform(dataDir, await findFreePortBase(), settings, mode, options);
      await platform.up();
      return platform;
    } finally {
      slot.release();
    }
  }

  /** A running platform that was started with this name and without settings. */
  static find(name: string, mode: Mode): Platform | undefined {
    const dataDir = join(DATA_DIRS, name);
    const needed = ['demo.json', 'postgres', SERVICES_FILE].map((path) => join(dataDir, path));
    if (!needed.every((path) => existsSync(path))) return undefined;
    const { ports } = JSON.parse(readFileSync(join(dataDir, SERVICES_FILE), 'utf8')) as { ports: { api: number } };
    return new Platform(dataDir, ports.api, {}, mode, []);
  }

  async up(): Promise<void> {
    const args = ['up', ...(this.runsAs === 'embedded' ? [] : [`--${this.runsAs}`]), ...this.options, '-d'];
    const { code, output } = await this.svc(...args);
    if (code !== 0) throw new Error(`./svc ${args.join(' ')} failed (${code}):\n${output}`);
  }

  /** Stops the platform, and starts it on the same data in another mode. */
  async switchTo(mode: Mode, options = this.options): Promise<void> {
    const { code, output } = await this.svc('down');
    if (code !== 0) throw new Error(`./svc down failed (${code}):\n${output}`);
    this.runsAs = mode;
    this.options = options;
    await this.up();
  }

  /** Stops everything; keeps logs and the acquirer's charges, to investigate a failure. */
  async stop(): Promise<void> {
    const { code, output } = await this.svc('down');
    if (code !== 0) throw new Error(`./svc down failed (${code}):\n${output}`);
    for (const folder of ['postgres', 'rabbitmq']) rmSync(join(this.dataDir, folder), { recursive: true, force: true });
  }

  svc(...args: string[]): Promise<CommandResult> {
    return run(join(ROOT, 'svc'), args, this.env());
  }

  /** A clean environment: our data folder and ports, no other setting of ./svc, no foreign broker. */
  env(): NodeJS.ProcessEnv {
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_') && name !== 'AMQP_URL');
    return {
      ...Object.fromEntries(own),
      SVC_PATIENCE: String(PATIENCE),
      SVC_DEMO_WEEK: 'off',
      SVC_DATA_DIR: this.dataDir,
      SVC_PORT_BASE: String(this.portBase),
      ...this.settings,
    };
  }

  get mode(): Mode {
    return this.runsAs;
  }

  get demo(): Demo {
    return JSON.parse(readFileSync(join(this.dataDir, 'demo.json'), 'utf8')) as Demo;
  }

  /**
   * @param siteIndex 0: a site that requires its key; 1: a site without a key, which accepts only this machine's
   * addresses
   */
  site(merchantIndex: number, siteIndex: number): MerchantSite {
    const merchant = this.demo.merchants[merchantIndex];
    const site = merchant?.sites[siteIndex];
    if (!merchant || !site) throw new Error(`demo.json has no site ${siteIndex} of merchant ${merchantIndex}`);
    return { ...site, merchant };
  }

  /** The operations of the simulated acquirer: for each key only the last line. */
  charges(): ChargeLine[] {
    const lines = readFileSync(join(this.dataDir, 'acquirer', 'charges.jsonl'), 'utf8').split('\n');
    // The last line may be incomplete.
    const complete = lines.slice(0, -1).filter((line) => line !== '');
    const parsed = complete.map((line) => JSON.parse(line) as Partial<ChargeLine>);
    // The file also has lines for stored cards, without a key.
    const charges = parsed.filter((line): line is ChargeLine => line.key !== undefined);
    return [...new Map(charges.map((line) => [line.key, line])).values()];
  }

  /** The emulator of Adyen, which runs after `./svc up --acquirer adyen-emulator`. */
  get adyenEmulatorUrl(): string {
    return `http://127.0.0.1:${this.portBase + 6}`;
  }

  /** The dashboards, after `./svc up --observe`. */
  get dashboardsUrl(): string {
    return `http://127.0.0.1:${this.portBase + 8}`;
  }

  get servicesPid(): number {
    return (JSON.parse(readFileSync(join(this.dataDir, SERVICES_FILE), 'utf8')) as { pid: number }).pid;
  }

  get postgresPid(): number {
    return Number(readFileSync(join(this.dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  }

  /** The supervisor's processes of a distributed platform, and how often each process was restarted. */
  processes(): Processes {
    return JSON.parse(readFileSync(join(this.dataDir, 'run', 'processes.json'), 'utf8')) as Processes;
  }

  process(app: SupervisedAppName): SupervisedProcess {
    const known = this.processes()[app];
    if (known === undefined) throw new Error(`${app} does not run`);
    return known;
  }

  get rabbitMqPid(): number {
    const file = join(this.dataDir, 'rabbitmq', 'broker.json');
    const { process: known } = JSON.parse(readFileSync(file, 'utf8')) as { process?: { pid: number } };
    if (known === undefined) throw new Error('These tests need a RabbitMQ that is a process of this machine.');
    return known.pid;
  }

  /** True if every service is ready. */
  async isReady(): Promise<boolean> {
    try {
      const answer = await fetch(`${this.demo.adminUrl}/health/ready`, { signal: AbortSignal.timeout(5_000) });
      await answer.body?.cancel();
      return answer.status === 200;
    } catch {
      return false;
    }
  }

  /** Log lines of all services; `from` counts characters. */
  log(from = 0): string {
    return readFileSync(join(this.dataDir, 'log', 'services.log'), 'utf8').slice(from);
  }

  /** Kills a process of this platform, and waits until it is gone. */
  async kill(pid: number, signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    process.kill(pid, signal);
    await waitUntil(`the end of process ${pid}`, 30_000, () => Promise.resolve(isGone(pid)));
  }

  /**
   * Runs a statement as PostgreSQL's superuser, who can use all schemas. Keeps the connection for the next statement,
   * because a new one costs more processor time than most statements.
   */
  async sql<Row extends object>(statement: string, parameters: unknown[] = []): Promise<Row[]> {
    this.sqlPool ??= ignoreErrors(
      new pg.Pool({ ...this.superuser(), idleTimeoutMillis: 5_000, allowExitOnIdle: true }),
    );
    return (await this.sqlPool.query(statement, parameters)).rows as Row[];
  }

  async sqlClient(): Promise<pg.Client> {
    const client = ignoreErrors(new pg.Client(this.superuser()));
    await client.connect();
    return client;
  }

  /** PostgreSQL's superuser at the server of a service in SVC_OWN_DATABASES. */
  async sqlOf<Row extends object>(service: Service, statement: string): Promise<Row[]> {
    const { ownDatabases } = planPorts(String(this.portBase));
    const client = ignoreErrors(new pg.Client({ ...this.superuser(), port: ownDatabases[service] }));
    try {
      await client.connect();
      return (await client.query(statement)).rows as Row[];
    } finally {
      await client.end();
    }
  }

  private superuser(): pg.ClientConfig {
    const { postgresPassword } = JSON.parse(readFileSync(join(this.dataDir, 'secrets.json'), 'utf8')) as {
      postgresPassword: string;
    };
    return {
      host: '127.0.0.1',
      port: this.portBase + 32,
      user: 'postgres',
      password: postgresPassword,
      database: 'svc',
    };
  }
}

/** Takes the lock of one of these files; waits until another test file releases one, or has ended. */
export function takeFreeLock(what: string, files: readonly string[]): Promise<Lock> {
  return waitUntil(what, MAX_START_MS, () => {
    for (const file of files) {
      const taken = acquireLock(file);
      if ('release' in taken) return Promise.resolve(taken);
    }
    return Promise.resolve(undefined);
  });
}

/** Runs a program to its end. */
export async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const child = spawn(command, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  // `close` also waits for the end of the output. A process that `up -d` leaves running must not hold the caller's pipe
  // open.
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

/** A killed server also sends an error to idle clients. This error is ignored, because the next query reports it. */
function ignoreErrors<T extends EventEmitter>(database: T): T {
  return database.on('error', () => undefined);
}

/** A dead process may remain as a zombie, which still accepts signals. */
function isGone(pid: number): boolean {
  try {
    return /^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return true;
  }
}

async function findFreePortBase(): Promise<number> {
  const { first, last, step, workersMax } = PORT_BASES;
  // Ports that another worker has just found are not in use yet, so each worker has its own range.
  const range = Number(process.env['JEST_WORKER_ID'] ?? 1) % workersMax;
  const basesOfWorker = Math.floor((last - first) / step / workersMax);
  for (let attempt = 0; attempt < 50; attempt++) {
    const base = first + step * (workersMax * Math.floor(Math.random() * basesOfWorker) + range);
    const free = await Promise.all(PORTS_OF_SVC.map((offset) => isFree(base + offset)));
    if (free.every(Boolean)) return base;
  }
  throw new Error('No free ports were found.');
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
