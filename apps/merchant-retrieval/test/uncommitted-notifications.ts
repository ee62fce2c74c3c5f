import type { EventEnvelope, PaymentSnapshot } from '@svc/contracts';
import { type OpenTransaction, openTransaction, waitUntil } from '@svc/testing';
import { NotificationRepository } from '../src/stream/notification.repository.js';
import type { Retrieval } from './retrieval.js';

/** Writes the notifications of events in a transaction. Returns the transaction without committing it. */
export async function insertWithoutCommit(
  { dataSource, clock }: Retrieval,
  events: readonly EventEnvelope<PaymentSnapshot>[],
): Promise<OpenTransaction> {
  const transaction = await openTransaction(dataSource);
  try {
    await new NotificationRepository(transaction as unknown as Retrieval['dataSource'], clock).insertNew(events);
  } catch (error) {
    await transaction[Symbol.asyncDispose]();
    throw error;
  }
  return transaction;
}

/** Resolves when a writer waits for a lock, or when `isOver` returns true. */
export function waitForBlockedWriter({ dataSource }: Retrieval, isOver: () => boolean): Promise<unknown> {
  return waitUntil('the second writer to wait', 10_000, async () => {
    const [row] = await dataSource.query<[{ waits: boolean }]>(
      `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock') AS waits`,
    );
    return row.waits || isOver();
  });
}
