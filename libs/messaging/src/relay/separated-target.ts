import type { DataSource } from 'typeorm';
import type { RelayTarget } from '../broker/broker.js';
import type { MessagingLog } from '../log.js';
import type { RelayLoop } from './relay-loop.js';
import { joinCursors, separateCursors } from './separate-cursors.js';

/** Functions of the relay that a separated target uses. */
interface SeparationContext {
  readonly dataSource: DataSource;
  readonly log: MessagingLog;
  /** Starts a loop that delivers the log to one consumer. */
  readonly startLoop: (consumer: RelayTarget) => RelayLoop;
}

/**
 * Interval between two searches for new consumers. A new consumer receives all events that were published after the
 * target was separated.
 */
const SEARCH_INTERVAL_MS = 5_000;

/**
 * Delivers the log to each consumer of a target separately, because one consumer rejected events that the other
 * consumers accepted. Each consumer has its own cursor and backoff. When all consumers have caught up, their cursors
 * become one again.
 */
export class SeparatedTarget {
  private readonly loops = new Map<string, RelayLoop>();
  private searchedAt = 0;

  constructor(
    private readonly target: RelayTarget,
    private readonly context: SeparationContext,
  ) {}

  /**
   * Resolves to false if the target cannot list its consumers. Without the list, the relay can only retry deliveries
   * to the whole target.
   */
  async begin(): Promise<boolean> {
    const consumers = await this.findConsumers();
    if (consumers.length === 0) return false;
    await this.startLoops(consumers);
    this.context.log.warn(
      { target: this.target.name, consumers: consumers.length },
      'relay: a consumer refuses events, so each consumer receives them separately',
    );
    return true;
  }

  /**
   * Starts loops for new consumers. Resolves to true when all consumers have caught up, their loops have ended, and the
   * target has one cursor again.
   */
  async step(): Promise<boolean> {
    if (performance.now() - this.searchedAt > SEARCH_INTERVAL_MS) await this.startLoops(await this.findConsumers());
    if ([...this.loops.values()].some(({ isCaughtUp }) => !isCaughtUp)) return false;
    const joinedNames = [...this.loops.keys()];
    await this.endLoops();
    // A new consumer has received no events yet. It must begin at the position where the target was separated.
    const consumers = await this.findConsumers();
    if (consumers.some(({ name }) => !joinedNames.includes(name))) {
      await this.startLoops(consumers);
      return false;
    }
    await joinCursors(this.context.dataSource, this.target.name, joinedNames);
    this.context.log.info({ target: this.target.name }, 'relay: all consumers have caught up and share a cursor again');
    return true;
  }

  /** Resolves when the loops have ended after their current batch and have saved their cursors. */
  async endLoops(): Promise<void> {
    const loops = [...this.loops.values()];
    this.loops.clear();
    for (const loop of loops) loop.end();
    await Promise.all(loops.map(({ ended }) => ended));
  }

  private findConsumers(): Promise<readonly RelayTarget[]> {
    this.searchedAt = performance.now();
    return this.target.consumerTargets?.() ?? Promise.resolve([]);
  }

  private async startLoops(consumers: readonly RelayTarget[]): Promise<void> {
    const newConsumers = consumers.filter(({ name }) => !this.loops.has(name));
    if (newConsumers.length === 0) return;
    await separateCursors(
      this.context.dataSource,
      this.target.name,
      newConsumers.map(({ name }) => name),
    );
    for (const consumer of newConsumers) this.loops.set(consumer.name, this.context.startLoop(consumer));
  }
}
