import type { EventEnvelope } from '@svc/contracts';
import type { Clock } from '@svc/kernel';
import { inTransaction, isDatabaseUnavailable, loggableMessage } from '@svc/persistence';
import type { DataSource, EntityManager } from 'typeorm';
import type { DeferredEvents } from './deferred-events.js';
import type { MessagingLog } from './log.js';
import { inTraceOf } from './tracing.js';

/** What an @EventPattern method is given beside its events. */
export interface ConsumerContext {
  /** The transaction in which the messages are marked as done. The effect belongs in it, and nothing else. */
  readonly tx: EntityManager;
}

/** What a service does with the events of each type. */
export interface EventHandlers {
  readonly byType: ReadonlyMap<string, EventHandler>;
  /** Types whose effect is its own mark: see `repeatable` of @EventPattern. */
  readonly repeatable: ReadonlySet<string>;
}

/** Handles a run of events of one type, in the order of the log. */
export type EventHandler = (events: EventEnvelope[], context: ConsumerContext) => Promise<unknown>;

/** The delivery failed as a whole and is to be repeated; it says nothing about the messages. */
class DatabaseAway extends Error {
  override readonly name = 'DatabaseAway';

  constructor(cause: unknown) {
    super('The database of the consumer is away.', { cause });
  }
}

/** Pauses before the second and each further delivery of a message; after the last it becomes a dead letter. */
const RETRY_PAUSES_MS = [30, 90, 270, 810];

/**
 * Gives events to the handlers of a service. The effect of a batch and its marks in the inbox are one transaction,
 * so a message delivered again finds its mark and does nothing; a repeatable effect needs no mark. When a batch fails its messages are tried one by
 * one, in rounds: those that can be handled wait for no other, and those that keep failing become dead letters.
 * When the database is away nothing is concluded: the delivery fails as a whole and the relay repeats it.
 */
export class Consumer {
  constructor(
    private readonly dataSource: DataSource,
    private readonly handlers: EventHandlers,
    private readonly clock: Clock,
    private readonly log: MessagingLog,
    /** Keeps events of types without a handler; without it they are skipped. */
    private readonly deferred?: DeferredEvents,
  ) {}

  get types(): ReadonlySet<string> {
    return new Set(this.handlers.byType.keys());
  }

  async deliver(events: readonly EventEnvelope[]): Promise<void> {
    const known = events.filter((event) => this.handlers.byType.has(event.type));
    if (known.length < events.length) await this.defer(events.filter((event) => !known.includes(event)));
    if (known.length === 0) return;
    try {
      await this.handle(known);
    } catch (error) {
      if (error instanceof DatabaseAway) throw error;
      await this.deliverOneByOne(known);
    }
  }

  private async defer(unknown: readonly EventEnvelope[]): Promise<void> {
    if (!this.deferred) return;
    await this.deferred.defer(unknown).catch((error: unknown) => {
      throw new DatabaseAway(error);
    });
    const types = [...new Set(unknown.map(({ type }) => type))];
    this.log.info({ types, count: unknown.length }, 'consumer: unknown events deferred to a replica that knows them');
  }

  private async deliverOneByOne(events: readonly EventEnvelope[]): Promise<void> {
    let failed = await this.round(events);
    for (const pauseMs of RETRY_PAUSES_MS) {
      if (failed.size === 0) return;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      failed = await this.round([...failed.keys()]);
    }
    for (const [event, error] of failed) await this.bury(event, error);
  }

  /** Tries each event once. Returns those that failed, and why. */
  private async round(events: readonly EventEnvelope[]): Promise<Map<EventEnvelope, unknown>> {
    const failed = new Map<EventEnvelope, unknown>();
    for (const event of events) {
      try {
        await this.handle([event]);
      } catch (error) {
        if (error instanceof DatabaseAway) throw error;
        failed.set(event, error);
      }
    }
    return failed;
  }

  private handle(events: readonly EventEnvelope[]): Promise<void> {
    const { repeatable } = this.handlers;
    return inTraceOf(events, () =>
      events.every(({ type }) => repeatable.has(type)) ? this.repeat(events) : this.handleInTransaction(events),
    );
  }

  private async repeat(events: readonly EventEnvelope[]): Promise<void> {
    const byType = new Map<string, EventEnvelope[]>();
    for (const event of new Map(events.map((event) => [event.id, event])).values())
      byType.set(event.type, [...(byType.get(event.type) ?? []), event]);
    try {
      for (const [type, run] of byType) await this.handlers.byType.get(type)!(run, { tx: this.dataSource.manager });
    } catch (error) {
      throw isDatabaseUnavailable(error) ? new DatabaseAway(error) : error;
    }
  }

  private async handleInTransaction(events: readonly EventEnvelope[]): Promise<void> {
    let begun = false;
    try {
      await inTransaction(this.dataSource, async (tx) => {
        begun = true;
        const fresh = await this.mark(tx, events);
        // delete: an event that is in the batch twice is handled once.
        for (const run of runsOfOneType(events.filter((event) => fresh.delete(event.id)))) {
          await this.handlers.byType.get(run[0]!.type)!(run, { tx });
        }
      });
    } catch (error) {
      // Whatever kept the transaction from beginning says nothing about the messages.
      throw !begun || isDatabaseUnavailable(error) ? new DatabaseAway(error) : error;
    }
  }

  private async mark(tx: EntityManager, events: readonly EventEnvelope[]): Promise<Set<string>> {
    const rows = await tx.query<{ message_id: string }[]>(
      `INSERT INTO inbox (message_id, occurred_at) SELECT * FROM unnest($1::uuid[], $2::timestamptz[])
       ON CONFLICT DO NOTHING RETURNING message_id`,
      [events.map((event) => event.id), events.map((event) => event.occurredAt)],
    );
    return new Set(rows.map((row) => row.message_id));
  }

  private async bury(event: EventEnvelope, error: unknown): Promise<void> {
    this.log.error({ err: error, messageId: event.id, type: event.type }, 'consumer: message became a dead letter');
    await inTransaction(this.dataSource, async (tx) => {
      await this.mark(tx, [event]);
      await tx.query(
        `INSERT INTO dead_letters (message_id, type, envelope, error, deliveries, failed_at)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (message_id) DO NOTHING`,
        [event.id, event.type, JSON.stringify(event), reasonOf(error), RETRY_PAUSES_MS.length + 1, this.clock.now()],
      );
    });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${loggableMessage(error)}`.slice(0, 2000) : `thrown: ${typeof error}`;
}

function runsOfOneType(events: EventEnvelope[]): EventEnvelope[][] {
  const runs: EventEnvelope[][] = [];
  for (const event of events) {
    const run = runs.at(-1);
    if (run?.[0]?.type === event.type) run.push(event);
    else runs.push([event]);
  }
  return runs;
}
