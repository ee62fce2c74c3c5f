import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';

/**
 * Added to the versions of unfinished payments, and first version of recorded payments. Other services keep the newest
 * version: a payment gets a version at each change, and no payment has a hundred changes.
 */
export const FIRST_NEW_VERSION = 1_000;

/** Payments without an outcome, when a restore of the database is found. */
@Injectable()
export class UnfinishedPaymentRepository {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Once for each restore: gives unfinished payments and their payables versions above all that were published and then
   * forgotten, so that other services accept the outcomes. Restarts the age of attempts, because an attempt that looks
   * old would be reversed, although the forgotten outcome may have been a success.
   */
  async prepare(restoreId: string): Promise<void> {
    const now = this.clock.now();
    await inTransaction(this.dataSource, async (tx) => {
      const inserted = await tx.query<unknown[]>(
        `INSERT INTO restore_repairs (restore_id, prepared_at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING restore_id`,
        [restoreId, now],
      );
      if (inserted.length === 0) return;
      await tx.query(
        `WITH payment AS (UPDATE payments SET version = version + ${FIRST_NEW_VERSION}
                           WHERE payment_id IN (${UNFINISHED_PAYMENTS}) RETURNING payable_id)
         UPDATE payables SET version = version + ${FIRST_NEW_VERSION} WHERE payable_id IN (SELECT payable_id FROM payment)`,
      );
      await tx.query(
        `UPDATE attempts SET started_at = $1, queries = 0, next_query_at = $1
          WHERE next_query_at IS NOT NULL AND state IN ('started', 'unknown')`,
        [now],
      );
    });
  }
}

/** By two partial indexes, of open attempts and of open verifications. */
const UNFINISHED_PAYMENTS = `
  SELECT payment_id FROM attempts WHERE next_query_at IS NOT NULL UNION SELECT payment_id FROM verifications WHERE open`;
