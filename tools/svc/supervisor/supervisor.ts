/**
 * Starts, restarts and stops the apps of a distributed platform, and handles the requests of other commands.
 * `./svc nx serve` reserves an app with its connection. The first `reload` puts the developer's program in the place of
 * the app's own program; when the connection ends, the app's own program runs again.
 */
import type { SupervisedAppName } from '../processes/processes.ts';
import { SERVICES } from '../settings/settings.ts';
import type { CommandConnection, ReloadOutcome, RestartOutcome } from './control.ts';
import type { StartOutcome, SupervisedApp, SupervisedAppPlan } from './supervised-app.ts';

interface SupervisorPlan {
  readonly apps: ReadonlyMap<SupervisedAppName, SupervisedApp>;
  /** Arguments of Node.js that start the program which `./svc nx serve` has built from a developer's sources. */
  readonly developersProgram: (app: SupervisedAppName) => readonly string[];
  readonly log: SupervisedAppPlan['log'];
}

/** An app that a developer serves. */
interface Serving {
  readonly name: SupervisedAppName;
  readonly app: SupervisedApp;
  readonly pid: number;
  readonly connection: CommandConnection;
  /** Ends the wait of the last reload. Undefined before the first reload. */
  reload: AbortController | undefined;
}

export class Supervisor {
  private readonly plan: SupervisorPlan;
  private readonly connections = new Set<CommandConnection>();
  private readonly servings = new Map<SupervisedAppName, Serving>();
  /** Restarts run one at a time. */
  private lastRestart: Promise<unknown> = Promise.resolve();
  private isStopping = false;

  constructor(plan: SupervisorPlan) {
    this.plan = plan;
  }

  start(): void {
    for (const app of this.plan.apps.values()) app.start();
    this.plan.log('info', 'processes started', { apps: [...this.plan.apps.keys()] });
  }

  /**
   * Stops the reverse proxy first, so that no request reaches a stopped service. Then stops the services, which first
   * finish their requests. At last stops the acquirer, which they may still call.
   */
  async stop(): Promise<void> {
    this.isStopping = true;
    for (const connection of this.connections) connection.send({ type: 'stopping' });
    const { apps } = this.plan;
    await apps.get('front')?.close();
    await Promise.all(SERVICES.map(async (app) => apps.get(app)?.close()));
    await apps.get('simulated-acquirer')?.close();
    this.plan.log('info', 'all processes have stopped', {});
  }

  /** Handles the requests of one command until its connection ends. */
  async handle(connection: CommandConnection): Promise<void> {
    this.connections.add(connection);
    let serving: Serving | undefined;
    try {
      for (;;) {
        const request = await connection.receive();
        if (request === undefined) return;
        if (request.type === 'restart') connection.send(await this.restart(request.apps));
        if (request.type === 'serve') serving = this.reserve(connection, request.app, request.pid);
        if (request.type === 'reload' && serving) void this.reload(serving);
      }
    } finally {
      this.connections.delete(connection);
      if (serving) await this.release(serving);
    }
  }

  private async restart(names: readonly SupervisedAppName[]): Promise<RestartOutcome> {
    return this.enqueue(async () => {
      const restarted: SupervisedAppName[] = [];
      for (const name of names) {
        const app = this.plan.apps.get(name);
        if (app === undefined || this.isStopping) continue;
        this.plan.log('info', 'restarting', { app: name });
        const outcome = await this.withRequestsQueued(name, () => app.restart());
        // Does not restart the remaining apps, so that they continue to run.
        if (outcome !== 'ready') return { type: 'restarted', restarted, failed: name };
        restarted.push(name);
      }
      return { type: 'restarted', restarted, failed: undefined };
    });
  }

  private reserve(connection: CommandConnection, name: SupervisedAppName, pid: number): Serving | undefined {
    const app = this.plan.apps.get(name);
    const other = this.servings.get(name);
    if (app === undefined || other !== undefined) {
      const reason = other === undefined ? `there is no app "${name}"` : `process ${other.pid} already serves ${name}`;
      connection.send({ type: 'refused', reason });
      return undefined;
    }
    const serving: Serving = { name, app, pid, connection, reload: undefined };
    this.servings.set(name, serving);
    connection.send({ type: 'serving' });
    return serving;
  }

  private async reload(serving: Serving): Promise<void> {
    const { name, app, pid, connection } = serving;
    serving.reload?.abort();
    const { signal } = (serving.reload = new AbortController());
    const outcome = await this.enqueue(async (): Promise<ReloadOutcome> => {
      if (signal.aborted || this.isStopping) return 'superseded';
      const message = `restarting with the program of a developer (./svc nx serve, process ${pid})`;
      this.plan.log('info', message, { app: name });
      const onEnd = (reason: string): void => {
        this.plan.log('warn', 'process of a developer ended; it starts after the next change', { app: name, reason });
        connection.send({ type: 'ended', reason });
      };
      app.replaceProgram({ program: this.plan.developersProgram(name), pid, onEnd });
      return this.withRequestsQueued(name, () => app.restart(signal));
    });
    connection.send({ type: 'reloaded', outcome });
  }

  private async release(serving: Serving): Promise<void> {
    const { name, app, pid, reload } = serving;
    this.servings.delete(name);
    if (reload === undefined) return;
    reload.abort();
    await this.enqueue(async () => {
      app.replaceProgram();
      if (this.isStopping) return;
      const message = `./svc nx serve (process ${pid}) has ended; the app's own program runs again`;
      this.plan.log('info', message, { app: name });
      await this.withRequestsQueued(name, () => app.restart());
    });
  }

  /** The reverse proxy queues requests for the app during its restart, so no request reaches a stopping process. */
  private async withRequestsQueued(
    name: SupervisedAppName,
    restart: () => Promise<StartOutcome>,
  ): Promise<StartOutcome> {
    const front = this.plan.apps.get('front');
    if (!SERVICES.some((service) => service === name)) return restart();
    await front?.sendMessage({ close: name }, (reply) => (reply as { closed?: unknown }).closed === name);
    try {
      return await restart();
    } finally {
      await front?.sendMessage({ open: name });
    }
  }

  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.lastRestart.then(work);
    this.lastRestart = result.catch(() => undefined);
    return result;
  }
}
