import type { DataSource } from 'typeorm';
import { ConsumerRefusedError, type RelayTarget } from '../broker/broker.js';
import { joinCursors } from '../event-log/log-cursor.js';
import { hasConsumerCursors, replaceConsumerCursors } from '../event-log/log-reader.js';
import type { MessagingLog } from '../log.js';
import type { RelayLoop, Step } from './relay-loop.js';
import type { TargetDelivery } from './target-delivery.js';

interface GroupContext {
  readonly dataSource: DataSource;
  readonly log: MessagingLog;
  /** Starts a loop that delivers the log to one consumer, from its own cursor or else from the cursor of the group. */
  readonly startLoop: (consumer: RelayTarget) => RelayLoop;
}

/**
 * Interval between two searches for new consumers. A new consumer receives all events from the cursor of the group on,
 * so it misses none.
 */
const SEARCH_INTERVAL_MS = 5_000;
const NO_EVENTS: Step = { deliveredCount: 0, hasMore: false };

/**
 * Delivers the log to a target with several consumers (ADR 19). Normally to all of them together, with one cursor. When
 * one consumer rejects events that the others accepted, each consumer gets a loop with its own cursor and backoff, and
 * the cursor of the group does not move. When all consumers have caught up, they share a cursor again.
 */
export class GroupDelivery {
  /** The loops of the separated consumers, by the names of their cursors: `<target>/<consumer>`. */
  private readonly loops = new Map<string, RelayLoop>();
  private searchedAt = 0;

  constructor(
    private readonly target: RelayTarget,
    private readonly together: TargetDelivery,
    private readonly context: GroupContext,
  ) {}

  async step(isRecovering = false): Promise<Step> {
    if (this.loops.size > 0) return this.watchConsumers();
    if (!this.together.progress.isLoaded && (await hasConsumerCursors(this.context.dataSource, this.target.name))) {
      // The process that relayed before has separated the consumers.
      if (await this.separate()) return NO_EVENTS;
    }
    try {
      return await this.together.step(isRecovering);
    } catch (error) {
      if (!(error instanceof ConsumerRefusedError)) throw error;
      await this.together.progress.save();
      // Without a list of the consumers, the relay can only retry the delivery to all of them.
      if (!(await this.separate())) throw error;
      return NO_EVENTS;
    }
  }

  private async separate(): Promise<boolean> {
    this.startLoops(await this.findConsumers());
    const consumers = this.loops.size;
    if (consumers === 0) return false;
    this.context.log.warn(
      { target: this.target.name, consumers },
      'relay: a consumer refuses events, so each consumer receives them separately',
    );
    return true;
  }

  /** Starts loops for new consumers. When all have caught up, ends the loops and joins the cursors. */
  private async watchConsumers(): Promise<Step> {
    if (performance.now() - this.searchedAt > SEARCH_INTERVAL_MS) this.startLoops(await this.findConsumers());
    const loops = [...this.loops.values()];
    if (!loops.every(({ isCaughtUp }) => isCaughtUp)) return NO_EVENTS;
    for (const loop of loops) loop.end();
    await Promise.all(loops.map(({ ended }) => ended));
    const names = new Set(this.loops.keys());
    // The loops have ended. If an error follows, the next step separates the consumers again, from their saved cursors.
    this.loops.clear();
    this.together.progress.discard();
    // A consumer that started after the last search has received nothing yet, so the cursors cannot be joined.
    const consumers = await this.findConsumers();
    if (consumers.some(({ name }) => !names.has(name))) this.startLoops(consumers);
    else await this.join(loops);
    return NO_EVENTS;
  }

  /** The group continues from the slowest consumer, so the other consumers receive some events a second time. */
  private async join(loops: readonly RelayLoop[]): Promise<void> {
    const { dataSource, log } = this.context;
    const cursors = await Promise.all(loops.map(({ task }) => task.progress!.cursor()));
    await replaceConsumerCursors(dataSource, this.target.name, joinCursors(cursors));
    log.info({ target: this.target.name }, 'relay: all consumers have caught up and share a cursor again');
  }

  private findConsumers(): Promise<readonly RelayTarget[]> {
    this.searchedAt = performance.now();
    return this.target.consumerTargets!();
  }

  private startLoops(consumers: readonly RelayTarget[]): void {
    for (const consumer of consumers)
      if (!this.loops.has(consumer.name)) this.loops.set(consumer.name, this.context.startLoop(consumer));
  }
}
