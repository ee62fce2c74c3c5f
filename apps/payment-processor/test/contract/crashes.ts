import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import type { Acquirer } from '../../src/acquirers/acquirer.js';

/** A simulated process: what it has done, and when it crashes. */
interface ProcessRun {
  /** The messages and statements so far, in their order. */
  readonly steps: string[];
  /** The step at which the process crashes, from 0. */
  readonly crash: { readonly step: number; readonly when: 'after' | 'before' } | undefined;
  hasCrashed: boolean;
}

const CRASH_MESSAGE = 'simulated crash';
const MESSAGES = ['capture', 'charge', 'chargeVerified', 'refund', 'reverse'] as const satisfies (keyof Acquirer)[];
/** After a crash the server ends the transaction of the lost connection. */
const ENDS_TRANSACTION = /^\s*rollback/i;

/**
 * Lets a simulated process crash before or after each of its messages to an acquirer and each of its statements. A
 * process is everything that a callback does, also on other connections. After its crash it does nothing more.
 */
export class Crashes {
  private readonly current = new AsyncLocalStorage<ProcessRun>();
  private readonly spy: { mockRestore(): void };
  private readonly restorations: (() => void)[] = [];

  constructor(acquirer: Acquirer) {
    const original = Reflect.get(pg.Client.prototype, 'query') as (this: pg.Client, ...args: unknown[]) => unknown;
    const step = this.step.bind(this);
    this.spy = jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
      this: pg.Client,
      ...args: unknown[]
    ) {
      const send = (): unknown => original.apply(this, args);
      const text = typeof args[0] === 'string' ? args[0] : (args[0] as { text?: unknown } | null)?.text;
      if (typeof text !== 'string' || typeof args.at(-1) === 'function' || ENDS_TRANSACTION.test(text)) return send();
      return step(nameOf(text), send as () => Promise<unknown>) ?? send();
    });
    // A test may replace a method of the instance, so the methods of the class are changed.
    const methods = Object.getPrototypeOf(acquirer) as Record<string, (...args: unknown[]) => Promise<unknown>>;
    for (const name of MESSAGES) {
      const method = methods[name]!;
      methods[name] = function (this: Acquirer, ...args) {
        const send = (): Promise<unknown> => method.apply(this, args);
        return step(`message ${name}`, send) ?? send();
      };
      this.restorations.push(() => (methods[name] = method));
    }
  }

  /** Runs a process without a crash. Returns its messages and statements. */
  async record(process: () => Promise<unknown>): Promise<string[]> {
    return (await this.run(process, undefined)).steps;
  }

  /** Runs a process that crashes at this step. */
  async crashAt(step: number, when: 'after' | 'before', process: () => Promise<unknown>): Promise<void> {
    const { hasCrashed, steps } = await this.run(process, { step, when });
    if (!hasCrashed) throw new Error(`The process has no step ${step}: ${steps.join(', ')}`);
  }

  private async run(process: () => Promise<unknown>, crash: ProcessRun['crash']): Promise<ProcessRun> {
    const run: ProcessRun = { steps: [], crash, hasCrashed: false };
    await this.current.run(run, async () => {
      // A process that has crashed gives no result.
      await process().catch((error: unknown) => {
        if (!run.hasCrashed) throw error;
      });
    });
    return run;
  }

  /** Undefined outside a simulated process. */
  private step(name: string, send: () => Promise<unknown>): Promise<unknown> | undefined {
    const run = this.current.getStore();
    if (!run) return undefined;
    if (run.hasCrashed) return Promise.reject(new Error(CRASH_MESSAGE));
    const isCrash = run.crash?.step === run.steps.length;
    run.steps.push(name);
    if (!isCrash) return send();
    run.hasCrashed = true;
    if (run.crash.when === 'before') return Promise.reject(new Error(CRASH_MESSAGE));
    return this.sendAndCrash(send);
  }

  private async sendAndCrash(send: () => Promise<unknown>): Promise<never> {
    // The message itself, such as a charge, is not a step of the crashed process.
    await this.current.exit(send);
    throw new Error(CRASH_MESSAGE);
  }

  stop(): void {
    this.spy.mockRestore();
    for (const restore of this.restorations) restore();
  }
}

/** The kind of a statement and the first table that it changes or reads. */
function nameOf(statement: string): string {
  const [, verb, table] = /\b(insert into|update|delete from|from)\s+([a-z_]+)/i.exec(statement) ?? [];
  return verb === undefined ? statement.trim().split(/\s/, 1)[0]!.toLowerCase() : `${verb.toLowerCase()} ${table}`;
}
