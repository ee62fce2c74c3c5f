/** One app in its own process, with only its variables. The app is restarted when its process ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { stopProcess } from '../base/background-process.ts';
import { PATIENCE } from '../base/patience.ts';
import { findIdentity } from '../base/process-identity.ts';
import { isReady, waitUntil } from '../base/wait-until.ts';
import { environmentFor } from './env-files.ts';
import { isListening } from './ports.ts';
import type { SupervisedAppName, SupervisedProcess } from './processes.ts';

export interface SupervisedAppPlan {
  readonly app: SupervisedAppName;
  readonly root: string;
  /** Arguments of Node.js (programs.ts). */
  readonly program: readonly string[];
  /** `<app>.env`, read at each start. */
  readonly envFile: string;
  readonly port: number;
  readonly log: (level: 'info' | 'warn', message: string, fields: object) => void;
  /** Called after each start and end of the process. */
  readonly onChange: () => void;
}

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
    this.shouldRun = true;
    const variables = parseEnv(readFileSync(envFile, 'utf8')) as Record<string, string>;
    const startedAt = performance.now();
    const child = spawn(process.execPath, program, {
      cwd: root,
      env: environmentFor(variables),
      // The app writes into the supervisor's log. The reverse proxy also receives messages about restarts.
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
      if (this.shouldRun) void this.restartAfterExit({ code, signal }, performance.now() - startedAt);
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

  /** A planned restart, which is not a failure. Returns whether the app became ready. */
  async restart(): Promise<boolean> {
    await this.stop();
    this.restarts++;
    this.failures = 0;
    this.start();
    return this.waitUntilReady();
  }

  async waitUntilReady(): Promise<boolean> {
    return (await waitUntil(() => this.isReady(), { withinSeconds: READY_SECONDS })) === true;
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
