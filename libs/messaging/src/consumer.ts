import type { EventEnvelope } from '@svc/contracts';
import type { Clock } from '@svc/kernel';
import { inTransaction, isDatabaseUnavailable } from '@svc/persistence';
import type { DataSource, EntityManager } from 'typeorm';
import type { MessagingLog } from './log.js';

/** What an @EventPattern method is given beside its events. */
export interface ConsumerContext {
  /** The transaction in which the messages are marked as done. The effect belongs in it, and nothing else. */
  readonly tx: EntityManager;
}

/** Handles a run of events of one type, in the order of the log. */
export type EventHandler = (events: EventEnvelope[], context: ConsumerContext) => Promise<unknown>;

/** Deliveries of one message before it becomes a dead letter. */
const DELIVERIES_MAX = 5;

/**
 * Gives events to the handlers of a service. The effect of a batch and its marks in the inbox are one transaction,
 * so a message delivered again finds its mark and does nothing. When a batch fails its messages are tried one by
 * one; one that keeps failing becomes a dead letter and those behind it go on. When the database is away nothing is
 * concluded: the delivery fails as a whole and the relay repeats it.
 */
export class Consumer {
  constructor(
    private readonly dataSource: DataSource,
    private readonly handlers: ReadonlyMap<string, EventHandler>,
    private readonly clock: Clock,
    private readonly log: MessagingLog,
  ) {}

  get types(): ReadonlySet<string> {
    return new Set(this.handlers.keys());
  }

  async deliver(events: readonly EventEnvelope[]): Promise<void> {
    try {
      await this.handle(events);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      for (const event of events) await this.deliverAlone(event);
    }
  }

  private async deliverAlone(event: EventEnvelope): Promise<void> {
    for (let delivery = 1; ; delivery++) {
      try {
        return await this.handle([event]);
      } catch (error) {
        if (isDatabaseUnavailable(error)) throw error;
        if (delivery === DELIVERIES_MAX) return this.bury(event, error);
        await new Promise((resolve) => setTimeout(resolve, 10 * 3 ** delivery));
      }
    }
  }

  private handle(events: readonly EventEnvelope[]): Promise<void> {
    return inTransaction(this.dataSource, async (tx) => {
      const fresh = await this.mark(tx, events);
      for (const run of runsOfOneType(events.filter((event) => fresh.has(event.id)))) {
        await this.handlers.get(run[0]!.type)!(run, { tx });
      }
    });
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
        [event.id, event.type, JSON.stringify(event), String(error).slice(0, 2000), DELIVERIES_MAX, this.clock.now()],
      );
    });
  }
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
