/**
 * Calls that run in this process, by idempotency key: a second call with the same key waits in memory, and holds no
 * database connection meanwhile (C7). It is no lock: two replicas can work on the same key, and the tables decide between them.
 */
export class InFlightCalls<T> {
  private readonly running = new Map<string, Promise<T>>();

  /** Undefined when no call works on this key. */
  find(key: string): Promise<T> | undefined {
    return this.running.get(key);
  }

  /** Call only where {@link find} has just returned undefined. */
  start(key: string, work: () => Promise<T>): Promise<T> {
    const running = work().finally(() => this.running.delete(key));
    this.running.set(key, running);
    return running;
  }
}
