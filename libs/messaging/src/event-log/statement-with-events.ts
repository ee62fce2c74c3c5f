import type { EventEnvelope } from '@svc/contracts';
import { type NamedStatement, namedStatement } from '@svc/persistence';

/** Largest event as JSON: four times the largest request (C6). A relay holds a batch of them in memory. */
export const MAX_EVENT_BYTES = 1024 * 1024;

const TYPES = {
  id: 'uuid',
  type: 'text',
  aggregate_id: 'text',
  aggregate_version: 'bigint',
  occurred_at: 'timestamptz',
  traceparent: 'text',
  payload: 'jsonb',
};

/** The beginning of every INSERT of events. */
export const INSERT_EVENTS = `INSERT INTO event_log (${Object.keys(TYPES).join(', ')})`;

/** A FROM item: the parameter `$events` (see {@link eventRows}) as rows of the log. */
export const EVENTS = `jsonb_to_recordset($events::jsonb) AS event(${Object.entries(TYPES)
  .map(([column, type]) => `${column} ${type}`)
  .join(', ')})`;

/** The columns of the log for a SELECT from {@link EVENTS}. */
export function eventColumns(payload = 'event.payload'): string {
  return Object.keys(TYPES)
    .map((column) => (column === 'payload' ? payload : `event.${column}`))
    .join(', ');
}

/** Value of parameter `$events`. Throws when an event is over {@link MAX_EVENT_BYTES}. */
export function eventRows(envelopes: readonly EventEnvelope[]): string {
  const rows = envelopes.map((envelope) => JSON.stringify(asRow(envelope)));
  const tooLarge = rows.findIndex((row) => Buffer.byteLength(row) > MAX_EVENT_BYTES);
  if (tooLarge >= 0) throw new Error(`${envelopes[tooLarge]!.type} is over ${MAX_EVENT_BYTES} bytes.`);
  return `[${rows.join()}]`;
}

function asRow(envelope: EventEnvelope): Record<keyof typeof TYPES, unknown> {
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

/** Rows and their events in one statement, for {@link EventLog.write}. Made by {@link statementWithEvents}. */
export interface StatementWithEvents extends NamedStatement {
  readonly writesEvents: true;
}

export interface WritesWithEvents {
  /** The items of the WITH clause that write the rows, with named parameters: `changed AS (UPDATE … RETURNING id), other AS (…)`. */
  readonly writes: string;
  /** The item whose rows have the events. It is empty when the statement must change nothing. */
  readonly changed: string;
  /** Column of `changed`: the aggregate of the row's events. A row without an event fails the whole statement. */
  readonly aggregateId: string;
  /** Replaces `event.payload`; may use columns of `event` and `changed`. */
  readonly payload?: string;
  /** Columns of `changed` that the statement returns beside `aggregateId`. */
  readonly returns?: string;
}

/**
 * One statement, one round trip: `writes`, and the events of each row of `changed`. An event whose row was not changed is not
 * written. Its rows are `{ aggregateId, …returns }` of `changed`.
 */
export function statementWithEvents(parts: WritesWithEvents): StatementWithEvents {
  const { writes, changed, payload, returns } = parts;
  const aggregateId = `${changed}.${parts.aggregateId}::text`;
  // LEFT JOIN: without its event, a row has null columns, which the log rejects. Otherwise the row would be written without it.
  const statement = namedStatement(`WITH ${writes}, logged AS (
         ${INSERT_EVENTS}
         SELECT ${eventColumns(payload)}
           FROM ${changed} LEFT JOIN ${EVENTS} ON event.aggregate_id = ${aggregateId}
       )
       SELECT ${[`${aggregateId} AS "aggregateId"`, ...(returns === undefined ? [] : [returns])].join(', ')} FROM ${changed}`);
  return { ...statement, writesEvents: true };
}
