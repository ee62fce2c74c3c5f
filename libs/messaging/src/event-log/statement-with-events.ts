import type { EventEnvelope } from '@svc/contracts';
import { type NamedStatement, namedStatement } from '@svc/persistence';

/** Largest event as JSON: four times the largest request (C6). A relay holds a batch of them in memory. */
export const EVENT_BYTES_MAX = 1024 * 1024;

const TYPES = {
  id: 'uuid',
  type: 'text',
  aggregate_id: 'text',
  aggregate_version: 'bigint',
  occurred_at: 'timestamptz',
  traceparent: 'text',
  payload: 'jsonb',
};

/** What every INSERT of events begins with. */
export const INSERT_EVENTS = `INSERT INTO event_log (${Object.keys(TYPES).join(', ')})`;

/** A FROM item: parameter `$events`, which {@link eventRows} makes, as rows of the log. */
export const EVENTS = `jsonb_to_recordset($events::jsonb) AS event(${Object.entries(TYPES)
  .map(([column, type]) => `${column} ${type}`)
  .join(', ')})`;

/** The columns of the log for a SELECT from {@link EVENTS}. */
export function eventColumns(payload = 'event.payload'): string {
  return Object.keys(TYPES)
    .map((column) => (column === 'payload' ? payload : `event.${column}`))
    .join(', ');
}

/** Value of parameter `$events`. Throws when an event is over {@link EVENT_BYTES_MAX}. */
export function eventRows(envelopes: readonly EventEnvelope[]): string {
  const rows = envelopes.map((envelope) => JSON.stringify(asRow(envelope)));
  const tooLarge = rows.findIndex((row) => Buffer.byteLength(row) > EVENT_BYTES_MAX);
  if (tooLarge >= 0) throw new Error(`${envelopes[tooLarge]!.type} is over ${EVENT_BYTES_MAX} bytes.`);
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
  /** What is written instead of `event.payload`, from columns of `event` and `changed`. */
  readonly payload?: string;
  /** What the statement returns of each row of `changed`, beside `aggregateId`. */
  readonly returns?: string;
}

/**
 * One statement, one round trip: `writes`, and the events of each row of `changed`. An event whose row was not changed is not
 * written. Its rows are `{ aggregateId, …returns }` of `changed`.
 */
export function statementWithEvents(parts: WritesWithEvents): StatementWithEvents {
  const { writes, changed, payload, returns } = parts;
  const aggregateId = `${changed}.${parts.aggregateId}::text`;
  // LEFT: where the event is missing its columns are null, which the log refuses. The row would be written without it.
  const statement = namedStatement(`WITH ${writes}, logged AS (
         ${INSERT_EVENTS}
         SELECT ${eventColumns(payload)}
           FROM ${changed} LEFT JOIN ${EVENTS} ON event.aggregate_id = ${aggregateId}
       )
       SELECT ${[`${aggregateId} AS "aggregateId"`, ...(returns === undefined ? [] : [returns])].join(', ')} FROM ${changed}`);
  return { ...statement, writesEvents: true };
}
