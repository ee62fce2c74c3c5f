import { context, propagation } from '@opentelemetry/api';
import type { EventEnvelope, EventType } from '@svc/contracts';
import { type Clock, newUuid } from '@svc/kernel';
import type { Transaction } from '@svc/persistence';
import type { DataSource, EntitySubscriberInterface, TransactionCommitEvent, TransactionRollbackEvent } from 'typeorm';

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
  /** Called with the events of {@link appendAndPublish} after they have been committed. */
  publishDirectly: (events: readonly EventEnvelope[]) => void = () => undefined;

  constructor(
    dataSource: DataSource,
    private readonly clock: Clock,
  ) {
    dataSource.subscribers.push(new WakeAfterCommit(this));
  }

  /** Throws when `tx` is no longer open, or when an event is over {@link EVENT_BYTES_MAX}. */
  async append(tx: Transaction, ...events: NewEvent[]): Promise<void> {
    await this.insert(tx, this.envelopes(events));
  }

  /**
   * For what must not wait for the relay, such as a revocation: these events are also published directly, as soon as the
   * transaction has committed. The relay publishes them again, under the same ids, so consumers apply them once.
   */
  async appendAndPublish(tx: Transaction, ...events: NewEvent[]): Promise<void> {
    const envelopes = this.envelopes(events);
    await this.insert(tx, envelopes);
    ((tx.queryRunner!.data[DIRECT] ??= []) as EventEnvelope[]).push(...envelopes);
  }

  /**
   * For the hot paths, where row and event are one statement: the FROM item that turns parameter `placeholder` into
   * rows of the log, and the value of that parameter: `INSERT INTO event_log ${columns} SELECT event.* FROM …, ${rows}`.
   * Call `committed` afterwards.
   */
  statement(placeholder: string, events: NewEvent[]): EventStatement {
    return this.statementOf(placeholder, this.envelopes(events));
  }

  /** As {@link statement}, for events that their callers made with {@link envelope}: each is of the trace of its own call. */
  statementOf(placeholder: string, envelopes: readonly EventEnvelope[]): EventStatement {
    return {
      columns: COLUMNS,
      rows: RECORDSET(placeholder),
      parameter: rowsOf(envelopes),
      committed: () => this.onCommitted([...new Set(envelopes.map(({ type }) => type))]),
    };
  }

  private async insert(tx: Transaction, envelopes: readonly EventEnvelope[]): Promise<void> {
    if (envelopes.length === 0) return;
    markAppended(tx, envelopes);
    await tx.query(`INSERT INTO event_log ${COLUMNS} SELECT ${COLUMNS.slice(1, -1)} FROM ${RECORDSET('$1')}`, [
      rowsOf(envelopes),
    ]);
  }

  private envelopes(events: readonly NewEvent[]): EventEnvelope[] {
    return events.map((event) => this.envelope(event));
  }

  /** The event with its id, time and trace, not yet in the log. */
  envelope(event: NewEvent): EventEnvelope {
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

function rowsOf(envelopes: readonly EventEnvelope[]): string {
  const rows = envelopes.map((envelope) => JSON.stringify(asRow(envelope)));
  const tooLarge = rows.findIndex((row) => Buffer.byteLength(row) > EVENT_BYTES_MAX);
  if (tooLarge >= 0) throw new Error(`${envelopes[tooLarge]!.type} is over ${EVENT_BYTES_MAX} bytes.`);
  return `[${rows.join()}]`;
}

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
const DIRECT = 'svc.messaging.direct';

function markAppended(tx: Transaction, events: readonly EventEnvelope[]): void {
  if (!tx.queryRunner?.isTransactionActive)
    throw new Error('Events are appended inside the transaction of the change they speak of.');
  const appended = (tx.queryRunner.data[APPENDED] ??= []) as string[];
  appended.push(...events.map(({ type }) => type));
}

class WakeAfterCommit implements EntitySubscriberInterface {
  constructor(private readonly log: EventLog) {}

  afterTransactionCommit({ queryRunner }: TransactionCommitEvent): void {
    // A savepoint's release is announced like a commit; the events are visible after the outermost one only.
    const appended = queryRunner.data[APPENDED] as string[] | undefined;
    if (!appended || queryRunner.isTransactionActive) return;
    const direct = queryRunner.data[DIRECT] as EventEnvelope[] | undefined;
    queryRunner.data[APPENDED] = undefined;
    queryRunner.data[DIRECT] = undefined;
    this.log.onCommitted(appended);
    if (direct) this.log.publishDirectly(direct);
  }

  /** Also of a savepoint: what it took back must not be published, so the relay alone publishes what is left. */
  afterTransactionRollback({ queryRunner }: TransactionRollbackEvent): void {
    queryRunner.data[DIRECT] = undefined;
  }
}
