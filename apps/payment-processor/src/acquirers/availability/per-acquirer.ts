import type { Mode } from '@svc/contracts';

/** The value of one acquirer and mode. */
interface Entry<T> {
  readonly acquirer: string;
  readonly mode: Mode;
  readonly value: T;
}

/**
 * Values of this process, one for each acquirer and mode, created at the first use. An acquirer has separate systems for
 * test and live, so a test system that does not respond must not stop live payments.
 */
export class PerAcquirer<T> {
  private readonly byKey = new Map<string, Entry<T>>();

  constructor(private readonly create: (acquirer: string, mode: Mode) => T) {}

  get(acquirer: string, mode: Mode): T {
    const key = `${acquirer} ${mode}`;
    let entry = this.byKey.get(key);
    if (!entry) {
      entry = { acquirer, mode, value: this.create(acquirer, mode) };
      this.byKey.set(key, entry);
    }
    return entry.value;
  }

  entries(): Iterable<Entry<T>> {
    return this.byKey.values();
  }
}
