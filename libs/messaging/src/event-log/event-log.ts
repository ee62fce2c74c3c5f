import { context, propagation } from '@opentelemetry/api';
import type { EventEnvelope, EventType } from '@svc/contracts';
import { type Clock, newUuid } from '@svc/kernel';
import { type NamedParameters, namedStatement, type Transaction } from '@svc/persistence';
import {
  DataSource,
  type EntitySubscriberInterface,
  type TransactionCommitEvent,
  type TransactionRollbackEvent,
} from 'typeorm';
import { eventColumns, eventRows, EVENTS, INSERT_EVENTS, type StatementWithEvents } from './statement-with-events.js';

export interface NewEvent<Payload = unknown> {
  readonly type: EventType<Payload>;
  readonly aggregateId: string;
  /** Begins at 1 and is incremented with each change, in the same transaction. */
  readonly aggregateVersion: number;
  readonly payload: Payload;
}

/**
 * The append-only log of a service's events, which is its outbox. `append` requires the transaction of the state
 * change, so that the change and its events are committed together or not at all. The {@link Relay} publishes the log
 * after the commit.
 */
export class EventLog {
  /** Called after events of these types have been committed. `startService` sets it: it wakes the relay. */
  onCommitted: (types: readonly string[]) => void = () => undefined;
  /** Called with the events of {@link appendAndPublish} after they have been committed. Also set by `startService`. */
  publishDirectly: (events: readonly EventEnvelope[]) => void = () => undefined;

  constructor(
    dataSource: DataSource,
    private readonly clock: Clock,
  ) {
    dataSource.subscribers.push(new WakeAfterCommit(this));
  }

  /** Throws when `tx` is no longer open, or when an event is larger than {@link MAX_EVENT_BYTES}. */
  async append(tx: Transaction, ...events: NewEvent[]): Promise<void> {
    await this.insert(tx, this.newEnvelopes(events));
  }

  /**
   * Appends events that must not wait for the relay, such as a revocation. They are also published directly after the
   * commit. The relay publishes them again, with the same ids, so consumers apply them once.
   */
  async appendAndPublish(tx: Transaction, ...events: NewEvent[]): Promise<void> {
    const envelopes = this.newEnvelopes(events);
    await this.insert(tx, envelopes);
    ((tx.queryRunner!.data[DIRECT] ??= []) as EventEnvelope[]).push(...envelopes);
  }

  /**
   * Writes rows and their events in one statement, for frequent operations. If events were written, wakes the relay
   * when they are committed: after the statement, or after the commit if `connection` is a transaction.
   */
  async write<Row extends object>(
    connection: DataSource | Transaction,
    statement: StatementWithEvents,
    parameters: NamedParameters,
    envelopes: readonly EventEnvelope[],
  ): Promise<(Row & { readonly aggregateId: string })[]> {
    const tx = connection instanceof DataSource ? undefined : connection;
    if (tx) assertOpen(tx);
    const values = statement.valuesOf({ ...parameters, events: eventRows(envelopes) });
    const rows = await connection.query<(Row & { aggregateId: string })[]>(statement.text, values);
    const changed = new Set(rows.map(({ aggregateId }) => aggregateId));
    const writtenEvents = envelopes.filter(({ aggregateId }) => changed.has(aggregateId));
    if (tx) markAppended(tx, writtenEvents);
    else if (writtenEvents.length > 0) this.onCommitted(typesOf(writtenEvents));
    return rows;
  }

  private async insert(tx: Transaction, envelopes: readonly EventEnvelope[]): Promise<void> {
    if (envelopes.length === 0) return;
    assertOpen(tx);
    await tx.query(APPEND.text, APPEND.valuesOf({ events: eventRows(envelopes) }));
    markAppended(tx, envelopes);
  }

  private newEnvelopes(events: readonly NewEvent[]): EventEnvelope[] {
    return events.map((event) => this.newEnvelope(event));
  }

  /** Returns the event with an id, a time and the current trace. Does not write it to the log. */
  newEnvelope(event: NewEvent): EventEnvelope {
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

const APPEND = namedStatement(`${INSERT_EVENTS} SELECT ${eventColumns()} FROM ${EVENTS}`);

/** Keys of `queryRunner.data`: the types of the appended events, and the events to publish directly. */
const APPENDED = 'svc.messaging.appended';
const DIRECT = 'svc.messaging.direct';

function assertOpen(tx: Transaction): void {
  if (!tx.queryRunner?.isTransactionActive)
    throw new Error('Events must be appended inside the transaction of their change.');
}

function markAppended(tx: Transaction, events: readonly EventEnvelope[]): void {
  if (events.length > 0) ((tx.queryRunner!.data[APPENDED] ??= []) as string[]).push(...typesOf(events));
}

function typesOf(events: readonly EventEnvelope[]): string[] {
  return [...new Set(events.map(({ type }) => type))];
}

class WakeAfterCommit implements EntitySubscriberInterface {
  constructor(private readonly log: EventLog) {}

  afterTransactionCommit({ queryRunner }: TransactionCommitEvent): void {
    // TypeORM also calls this method when a savepoint is released, but the events are visible only after the commit of
    // the transaction.
    const appended = queryRunner.data[APPENDED] as string[] | undefined;
    if (!appended || queryRunner.isTransactionActive) return;
    const direct = queryRunner.data[DIRECT] as EventEnvelope[] | undefined;
    queryRunner.data[APPENDED] = undefined;
    queryRunner.data[DIRECT] = undefined;
    this.log.onCommitted(appended);
    if (direct) this.log.publishDirectly(direct);
  }

  /**
   * TypeORM also calls this method after a rollback to a savepoint. The events that were appended after the savepoint
   * must not be published. Therefore no event is published directly, and the relay publishes the remaining events.
   */
  afterTransactionRollback({ queryRunner }: TransactionRollbackEvent): void {
    queryRunner.data[DIRECT] = undefined;
  }
}
