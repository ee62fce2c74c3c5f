/**
 * What is under way in this process, by its key: who comes with the same key waits for it in memory, and holds no database
 * connection meanwhile (C7). It is no lock: two replicas can be at the same key, and the tables decide between them.
 */
export class InFlight<T> {
  private readonly running = new Map<string, Promise<T>>();

  /** Undefined when nobody is at it. */
  find(key: string): Promise<T> | undefined {
    return this.running.get(key);
  }

  /** Call only where {@link find} has just said that nobody is. */
  start(key: string, work: () => Promise<T>): Promise<T> {
    const running = work().finally(() => this.running.delete(key));
    this.running.set(key, running);
    return running;
  }
}
