import { DataSource, type EntityManager, QueryFailedError } from 'typeorm';

/** Serialization failure and deadlock: the whole transaction may simply be run again. */
const RUN_AGAIN = new Set(['40001', '40P01']);
const RUNS_MAX = 4;

/**
 * Runs `work` in one transaction; calls it again, from the start, when PostgreSQL gave up on a deadlock or a
 * serialization failure. No network call belongs inside: a rollback cannot take it back.
 */
export async function inTransaction<T>(dataSource: DataSource, work: (tx: EntityManager) => Promise<T>): Promise<T> {
  for (let run = 1; ; run++) {
    try {
      return await dataSource.transaction(work);
    } catch (error) {
      const state = sqlState(error);
      if (run === RUNS_MAX || state === undefined || !RUN_AGAIN.has(state)) throw error;
    }
  }
}

/** SQLSTATE of an error of PostgreSQL, e.g. `23505`. */
export function sqlState(error: unknown): string | undefined {
  const driverError: unknown = error instanceof QueryFailedError ? error.driverError : error;
  const code = (driverError as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (sqlState(error) !== '23505') return false;
  const driverError = error instanceof QueryFailedError ? error.driverError : error;
  return constraint === undefined || (driverError as { constraint?: string }).constraint === constraint;
}

/**
 * Whether the database itself is away or overloaded (connection lost, shutting down, out of resources), so that the
 * same work may succeed later and nothing can be concluded about the work.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return /^(08|53|57P|58)/.test(state) || RUN_AGAIN.has(state) || state === '57014';
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string' && /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET)/.test(code)) return true;
  return typeof message === 'string' && /Connection terminated|timeout exceeded when trying to connect|Driver not Connected|Cannot use a pool after/i.test(message);
}
