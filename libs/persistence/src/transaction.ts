import type { DataSource, EntityManager } from 'typeorm';

declare const inTransactionOnly: unique symbol;

/**
 * A connection with an open transaction, from {@link inTransaction}: everything written through it is committed together or not
 * at all. Functions that must not write without a transaction require this type.
 */
export type Transaction = EntityManager & { readonly [inTransactionOnly]: true };

/** Serialization failure and deadlock: the whole transaction may run again. */
const RUN_AGAIN = new Set<string | undefined>(['40001', '40P01']);
const CHECK_VIOLATION = '23514';
const RUNS_MAX = 4;

/**
 * Runs `work` in one transaction; runs it again, from the start, if PostgreSQL aborted it because of a deadlock or a
 * serialization failure, or attached a partition meanwhile. No network call belongs inside: a rollback cannot undo it.
 */
export async function inTransaction<T>(dataSource: DataSource, work: (tx: Transaction) => Promise<T>): Promise<T> {
  for (let run = 1; ; run++) {
    try {
      return await dataSource.transaction((tx) => work(tx as Transaction));
    } catch (error) {
      if (run === RUNS_MAX || !mayRunAgain(error)) throw error;
    }
  }
}

/** Whether PostgreSQL rolled back the transaction for a reason that a second run will not meet. */
export function mayRunAgain(error: unknown): boolean {
  return RUN_AGAIN.has(sqlState(error)) || isPartitionViolation(error);
}

/**
 * A row was routed to the default partition while another transaction attached the partition that the row belongs to. Unlike
 * a CHECK, a partition's constraint has no name.
 */
function isPartitionViolation(error: unknown): boolean {
  return sqlState(error) === CHECK_VIOLATION && constraintOf(error) === undefined;
}

/** SQLSTATE of an error of PostgreSQL, e.g. `23505`. */
export function sqlState(error: unknown): string | undefined {
  const { code } = driverErrorOf(error);
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (sqlState(error) !== '23505') return false;
  return constraint === undefined || constraintOf(error) === constraint;
}

function constraintOf(error: unknown): string | undefined {
  return driverErrorOf(error).constraint;
}

/**
 * TypeORM's QueryFailedError has the driver's error in `driverError`. Not recognised by its class: programs without a database
 * use these functions too, and would load TypeORM.
 */
function driverErrorOf(error: unknown): { readonly code?: unknown; readonly constraint?: string } {
  return (error as { driverError?: object } | null | undefined)?.driverError ?? error ?? {};
}

/**
 * Whether the database itself is unavailable (connection lost, shutting down, read-only since a failover, out of resources), so
 * that the work is not at fault. A statement timeout is not among these errors: the work may be at fault, and a consumer that
 * retried it would retry for ever.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return /^(08|53|57P|58)/.test(state) || state === READ_ONLY;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string' && /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_AGAIN)/.test(code)) return true;
  return typeof message === 'string' && LOST_CONNECTION.test(message);
}

/** The server or the session is read-only: it is a standby, or was made read-only before a failover. */
const READ_ONLY = '25006';

/**
 * Whether the connection that reported it is unusable: the server ends it, or it is read-only. Other connections of the pool, or
 * a new one, may reach a server that accepts writes.
 */
export function isConnectionUnusable(error: unknown): boolean {
  const state = sqlState(error) ?? '';
  return /^(08|57P)/.test(state) || state === READ_ONLY;
}

/** For a new connection to a read-only server, which no service can use. */
export function readOnlyError(): Error {
  return Object.assign(new Error('The database is read-only.'), { code: READ_ONLY });
}

/** Messages of pg and TypeORM without a connection; these errors have no code. */
const LOST_CONNECTION =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|Driver not Connected|Cannot use a pool after|is not queryable/i;

/** Whether the same work may succeed a moment later: the database is unavailable, or it aborted a conflict or a wait. */
export function mayWorkLater(error: unknown): boolean {
  const state = sqlState(error);
  return isDatabaseUnavailable(error) || RUN_AGAIN.has(state) || TIMED_OUT.has(state);
}

/** Statement timeout or cancellation, lock not available, and a transaction that exceeded its time limit. */
const TIMED_OUT = new Set<string | undefined>(['57014', '55P03', '25P03', '25P04']);

/**
 * An error's message without personal data, for the log. PostgreSQL repeats the rejected value in messages of class 22 ("invalid
 * input syntax for type bigint: …").
 */
export function loggableMessage(error: Error): string {
  const state = sqlState(error);
  return state?.startsWith('22') ? `PostgreSQL refused a value (SQLSTATE ${state})` : error.message;
}
