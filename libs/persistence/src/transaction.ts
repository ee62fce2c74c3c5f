import type { DataSource, EntityManager } from 'typeorm';

declare const inTransactionOnly: unique symbol;

/**
 * A connection whose transaction is open, as {@link inTransaction} gives it: what is written through it is committed together
 * or not at all. What must not be written without one asks for this type.
 */
export type Transaction = EntityManager & { readonly [inTransactionOnly]: true };

/** Serialization failure and deadlock: the whole transaction may simply be run again. */
const RUN_AGAIN = new Set<string | undefined>(['40001', '40P01']);
const CHECK_VIOLATION = '23514';
const RUNS_MAX = 4;

/**
 * Runs `work` in one transaction; calls it again, from the start, when PostgreSQL gave up on a deadlock or a
 * serialization failure, or attached a partition meanwhile. No network call belongs inside: a rollback cannot take it
 * back.
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

/** Whether PostgreSQL has rolled the transaction back for a reason that is gone when it is run again. */
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
 * TypeORM's QueryFailedError has the driver's error in `driverError`. Not recognised by its class: a program without a database
 * uses these functions as well, and would load TypeORM for them.
 */
function driverErrorOf(error: unknown): { readonly code?: unknown; readonly constraint?: string } {
  return (error as { driverError?: object } | null | undefined)?.driverError ?? error ?? {};
}

/**
 * Whether the database itself is unavailable (connection lost, shutting down, read-only since a failover, out of
 * resources), so that nothing can be concluded about the work. A statement that ran too long is not among them: it may be the work that is at fault, and
 * a consumer that waited for better times would wait for ever.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return /^(08|53|57P|58)/.test(state) || state === READ_ONLY;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string' && /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_AGAIN)/.test(code)) return true;
  return typeof message === 'string' && LOST_CONNECTION.test(message);
}

/** The server, or the session, refuses to write: it is a standby, or was made read-only before a failover. */
const READ_ONLY = '25006';

/**
 * Whether the connection that reported it is of no more use: the server ends it, or it only reads. Other connections of
 * the pool, or a new one, may reach a server that writes.
 */
export function isConnectionUnusable(error: unknown): boolean {
  const state = sqlState(error) ?? '';
  return /^(08|57P)/.test(state) || state === READ_ONLY;
}

/** For a connection that was just made to a server that only reads: nothing of ours works there. */
export function readOnlyError(): Error {
  return Object.assign(new Error('The database is read-only.'), { code: READ_ONLY });
}

/** What pg and TypeORM say when there is no connection; they give these errors no code. */
const LOST_CONNECTION =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|Driver not Connected|Cannot use a pool after|is not queryable/i;

/** Whether the same work may well succeed a moment later: the database is away, or it gave up on a conflict or a wait. */
export function mayWorkLater(error: unknown): boolean {
  const state = sqlState(error);
  return isDatabaseUnavailable(error) || RUN_AGAIN.has(state) || TIMED_OUT.has(state);
}

/** Statement timeout or cancellation, a lock that was not to be had, and a transaction that PostgreSQL ended for its age. */
const TIMED_OUT = new Set<string | undefined>(['57014', '55P03', '25P03', '25P04']);

/**
 * An error's message as it may be written down. PostgreSQL repeats the refused value in messages of class 22 ("invalid
 * input syntax for type bigint: …"), and values are people's data.
 */
export function loggableMessage(error: Error): string {
  const state = sqlState(error);
  return state?.startsWith('22') ? `PostgreSQL refused a value (SQLSTATE ${state})` : error.message;
}
