import type { DataSource } from 'typeorm';

/** Messages of a service without an effect yet. */
export interface UnhandledCounts {
  readonly deadLetters: number;
  /** Events that wait for a lock or for an earlier event. */
  readonly deferred: number;
}

/** Counting ends at this number, so that a full table does not make the query slow. */
const MAX_COUNTED = 10_000;

/** Counts the dead letters and the deferred events of a service, for its metrics and for operators. */
export async function countUnhandled(dataSource: DataSource): Promise<UnhandledCounts> {
  const [counts] = await dataSource.query<[UnhandledCounts]>(
    `SELECT (SELECT count(*) FROM (SELECT 1 FROM dead_letters LIMIT ${MAX_COUNTED}) AS counted) AS "deadLetters",
            (SELECT count(*) FROM (SELECT 1 FROM deferred_events LIMIT ${MAX_COUNTED}) AS counted) AS deferred`,
  );
  return counts;
}
