import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ATTEMPTS } from './tables/attempts.js';
import { CARDS } from './tables/cards.js';
import { DISPUTES } from './tables/disputes.js';
import { LEDGER } from './tables/ledger.js';
import { PAYABLES, PAYMENTS } from './tables/payments.js';
import { READ_MODELS } from './tables/read-models.js';
import { RECONCILIATIONS } from './tables/reconciliations.js';
import { REFUNDS } from './tables/refunds.js';
import { RESTORES } from './tables/restores.js';
import { SETTLEMENT_LINES } from './tables/settlement-lines.js';
import { VELOCITY } from './tables/velocity.js';

/**
 * The tables of this service. The states and transitions are the same as in payable.ts, payment.ts, attempt.ts,
 * refund.ts and dispute.ts. Amounts are cents.
 */
export class Schema1763500001000 implements MigrationInterface {
  readonly name = 'Schema1763500001000';

  async up(db: QueryRunner): Promise<void> {
    for (const tables of [
      READ_MODELS,
      CARDS,
      PAYABLES,
      PAYMENTS,
      ATTEMPTS,
      REFUNDS,
      DISPUTES,
      SETTLEMENT_LINES,
      VELOCITY,
      RESTORES,
      LEDGER,
      RECONCILIATIONS,
    ])
      await db.query(tables);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
