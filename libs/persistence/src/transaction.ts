import type { DataSource, EntityManager } from 'typeorm';

declare const inTransactionOnly: unique symbol;

/**
 * A connection with an open transaction, from {@link inTransaction}. All writes through this connection are committed
 * together or not at all. Functions that must not write outside a transaction require this type.
 */
export type Transaction = EntityManager & { readonly [inTransactionOnly]: true };

/** Serialization failure and deadlock: the whole transaction can be retried. */
const RETRYABLE = new Set<string | undefined>(['40001', '40P01']);
const CHECK_VIOLATION = '23514';
const MAX_RUNS = 4;

/**
 * Runs `action` in one transaction. Repeats `action` from the beginning after a deadlock or a serialization failure, or
 * if a partition was attached meanwhile. `action` must not make network calls, because a rollback cannot undo them.
 */
export async function inTransaction<T>(dataSource: DataSource, action: (tx: Transaction) => Promise<T>): Promise<T> {
  for (let run = 1; ; run++) {
    try {
      return await dataSource.transaction((tx) => action(tx as Transaction));
    } catch (error) {
      if (run === MAX_RUNS || !isRetryableConflict(error)) throw error;
    }
  }
}

/** Whether PostgreSQL has rolled the transaction back for a temporary reason, so that a retry can succeed. */
export function isRetryableConflict(error: unknown): boolean {
  return RETRYABLE.has(sqlState(error)) || isPartitionViolation(error);
}

/**
 * Whether a row was routed to the default partition while another transaction attached the partition that the row
 * belongs to. The violated constraint then has no name. A CHECK constraint has a name.
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

export function isForeignKeyViolation(error: unknown, constraint: string): boolean {
  return sqlState(error) === '23503' && constraintOf(error) === constraint;
}

function constraintOf(error: unknown): string | undefined {
  return driverErrorOf(error).constraint;
}

/**
 * TypeORM's QueryFailedError has the driver's error in `driverError`. This function does not check the class of the
 * error, because programs without a database use these functions too and must not load TypeORM.
 */
function driverErrorOf(error: unknown): { readonly code?: unknown; readonly constraint?: string } {
  return (error as { driverError?: object } | null | undefined)?.driverError ?? error ?? {};
}

/**
 * Whether the database itself is unavailable: the connection was lost, or the database is shutting down, is read-only
 * since a failover, or has no free resources. Such an error does not depend on the statement. A statement timeout is
 * not included, because the statement itself may be the cause. A consumer that waited for the database to recover would
 * then wait for ever.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return /^(08|53|57P|58)/.test(state) || state === READ_ONLY;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string' && /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_AGAIN)/.test(code)) return true;
  return typeof message === 'string' && LOST_CONNECTION.test(message);
}

/**
 * SQLSTATE of a write on a read-only server or session. The server is a standby, or an operator made it read-only
 * before a failover.
 */
const READ_ONLY = '25006';

/**
 * Whether the connection is unusable, because the server terminates it or because it is read-only. Other connections of
 * the pool, or a new connection, may reach a writable server.
 */
export function isConnectionUnusable(error: unknown): boolean {
  const state = sqlState(error) ?? '';
  return /^(08|57P)/.test(state) || state === READ_ONLY;
}

/** The error for a new connection to a read-only server. */
export function readOnlyError(): Error {
  return Object.assign(new Error('The database is read-only.'), { code: READ_ONLY });
}

/** Messages of pg and TypeORM if there is no connection. These errors have no code. */
const LOST_CONNECTION =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Driver not Connected|Cannot use a pool after|is not queryable/i;

/** Whether a retry may succeed: the database is unavailable, or there was a conflict or a lock timeout. */
export function isTemporaryDatabaseError(error: unknown): boolean {
  const state = sqlState(error);
  return isDatabaseUnavailable(error) || RETRYABLE.has(state) || TIMED_OUT.has(state);
}

/** Statement timeout or cancellation, lock timeout, and transaction timeout. */
const TIMED_OUT = new Set<string | undefined>(['57014', '55P03', '25P03', '25P04']);

/**
 * An error's message without personal data, for logs and for columns that administrators read. Some libraries repeat
 * the refused value in their messages, and the value may be card data, a key or a payer's name. Such a message is replaced:
 * of PostgreSQL's class 22 ("invalid input syntax for type bigint: …"), of parsers (JSON.parse: "Unexpected token …"), and
 * of Node.js ("… Received …"). In other messages, a number that may be the number of a card or a code is masked.
 */
export function loggableMessage(error: Error): string {
  const state = sqlState(error);
  if (state?.startsWith('22')) return `PostgreSQL refused a value (SQLSTATE ${state})`;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && QUOTING_CODES.test(code)) return `Node.js refused a value (${code})`;
  if (error.name === 'SyntaxError') return 'A text cannot be parsed';
  return maskNumbers(error.message.replace(QUOTED_VALUE, '$1 …'));
}

/**
 * Masks each number that is as long as the number of a card (12 to 19 digits) or of a code (20 digits), with any
 * separators between its digits, and also next to letters. Keeps UUIDs and IPv4 addresses.
 */
export function maskNumbers(text: string): string {
  // `split` also returns the matches of the group, at the odd positions.
  return text
    .split(UUID_OR_ADDRESS)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(LONG_NUMBER, '[number]')))
    .join('');
}

/** The repetitions are limited, so that the search needs linear time and little memory for any text. */
const LONG_NUMBER = /\d(?:[^\p{L}\p{N}:]{0,3}\d){11,999}/gu;
const UUID = String.raw`[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}`;
const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|1?\d?\d)`;
const ADDRESS = String.raw`(?:${OCTET}\.){3}${OCTET}(?::\d{1,5})?`;
const UUID_OR_ADDRESS = new RegExp(String.raw`(?<![\p{L}\p{N}]\.?)(${UUID}|${ADDRESS})(?!\.?[\p{L}\p{N}])`, 'iu');

/** Codes of Node.js errors whose messages contain the refused value. */
const QUOTING_CODES = /^ERR_(?:INVALID_ARG|INVALID_URL|OUT_OF_RANGE|INVALID_RETURN|UNKNOWN_ENCODING)/;
/** The beginnings of messages of V8 and of fetch that end with the refused value. */
const QUOTED_VALUE = /^(Cannot use 'in' operator to search for|Cannot create property|Failed to parse URL from).*/s;
