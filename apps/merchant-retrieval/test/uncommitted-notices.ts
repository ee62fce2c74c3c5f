import type { EventEnvelope, PaymentSnapshot } from '@svc/contracts';
import { waitUntil } from '@svc/testing';
import { NoticeRepository } from '../src/stream/notice.repository.js';
import type { Retrieval } from './retrieval.js';

/** Writes the notices of events in a transaction that stays open until `commit` is called. */
export async function insertWithoutCommit(
  { dataSource, clock }: Retrieval,
  events: readonly EventEnvelope<PaymentSnapshot>[],
): Promise<{ readonly commit: () => Promise<void> }> {
  const runner = dataSource.createQueryRunner();
  await runner.startTransaction();
  const inTransaction = { query: runner.query.bind(runner) } as unknown as Retrieval['dataSource'];
  await new NoticeRepository(inTransaction, clock).insertNew(events);
  return {
    commit: async () => {
      await runner.commitTransaction();
      await runner.release();
    },
  };
}

/** Resolves when a writer waits for a lock, or when `isOver` returns true. */
export function waitForBlockedWriter({ dataSource }: Retrieval, isOver: () => boolean = () => false): Promise<unknown> {
  return waitUntil('the second writer to wait', 10_000, async () => {
    const [row] = await dataSource.query<[{ waits: boolean }]>(
      `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock') AS waits`,
    );
    return row.waits || isOver();
  });
}
