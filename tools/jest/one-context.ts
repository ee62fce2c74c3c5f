/**
 * The test environment: test files run in the worker's own context, one after the other, so that third-party modules
 * load once for each worker (third-party.cjs) and share the realm of the tests. Jest's own environment creates a
 * context for each file, and loads some 2 000 modules again in it. Restores the global object, environment variables
 * and listeners of the process after each file.
 */
import './compile-cache.cjs';
import { createRequire } from 'node:module';
import type { JestEnvironment, JestEnvironmentConfig } from '@jest/environment';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

const LOAD_THIRD_PARTY = Symbol.for('svc.load-third-party');

export default class OneContext implements JestEnvironment<undefined> {
  readonly global = globalThis as unknown as JestEnvironment['global'];
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimers = null;
  readonly fakeTimersModern: ModernFakeTimers;
  private readonly restoreProcess = snapshotProcess();
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
    this.restoreProcess();
  }

  exportConditions(): string[] {
    return this.conditions;
  }

  /** Modules are compiled for this context. compile-cache.cjs recognises it as the default context. */
  getVmContext(): typeof globalThis {
    return globalThis;
  }
}

/** Returns a function that restores the current state of the process. */
function snapshotProcess(): () => void {
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
