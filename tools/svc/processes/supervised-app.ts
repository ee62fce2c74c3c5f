/** One app in a process of its own: started with exactly its variables, started again when it ends, stopped. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { environmentFor } from './env-files.ts';
import { stopProcess } from '../base/background-process.ts';
import { PATIENCE } from '../base/patience.ts';
import { findIdentity } from '../base/process-identity.ts';
import type { Supervised, SupervisedProcess } from './processes.ts';
import { isReady, waitUntil } from '../base/wait-until.ts';
import { isAnswering } from './ports.ts';

export interface SupervisedAppPlan {
  readonly app: Supervised;
  readonly root: string;
  /** What Node.js is given, see programs.ts. */
  readonly program: readonly string[];
  /** `<app>.env`, read at each start. */
  readonly envFile: string;
  readonly port: number;
  readonly log: (level: 'info' | 'warn', message: string, fields: object) => void;
  /** Called whenever another process runs, or none. */
  readonly onChange: () => void;
}

const DRAIN_SECONDS = 15;
const READY_SECONDS = 60 * PATIENCE;
const FIRST_PAUSE_MILLISECONDS = 500;
const PAUSE_MILLISECONDS_MAX = 5000;
/** A process that has lived this long has started well: what ends it then is another matter. */
const SETTLED_MILLISECONDS = 30_000;

/** How long to wait before the next start, after so many in a row that did not last. */
export function pauseAfter(failures: number): number {
  return Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** Math.max(0, failures - 1), PAUSE_MILLISECONDS_MAX);
}

export class SupervisedApp {
  restarts = 0;
  private child: ChildProcess | undefined;
  private identity = '';
  private failures = 0;
  private isWanted = false;
  private readonly plan: SupervisedAppPlan;

  constructor(plan: SupervisedAppPlan) {
    this.plan = plan;
  }

  get running(): SupervisedProcess | undefined {
    const pid = this.child?.pid;
    if (pid === undefined) return undefined;
    return { pid, identity: this.identity, port: this.plan.port, restarts: this.restarts };
  }

  start(): void {
    const { app, root, program, envFile } = this.plan;
    this.isWanted = true;
    const variables = parseEnv(readFileSync(envFile, 'utf8')) as Record<string, string>;
    const startedAt = performance.now();
    const child = spawn(process.execPath, program, {
      cwd: root,
      env: environmentFor(variables),
      // Its lines go straight to the log the supervisor itself writes to; the front gets messages about restarts.
      stdio: app === 'front' ? ['ignore', 'inherit', 'inherit', 'ipc'] : ['ignore', 'inherit', 'inherit'],
    });
    this.child = child;
    this.identity = child.pid === undefined ? '' : (findIdentity(child.pid) ?? '');
    child.once('error', (error) =>
      this.plan.log('warn', 'process could not be started', { app, reason: error.message }),
    );
    child.once('exit', (code, signal) => {
      if (this.child !== child) return;
      this.child = undefined;
      this.plan.onChange();
      if (this.isWanted) void this.startAgain({ code, signal }, performance.now() - startedAt);
    });
    this.plan.onChange();
  }

  private async startAgain(end: object, livedMilliseconds: number): Promise<void> {
    this.failures = livedMilliseconds > SETTLED_MILLISECONDS ? 1 : this.failures + 1;
    const milliseconds = pauseAfter(this.failures);
    this.plan.log('warn', 'process ended by itself; starting it again', { app: this.plan.app, ...end, milliseconds });
    await pause(milliseconds);
    if (!this.isWanted || this.child !== undefined) return;
    this.restarts++;
    this.start();
  }

  /** Lets it finish what it has at hand; kills it when it takes too long. */
  async stop(): Promise<void> {
    this.isWanted = false;
    if (this.child === undefined) return;
    const exit = once(this.child, 'exit');
    const done = await stopProcess(this.running, DRAIN_SECONDS);
    await exit;
    if (done.startsWith('killed'))
      this.plan.log('warn', 'process did not finish in time; killed', { app: this.plan.app });
  }

  /** On purpose: counts, but is no failure. Resolves when it is ready again, or with false when it is not. */
  async restart(): Promise<boolean> {
    await this.stop();
    this.restarts++;
    this.failures = 0;
    this.start();
    return this.becomesReady();
  }

  async becomesReady(): Promise<boolean> {
    const isReady = async () => ((await this.isReady()) ? true : undefined);
    return (await waitUntil(isReady, { withinSeconds: READY_SECONDS, everyMilliseconds: 50 })) === true;
  }

  /** Tells the front, and waits for its answer for a while: a front that is not there holds nothing. */
  async sendMessage(message: object, answered?: (answer: unknown) => boolean, withinSeconds = 12): Promise<void> {
    const { child } = this;
    if (child?.connected !== true) return;
    let hasAnswered = answered === undefined;
    const listen = (answer: unknown) => (hasAnswered ||= answered?.(answer) ?? true);
    child.on('message', listen);
    child.send(message, () => undefined);
    await waitUntil(() => (hasAnswered || !child.connected ? true : undefined), { withinSeconds });
    child.off('message', listen);
  }

  private async isReady(): Promise<boolean> {
    if (this.child === undefined) return false;
    const { app, port } = this.plan;
    // These two have nothing to wait for: they are ready when they listen.
    if (app === 'front' || app === 'simulated-acquirer') return isAnswering('127.0.0.1', port);
    return isReady(`http://127.0.0.1:${port}`);
  }
}
