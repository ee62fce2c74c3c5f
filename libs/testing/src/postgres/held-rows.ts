import type { DataSource } from 'typeorm';
import { waitUntil } from '../wait-until.js';

/** The locks of a transaction that stays open until `release` rolls it back. */
export interface HeldLocks {
  release(): Promise<void>;
}

/**
 * Runs `statement` in a transaction of another connection. The transaction holds its locks until `release` is called.
 */
export async function holdLocks(dataSource: DataSource, statement: string, values: unknown[] = []): Promise<HeldLocks> {
  const runner = dataSource.createQueryRunner();
  await runner.startTransaction();
  // The transaction may be idle for long on a busy machine.
  await runner.query('SET LOCAL idle_in_transaction_session_timeout = 0');
  await runner.query(statement, values);
  return {
    release: async () => {
      await runner.rollbackTransaction();
      await runner.release();
    },
  };
}

/** Waits until exactly `count` backends wait for a lock, and returns their process ids. */
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
