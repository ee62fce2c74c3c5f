import type { DataSource } from 'typeorm';
import type { RelayTarget } from '../broker/broker.js';
import type { MessagingLog } from '../log.js';
import type { RelayLoop, Step } from './relay-loop.js';
import { joinCursors, separateCursors } from './separate-cursors.js';

/** Functions of the relay that a separated target uses. */
interface SeparationContext {
  readonly dataSource: DataSource;
  readonly log: MessagingLog;
  /** Starts a loop that delivers the log to one consumer. */
  readonly startLoop: (consumer: RelayTarget) => RelayLoop;
  /** Ends the loop after its current batch and saves its cursor. */
  readonly endLoop: (loop: RelayLoop) => Promise<void>;
  /** Starts a loop that delivers to the whole target again. */
  readonly join: (target: RelayTarget) => void;
}

/**
 * Interval between two searches for new consumers. A new consumer receives all events that were published after the
 * target was separated.
 */
const SEARCH_INTERVAL_MS = 5_000;
const NO_EVENTS: Step = { deliveredCount: 0, hasMore: false, isBlocked: false };

/**
 * Delivers the log to each consumer of a target separately, because one consumer rejected events that the other
 * consumers accepted. Each consumer has its own cursor and backoff. When all consumers have caught up, events are
 * delivered to the whole target again.
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

  /** Starts loops for new consumers. Joins all consumers when they have caught up. */
  async step(): Promise<Step> {
    if (performance.now() - this.searchedAt > SEARCH_INTERVAL_MS) await this.startLoops(await this.findConsumers());
    if ([...this.loops.values()].every(({ isCaughtUp }) => isCaughtUp)) await this.join();
    return NO_EVENTS;
  }

  /** Call this when the lease was lost. Another process may then relay, and it finds the cursors in the database. */
  onLeaseLost(): void {
    this.endAll().catch(() => undefined);
    this.context.join(this.target);
  }

  private async join(): Promise<void> {
    const { dataSource, log, join } = this.context;
    const joinedNames = [...this.loops.keys()];
    await this.endAll();
    // A new consumer has received no events yet. It must begin at the position where the target was separated.
    const consumers = await this.findConsumers();
    if (consumers.some(({ name }) => !joinedNames.includes(name))) return this.startLoops(consumers);
    await joinCursors(dataSource, this.target.name, joinedNames);
    log.info({ target: this.target.name }, 'relay: all consumers have caught up and share a cursor again');
    join(this.target);
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

  private async endAll(): Promise<void> {
    const loops = [...this.loops.values()];
    this.loops.clear();
    await Promise.all(loops.map((loop) => this.context.endLoop(loop)));
  }
}
