import type { Transaction } from '@svc/persistence';
import type { DataSource } from 'typeorm';
import { waitUntil } from '../wait-until.js';

/**
 * A transaction on its own connection, for `await using`. It is rolled back at the end of its scope, unless it was
 * committed. Otherwise the transaction of a failed test would keep its locks.
 */
export interface OpenTransaction extends AsyncDisposable {
  readonly manager: Transaction;
  query<T>(statement: string, values?: unknown[]): Promise<T>;
  commit(): Promise<void>;
}

/** Opens a transaction, which stays open until it is committed or its scope ends. */
export async function openTransaction(dataSource: DataSource): Promise<OpenTransaction> {
  const runner = dataSource.createQueryRunner();
  await runner.startTransaction();
  // The transaction may be idle for long on a busy machine.
  await runner.query('SET LOCAL idle_in_transaction_session_timeout = 0');
  return {
    manager: runner.manager as Transaction,
    query: <T>(statement: string, values?: unknown[]) => runner.query(statement, values) as Promise<T>,
    commit: async () => {
      await runner.commitTransaction();
      await runner.release();
    },
    [Symbol.asyncDispose]: async () => {
      if (runner.isReleased) return;
      try {
        await runner.rollbackTransaction();
      } finally {
        await runner.release();
      }
    },
  };
}

/** The locks of a transaction, for `await using`. The transaction is rolled back by `release` or at the end of its scope. */
export interface HeldLocks extends AsyncDisposable {
  release(): Promise<void>;
}

/** Runs `statement` in a transaction on its own connection. The transaction keeps its locks until they are released. */
export async function holdLocks(dataSource: DataSource, statement: string, values: unknown[] = []): Promise<HeldLocks> {
  const transaction = await openTransaction(dataSource);
  const release = async () => {
    await transaction[Symbol.asyncDispose]();
  };
  try {
    await transaction.query(statement, values);
  } catch (error) {
    await release();
    throw error;
  }
  return { release, [Symbol.asyncDispose]: release };
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
