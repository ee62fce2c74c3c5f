import type { MigrationInterface, QueryRunner } from 'typeorm';

export class TillCodes1763500003040 implements MigrationInterface {
  readonly name = 'TillCodes1763500003040';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE known_till_codes (
        code        text        PRIMARY KEY CONSTRAINT known_till_codes_code CHECK (code ~ '^[0-9]{20}$'),
        merchant_id bigint      NOT NULL,
        site_id     bigint      NOT NULL,
        amount      bigint      CONSTRAINT known_till_codes_amount CHECK (amount BETWEEN 1 AND 100000000000),
        currency    text        CONSTRAINT known_till_codes_currency CHECK (currency ~ '^[A-Z]{3}$'),
        expires_at  timestamptz,
        CONSTRAINT known_till_codes_invoice CHECK (num_nulls(amount, currency, expires_at) IN (0, 3))
      );
      COMMENT ON TABLE known_till_codes IS 'Read model of the codes of tills and their invoices (D5). A payer who opens a code with a camera gets a page that explains the code. Only events of code-decoder change the table.';
      COMMENT ON COLUMN known_till_codes.amount IS
        'Amount of the invoice in cents. NULL for the static code of a till.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
