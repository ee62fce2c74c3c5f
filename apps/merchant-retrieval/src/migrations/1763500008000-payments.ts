import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The read model of merchants' payments. The service creates and drops its partitions (payment-partitions.ts). */
export class Payments1763500008000 implements MigrationInterface {
  readonly name = 'Payments1763500008000';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE payments (
        generation         integer     NOT NULL,
        payment_reference  text        COLLATE "C" NOT NULL CONSTRAINT payments_payment_reference CHECK (payment_reference ~ '^[0-9A-HJKMNP-TV-Z]{18}$'),
        payment_utc_date   timestamptz NOT NULL,
        version            bigint      NOT NULL CONSTRAINT payments_version CHECK (version > 0),
        merchant_id        bigint      NOT NULL,
        site_id            bigint      NOT NULL,
        mode               text        NOT NULL CONSTRAINT payments_mode CHECK (mode IN ('test', 'live')),
        status             smallint    NOT NULL CONSTRAINT payments_status CHECK (status IN (1, 2)),
        invoice_reference  text        NOT NULL CONSTRAINT payments_invoice_reference CHECK (length(invoice_reference) <= 100),
        external_reference text        NOT NULL CONSTRAINT payments_external_reference CHECK (length(external_reference) <= 100),
        currency           text        NOT NULL CONSTRAINT payments_currency CHECK (currency ~ '^[A-Z]{3}$'),
        invoiced_amount    bigint      NOT NULL CONSTRAINT payments_invoiced_amount CHECK (invoiced_amount BETWEEN 0 AND 100000000000),
        tip_amount         bigint      NOT NULL CONSTRAINT payments_tip_amount CHECK (tip_amount BETWEEN 0 AND 100000000000),
        tendered_amount    bigint      NOT NULL CONSTRAINT payments_tendered_amount CHECK (tendered_amount BETWEEN 0 AND 200000000000),
        site_reference     text        CONSTRAINT payments_site_reference CHECK (length(site_reference) BETWEEN 1 AND 100),
        vouchers           jsonb       NOT NULL,
        first_name         text        NOT NULL CONSTRAINT payments_first_name CHECK (length(first_name) <= 100),
        last_name          text        NOT NULL CONSTRAINT payments_last_name CHECK (length(last_name) <= 100),
        PRIMARY KEY (generation, payment_reference, payment_utc_date)
      ) PARTITION BY RANGE (payment_utc_date);
      COMMENT ON TABLE payments IS 'Final payments of merchants (M1), by month of payment_utc_date. A read model: filled from events of payment-processor only.';
      COMMENT ON COLUMN payments.payment_utc_date IS 'When the payment was accepted; it never changes, so a payment has one row in each generation.';
      COMMENT ON COLUMN payments.version IS 'Of the newest event of the payment; an older one changes nothing.';
      COMMENT ON COLUMN payments.invoice_reference IS 'Of a hosted payment its session; empty where there is none.';
      COMMENT ON COLUMN payments.external_reference IS 'The merchant''s own reference; empty where there is none.';
      COMMENT ON COLUMN payments.invoiced_amount IS 'Cents, as the other amounts.';
      COMMENT ON COLUMN payments.site_reference IS 'Till when it was paid; NULL for a payment of an earlier release, whose event does not have it.';
      CREATE INDEX payments_of_invoice ON payments (generation, merchant_id, mode, invoice_reference, payment_utc_date, payment_reference);
      CREATE INDEX payments_of_external_reference ON payments (generation, merchant_id, mode, external_reference, payment_utc_date, payment_reference);
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
