import type { DataSource } from 'typeorm';
import type { RelayTarget } from '../broker/broker.js';
import type { MessagingLog } from '../log.js';
import type { RelayLoop, Step } from './relay-loop.js';
import { joinCursors, separateCursors } from './separate-cursors.js';

/** Functions of the relay that a separated target uses. */
export interface SeparationContext {
  readonly dataSource: DataSource;
  readonly log: MessagingLog;
  /** Begins to hand over the log to one consumer. */
  readonly begin: (consumer: RelayTarget) => RelayLoop;
  /** Ends the loop after the batch under way and saves its cursor. */
  readonly end: (loop: RelayLoop) => Promise<void>;
  /** Hands over to the target as a whole again. */
  readonly join: (target: RelayTarget) => void;
}

/** Interval between two searches for new consumers, which then get the events they missed. */
const LOOK_MS = 5_000;
const NOTHING: Step = { handedOver: 0, isCut: false, isBlocked: false };

/**
 * A target whose consumers are served separately, because one of them rejected events that the others accepted. Each has a
 * cursor and a backoff of its own. When all of them have caught up, the target is served as a whole again.
 */
export class SeparatedTarget {
  private readonly loops = new Map<string, RelayLoop>();
  private lookedAt = 0;

  constructor(
    private readonly target: RelayTarget,
    private readonly surroundings: SeparationContext,
  ) {}

  /** False when the target does not know its consumers: it can then only be retried as a whole. */
  async begin(): Promise<boolean> {
    const consumers = await this.consumers();
    if (consumers.length === 0) return false;
    await this.follow(consumers);
    this.surroundings.log.warn(
      { target: this.target.name, consumers: consumers.length },
      'relay: a consumer refuses events, so each is handed them separately',
    );
    return true;
  }

  /** Begins with new consumers, and joins all when they have caught up. */
  async step(): Promise<Step> {
    if (performance.now() - this.lookedAt > LOOK_MS) await this.follow(await this.consumers());
    if ([...this.loops.values()].every(({ isCaughtUp }) => isCaughtUp)) await this.join();
    return NOTHING;
  }

  /** To be called when another process may relay; it finds the cursors. */
  leave(): void {
    this.endAll().catch(() => undefined);
    this.surroundings.join(this.target);
  }

  private async join(): Promise<void> {
    const { dataSource, log, join } = this.surroundings;
    const names = [...this.loops.keys()];
    await this.endAll();
    // A new consumer has received nothing yet: it has to begin where the others were separated.
    const consumers = await this.consumers();
    if (consumers.some(({ name }) => !names.includes(name))) return this.follow(consumers);
    await joinCursors(dataSource, this.target.name, names);
    log.info({ target: this.target.name }, 'relay: all consumers have caught up and share a cursor again');
    join(this.target);
  }

  private consumers(): Promise<readonly RelayTarget[]> {
    this.lookedAt = performance.now();
    return this.target.consumerTargets?.() ?? Promise.resolve([]);
  }

  private async follow(consumers: readonly RelayTarget[]): Promise<void> {
    const fresh = consumers.filter(({ name }) => !this.loops.has(name));
    if (fresh.length === 0) return;
    await separateCursors(
      this.surroundings.dataSource,
      this.target.name,
      fresh.map(({ name }) => name),
    );
    for (const consumer of fresh) this.loops.set(consumer.name, this.surroundings.begin(consumer));
  }

  private async endAll(): Promise<void> {
    const loops = [...this.loops.values()];
    this.loops.clear();
    await Promise.all(loops.map((loop) => this.surroundings.end(loop)));
  }
}
