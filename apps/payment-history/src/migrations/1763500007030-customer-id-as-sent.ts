import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A customer's id may be any text and is returned as the partner sent it. `customer_id` is the canonical form of the
 * id. Payments are found and counted by the canonical form. Existing rows contain only lower-case UUIDs. The next
 * migration validates the existing rows: the validation takes long, and this migration locks the table until it
 * commits.
 */
export class CustomerIdAsSent1763500007030 implements MigrationInterface {
  readonly name = 'CustomerIdAsSent1763500007030';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE payments ADD COLUMN customer_id_as_sent text;
      ALTER TABLE payments
        ADD CONSTRAINT payments_customer_id_as_sent CHECK (length(customer_id_as_sent) BETWEEN 1 AND 100) NOT VALID;
      COMMENT ON COLUMN payments.customer_id IS 'Canonical id of the customer who paid: a UUID in lower case, or any other text unchanged.';
      COMMENT ON COLUMN payments.customer_id_as_sent IS
        'The customer id as the partner sent it. NULL if it equals customer_id.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
