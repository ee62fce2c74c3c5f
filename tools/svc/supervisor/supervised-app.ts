/** One app in its own process, with only its variables. The app is restarted when its process ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { stopProcess } from '../base/background-process.ts';
import { PATIENCE } from '../base/patience.ts';
import { findIdentity } from '../base/process-identity.ts';
import { isReady, waitUntil } from '../base/wait-until.ts';
import { environmentFor, type Variables } from '../processes/env-files.ts';
import { isListening } from '../processes/ports.ts';
import type { SupervisedAppName, SupervisedProcess } from '../processes/processes.ts';

export interface SupervisedAppPlan {
  readonly app: SupervisedAppName;
  readonly root: string;
  /** Arguments of Node.js (programs.ts). */
  readonly program: readonly string[];
  /** Called at each start. */
  readonly readVariables: () => Variables;
  readonly port: number;
  readonly log: (level: 'info' | 'warn', message: string, fields: object) => void;
  /** Called after each start and end of the process. */
  readonly onChange: () => void;
}

/** The program of a developer, which runs in place of the app's own program. */
interface Substitute {
  /** Arguments of Node.js. */
  readonly program: readonly string[];
  /** The process of `./svc nx serve`. */
  readonly pid: number;
  /** Called when the process ends by itself. It is not restarted, because it would probably end again. */
  readonly onEnd: (reason: string) => void;
}

export type StartOutcome = 'ready' | 'ended' | 'not ready' | 'superseded';

const DRAIN_SECONDS = 15;
const READY_SECONDS = 60 * PATIENCE;
const REPLY_SECONDS = 12;
const FIRST_RESTART_DELAY_MS = 500;
const MAX_RESTART_DELAY_MS = 5000;
/** When a process ends after a longer time, the number of consecutive failures begins at 1 again. */
const STABLE_AFTER_MS = 30_000;

/** The pause before the next start. It doubles after each failure, up to a limit. */
export function restartDelayMs(failures: number): number {
  return Math.min(FIRST_RESTART_DELAY_MS * 2 ** Math.max(0, failures - 1), MAX_RESTART_DELAY_MS);
}

export class SupervisedApp {
  restarts = 0;
  private child: ChildProcess | undefined;
  private identity = '';
  private failures = 0;
  private shouldRun = false;
  private isClosed = false;
  private substitute: Substitute | undefined;
  private readonly plan: SupervisedAppPlan;

  constructor(plan: SupervisedAppPlan) {
    this.plan = plan;
  }

  /** The process of the app, or undefined while none runs. */
  get running(): SupervisedProcess | undefined {
    return this.child?.pid === undefined ? undefined : this.state;
  }

  /**
   * The entry of the app in the file of processes. While no process runs, an app that a developer serves has an entry
   * with the process id 0, and any other app has none.
   */
  get state(): SupervisedProcess | undefined {
    const { child, substitute } = this;
    if (child?.pid === undefined && substitute === undefined) return undefined;
    return {
      pid: child?.pid ?? 0,
      identity: child?.pid === undefined ? '' : this.identity,
      port: this.plan.port,
      restarts: this.restarts,
      ...(substitute === undefined ? {} : { servedBy: substitute.pid }),
    };
  }

  start(): void {
    if (this.isClosed) return;
    const { app, root, program, readVariables } = this.plan;
    this.shouldRun = true;
    const startedAt = performance.now();
    const child = spawn(process.execPath, this.substitute?.program ?? program, {
      cwd: root,
      env: environmentFor(readVariables()),
      // The reverse proxy also receives messages about restarts.
      stdio: ['ignore', 'inherit', 'inherit', ...(app === 'front' ? (['ipc'] as const) : [])],
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
      if (!this.shouldRun) return;
      if (this.substitute === undefined) void this.restartAfterExit({ code, signal }, performance.now() - startedAt);
      else this.substitute.onEnd(signal ?? `exit code ${code}`);
    });
    this.plan.onChange();
  }

  private async restartAfterExit(exit: object, lifetimeMs: number): Promise<void> {
    this.failures = lifetimeMs > STABLE_AFTER_MS ? 1 : this.failures + 1;
    const delayMs = restartDelayMs(this.failures);
    this.plan.log('warn', 'process ended unexpectedly; restarting it', { app: this.plan.app, ...exit, delayMs });
    await pause(delayMs);
    if (!this.shouldRun || this.child !== undefined) return;
    this.restarts++;
    this.start();
  }

  async stop(): Promise<void> {
    this.shouldRun = false;
    if (this.child === undefined) return;
    const exit = once(this.child, 'exit');
    const outcome = await stopProcess(this.running, DRAIN_SECONDS);
    await exit;
    if (outcome.startsWith('killed'))
      this.plan.log('warn', 'process did not end in time; killed', { app: this.plan.app });
  }

  /** Stops the app for ever. A restart that has begun before does not start it again. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.stop();
  }

  /** The next start runs this program; without an argument the app's own program. */
  replaceProgram(substitute?: Substitute): void {
    this.substitute = substitute;
    this.plan.onChange();
  }

  /** A planned restart, which is not a failure. When the signal aborts, it no longer waits until the app is ready. */
  async restart(signal?: AbortSignal): Promise<StartOutcome> {
    await this.stop();
    this.restarts++;
    this.failures = 0;
    this.start();
    return this.waitUntilReady(signal);
  }

  async waitUntilReady(signal?: AbortSignal): Promise<StartOutcome> {
    const outcome = await waitUntil(
      async (): Promise<StartOutcome | undefined> => {
        if (signal?.aborted === true) return 'superseded';
        if (this.child === undefined && (this.isClosed || this.substitute !== undefined)) return 'ended';
        return (await this.isReady()) ? 'ready' : undefined;
      },
      { withinSeconds: READY_SECONDS },
    );
    return outcome ?? 'not ready';
  }

  /** Sends a message to the reverse proxy and waits for a matching reply, unless the proxy is disconnected. */
  async sendMessage(message: object, isReply?: (reply: unknown) => boolean): Promise<void> {
    const { child } = this;
    if (child?.connected !== true) return;
    let hasReplied = isReply === undefined;
    const listen = (reply: unknown) => (hasReplied ||= isReply?.(reply) ?? true);
    child.on('message', listen);
    child.send(message, () => undefined);
    await waitUntil(() => hasReplied || !child.connected, { withinSeconds: REPLY_SECONDS });
    child.off('message', listen);
  }

  private async isReady(): Promise<boolean> {
    if (this.child === undefined) return false;
    const { app, port } = this.plan;
    // These two apps are ready as soon as they listen.
    if (app === 'front' || app === 'simulated-acquirer') return isListening('127.0.0.1', port);
    return isReady(`http://127.0.0.1:${port}`);
  }
}
