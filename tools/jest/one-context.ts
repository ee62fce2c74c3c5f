/**
 * The test environment: test files run in the worker's own context, one after the other, so that third-party modules are
 * loaded once for each worker (third-party.cjs) and are of the same realm as the tests. Jest's own environment makes a
 * context for each file, and with it loads some 2 000 modules anew. What a file leaves on the global object, in the
 * variables and among the listeners of the process is taken back.
 */
import './compile-cache.cjs';
import { createRequire } from 'node:module';
import { ModernFakeTimers } from '@jest/fake-timers';
import type { JestEnvironment, JestEnvironmentConfig } from '@jest/environment';
import { ModuleMocker } from 'jest-mock';

const LOAD_THIRD_PARTY = Symbol.for('svc.load-third-party');

export default class OneContext implements JestEnvironment<undefined> {
  readonly global = globalThis as unknown as JestEnvironment['global'];
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimers = null;
  readonly fakeTimersModern: ModernFakeTimers;
  private readonly takeBack = remember();
  private readonly conditions: string[];

  constructor({ projectConfig }: JestEnvironmentConfig) {
    Object.assign(globalThis, { [LOAD_THIRD_PARTY]: createRequire(import.meta.filename) });
    Error.stackTraceLimit = 100;
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    const { customExportConditions } = projectConfig.testEnvironmentOptions;
    this.conditions = (customExportConditions as string[] | undefined) ?? ['node', 'node-addons'];
  }

  async setup(): Promise<void> {}

  async teardown(): Promise<void> {
    this.fakeTimersModern.dispose();
    this.takeBack();
  }

  exportConditions(): string[] {
    return this.conditions;
  }

  /** The context to compile modules for; compile-cache.cjs knows that it is the one that is there. */
  getVmContext(): typeof globalThis {
    return globalThis;
  }
}

/** Returns what brings the process back to how it is now. */
function remember(): () => void {
  const globals: Record<PropertyKey, PropertyDescriptor> = Object.getOwnPropertyDescriptors(globalThis);
  const env = { ...process.env };
  const exit = Object.getOwnPropertyDescriptor(process, 'exit');
  const listeners = new Map(process.eventNames().map((name) => [name, process.rawListeners(name)]));
  return () => {
    for (const key of Reflect.ownKeys(globalThis)) restore(key, globals[key]);
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    if (exit) Object.defineProperty(process, 'exit', exit);
    for (const name of process.eventNames())
      for (const listener of process.rawListeners(name))
        if (!listeners.get(name)?.includes(listener)) process.removeListener(name, listener as () => void);
  };
}

function restore(key: PropertyKey, before: PropertyDescriptor | undefined): void {
  const now = Object.getOwnPropertyDescriptor(globalThis, key);
  if (!now?.configurable) return;
  if (before === undefined) Reflect.deleteProperty(globalThis, key);
  else if (now.value !== before.value || now.get !== before.get) Object.defineProperty(globalThis, key, before);
}
