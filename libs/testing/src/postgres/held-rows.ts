import type { DataSource } from 'typeorm';
import { waitUntil } from '../wait-until.js';

/** A transaction of another process that blocks statements until it is rolled back. */
export interface HeldLocks {
  release(): Promise<void>;
}

/** Runs `statement` in such a transaction, and keeps its locks. */
export async function holdLocks(dataSource: DataSource, statement: string, values: unknown[] = []): Promise<HeldLocks> {
  const other = dataSource.createQueryRunner();
  await other.startTransaction();
  // As long as a busy machine needs.
  await other.query('SET LOCAL idle_in_transaction_session_timeout = 0');
  await other.query(statement, values);
  return {
    release: async () => {
      await other.rollbackTransaction();
      await other.release();
    },
  };
}

/** Returns the backends that wait for a lock, when there are `count` of them. */
export function waitForBlockedBackends(dataSource: DataSource, count: number): Promise<number[]> {
  return waitUntil(`${count} statements to wait for a lock`, 10_000, async () => {
    const waiting = await dataSource.query<{ pid: number }[]>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return waiting.length === count && waiting.map(({ pid }) => pid);
  });
}

/** Terminates the backend of the only statement that waits for a lock, and returns when it is gone. */
export async function terminateBlockedBackend(dataSource: DataSource): Promise<void> {
  const [pid] = await waitForBlockedBackends(dataSource, 1);
  await dataSource.query(`SELECT pg_terminate_backend($1, 10000)`, [pid]);
}
