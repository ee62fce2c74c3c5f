import type { EventEnvelope } from '@svc/contracts';
import { type NamedStatement, namedStatement } from '@svc/persistence';

/**
 * Maximum size of an event as JSON: four times the largest request (C6). The size is limited, because a relay holds a
 * batch of events in memory.
 */
export const MAX_EVENT_BYTES = 1024 * 1024;

const COLUMN_TYPES = {
  id: 'uuid',
  type: 'text',
  aggregate_id: 'text',
  aggregate_version: 'bigint',
  occurred_at: 'timestamptz',
  traceparent: 'text',
  payload: 'json',
};

/** The beginning of every INSERT of events. */
export const INSERT_EVENTS = `INSERT INTO event_log (${Object.keys(COLUMN_TYPES).join(', ')})`;

/** A FROM item: the parameter `$events` (see {@link eventRows}) as rows of the log. */
export const EVENTS = `json_to_recordset($events::json) AS event(${Object.entries(COLUMN_TYPES)
  .map(([column, type]) => `${column} ${type}`)
  .join(', ')})`;

/** The columns of the log for a SELECT from {@link EVENTS}. */
export function eventColumns(payload = 'event.payload'): string {
  return Object.keys(COLUMN_TYPES)
    .map((column) => (column === 'payload' ? payload : `event.${column}`))
    .join(', ');
}

/** Value of parameter `$events`. Throws when an event is over {@link MAX_EVENT_BYTES}. */
export function eventRows(envelopes: readonly EventEnvelope[]): string {
  const rows = envelopes.map((envelope) => JSON.stringify(toRow(envelope)));
  const tooLarge = rows.findIndex((row) => Buffer.byteLength(row) > MAX_EVENT_BYTES);
  if (tooLarge >= 0) throw new Error(`${envelopes[tooLarge]!.type} is over ${MAX_EVENT_BYTES} bytes.`);
  return `[${rows.join()}]`;
}

function toRow(envelope: EventEnvelope): Record<keyof typeof COLUMN_TYPES, unknown> {
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

/**
 * Writes rows and their events in one statement, for {@link EventLog.write}. Created by {@link statementWithEvents}.
 */
export interface StatementWithEvents extends NamedStatement {
  readonly writesEvents: true;
}

interface WritesWithEvents {
  /**
   * The items of the WITH clause that write the rows, with named parameters: `changed AS (UPDATE … RETURNING id), other
   * AS (…)`.
   */
  readonly writes: string;
  /** The name of the item whose rows have events. If it returns no rows, no events are written. */
  readonly changed: string;
  /** Column of `changed` with the aggregate id of the row's events. The whole statement fails if a row has no event. */
  readonly aggregateId: string;
  /** SQL that replaces `event.payload`, a json value. It may use columns of `event` and `changed`. */
  readonly payload?: string;
  /** Columns of `changed` that the statement returns beside `aggregateId`. */
  readonly returns?: string;
}

/**
 * Creates one statement, which needs one round trip, that writes rows (`writes`) and the events of each row of
 * `changed`. An event whose row was not changed is not written. The statement returns a row
 * `{ aggregateId, …returns }` for each row of `changed`.
 */
export function statementWithEvents(parts: WritesWithEvents): StatementWithEvents {
  const { writes, changed, payload, returns } = parts;
  const aggregateId = `${changed}.${parts.aggregateId}::text`;
  // With LEFT JOIN, a row without an event has null columns, which the event log rejects, so the statement fails. An
  // inner join would write the row without an event.
  const statement = namedStatement(`WITH ${writes}, logged AS (
         ${INSERT_EVENTS}
         SELECT ${eventColumns(payload)}
           FROM ${changed} LEFT JOIN ${EVENTS} ON event.aggregate_id = ${aggregateId}
       )
       SELECT ${[`${aggregateId} AS "aggregateId"`, ...(returns === undefined ? [] : [returns])].join(', ')} FROM ${changed}`);
  return { ...statement, writesEvents: true };
}
