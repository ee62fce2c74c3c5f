/**
 * Running calls of this process, by idempotency key: a second call with the same key waits in memory without a database
 * connection (C7). This class is not a lock: two replicas can process the same key, and a unique constraint decides
 * which replica creates the result.
 */
export class InFlightCalls<T> {
  private readonly running = new Map<string, Promise<T>>();

  /** Undefined when no call with this key is running. */
  find(key: string): Promise<T> | undefined {
    return this.running.get(key);
  }

  /** Starts a call. Use it only when {@link find} has just returned undefined. */
  start(key: string, call: () => Promise<T>): Promise<T> {
    const running = call().finally(() => this.running.delete(key));
    this.running.set(key, running);
    return running;
  }
}
