import { context, propagation } from '@opentelemetry/api';
import type { EventEnvelope, EventType } from '@svc/contracts';
import { type Clock, newUuid } from '@svc/kernel';
import { DataSource, type EntityManager, EventSubscriber, type EntitySubscriberInterface, type TransactionCommitEvent } from 'typeorm';

export interface NewEvent<Payload = unknown> {
  readonly type: EventType<Payload>;
  readonly aggregateId: string;
  /** From 1, one more with each change; committed with the change it speaks of. */
  readonly aggregateVersion: number;
  readonly payload: Payload;
}

/**
 * The append-only log of what a service says happened: its outbox. `append` takes the transaction of the state
 * change, so that neither exists without the other. The {@link Relay} hands the log over after the commit.
 */
export class EventLog {
  /** Called after a transaction that appended has committed. */
  onCommitted: () => void = () => undefined;

  constructor(
    dataSource: DataSource,
    private readonly clock: Clock,
  ) {
    dataSource.subscribers.push(new WakeAfterCommit(this));
  }

  async append(tx: EntityManager, ...events: NewEvent[]): Promise<void> {
    if (events.length === 0) return;
    const rows = events.map((event) => this.envelope(event));
    await tx.query(`INSERT INTO event_log ${COLUMNS} SELECT ${COLUMNS.slice(1, -1)} FROM ${RECORDSET('$1')}`, [
      JSON.stringify(rows.map(asRow)),
    ]);
    markAppended(tx);
  }

  /**
   * For the hot paths, where row and event are one statement: the FROM item that turns parameter `placeholder` into
   * rows of the log, and the value of that parameter. Call {@link committed} afterwards.
   */
  statement(placeholder: string, events: NewEvent[]): { columns: string; rows: string; parameter: string } {
    return {
      columns: COLUMNS,
      rows: RECORDSET(placeholder),
      parameter: JSON.stringify(events.map((event) => asRow(this.envelope(event)))),
    };
  }

  /** Tells the relay that something was committed outside {@link append}. */
  committed(): void {
    this.onCommitted();
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

function markAppended(tx: EntityManager): void {
  if (!tx.queryRunner?.isTransactionActive) throw new Error('Events are appended inside the transaction of the change they speak of.');
  tx.queryRunner.data[APPENDED] = true;
}

@EventSubscriber()
class WakeAfterCommit implements EntitySubscriberInterface {
  constructor(private readonly log: EventLog) {}

  afterTransactionCommit({ queryRunner }: TransactionCommitEvent): void {
    if (!queryRunner.data[APPENDED]) return;
    queryRunner.data[APPENDED] = false;
    this.log.committed();
  }
}
