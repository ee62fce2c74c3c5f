import { context, propagation } from '@opentelemetry/api';
import type { EventEnvelope, EventType } from '@svc/contracts';
import { type Clock, newUuid } from '@svc/kernel';
import type { DataSource, EntityManager, EntitySubscriberInterface, TransactionCommitEvent } from 'typeorm';

export interface NewEvent<Payload = unknown> {
  readonly type: EventType<Payload>;
  readonly aggregateId: string;
  /** From 1, one more with each change; committed with the change it speaks of. */
  readonly aggregateVersion: number;
  readonly payload: Payload;
}

export interface EventStatement {
  readonly columns: string;
  readonly rows: string;
  readonly parameter: string;
  /** Tells the relay that the statement has written them. */
  readonly committed: () => void;
}

/**
 * The append-only log of what a service says happened: its outbox. `append` takes the transaction of the state
 * change, so that neither exists without the other. The {@link Relay} hands the log over after the commit.
 */
export class EventLog {
  /** Called after events of these types have been committed. */
  onCommitted: (types: readonly string[]) => void = () => undefined;

  constructor(
    dataSource: DataSource,
    private readonly clock: Clock,
  ) {
    dataSource.subscribers.push(new WakeAfterCommit(this));
  }

  /** Throws when `tx` is no open transaction, or when an event is over {@link EVENT_BYTES_MAX}. */
  async append(tx: EntityManager, ...events: NewEvent[]): Promise<void> {
    if (events.length === 0) return;
    markAppended(tx, events);
    await tx.query(`INSERT INTO event_log ${COLUMNS} SELECT ${COLUMNS.slice(1, -1)} FROM ${RECORDSET('$1')}`, [
      this.rows(events),
    ]);
  }

  /**
   * For the hot paths, where row and event are one statement: the FROM item that turns parameter `placeholder` into
   * rows of the log, and the value of that parameter: `INSERT INTO event_log ${columns} SELECT event.* FROM …, ${rows}`.
   * Call `committed` afterwards.
   */
  statement(placeholder: string, events: NewEvent[]): EventStatement {
    return {
      columns: COLUMNS,
      rows: RECORDSET(placeholder),
      parameter: this.rows(events),
      committed: () => this.onCommitted(events.map(({ type }) => type.name)),
    };
  }

  private rows(events: readonly NewEvent[]): string {
    const rows = events.map((event) => JSON.stringify(asRow(this.envelope(event))));
    const tooLarge = rows.findIndex((row) => Buffer.byteLength(row) > EVENT_BYTES_MAX);
    if (tooLarge >= 0) throw new Error(`${events[tooLarge]!.type.name} is over ${EVENT_BYTES_MAX} bytes.`);
    return `[${rows.join()}]`;
  }

  private envelope(event: NewEvent): EventEnvelope {
    const carrier: { traceparent?: string } = {};
    propagation.inject(context.active(), carrier);
    return {
      id: newUuid(this.clock),
      type: event.type.name,
      aggregateId: event.aggregateId,
      aggregateVersion: event.aggregateVersion,
      occurredAt: this.clock.nowISO(),
      payload: event.payload,
      ...carrier,
    };
  }
}

/** Largest event as JSON: four times the largest request (C6). A relay holds a batch of them in memory. */
export const EVENT_BYTES_MAX = 1024 * 1024;

const COLUMNS = '(id, type, aggregate_id, aggregate_version, occurred_at, traceparent, payload)';
const RECORDSET = (placeholder: string): string =>
  `jsonb_to_recordset(${placeholder}::jsonb) AS event(id uuid, type text, aggregate_id text, aggregate_version bigint, occurred_at timestamptz, traceparent text, payload jsonb)`;

function asRow(envelope: EventEnvelope): Record<string, unknown> {
  return {
    id: envelope.id,
    type: envelope.type,
    aggregate_id: envelope.aggregateId,
    aggregate_version: envelope.aggregateVersion,
    occurred_at: envelope.occurredAt,
    traceparent: envelope.traceparent,
    payload: envelope.payload,
  };
}

const APPENDED = 'svc.messaging.appended';

function markAppended(tx: EntityManager, events: readonly NewEvent[]): void {
  if (!tx.queryRunner?.isTransactionActive)
    throw new Error('Events are appended inside the transaction of the change they speak of.');
  const appended = (tx.queryRunner.data[APPENDED] ??= []) as string[];
  appended.push(...events.map(({ type }) => type.name));
}

class WakeAfterCommit implements EntitySubscriberInterface {
  constructor(private readonly log: EventLog) {}

  afterTransactionCommit({ queryRunner }: TransactionCommitEvent): void {
    // A savepoint's release is announced like a commit; the events are visible after the outermost one only.
    const appended = queryRunner.data[APPENDED] as string[] | undefined;
    if (!appended || queryRunner.isTransactionActive) return;
    queryRunner.data[APPENDED] = undefined;
    this.log.onCommitted(appended);
  }
}
