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
      COMMENT ON TABLE payments IS 'Read model of the final payments of merchants (M1), partitioned by month of payment_utc_date. Only events of payment-processor change it.';
      COMMENT ON COLUMN payments.payment_utc_date IS 'When the payment was accepted. It never changes, so a payment has exactly one row in each generation.';
      COMMENT ON COLUMN payments.version IS 'Version of the newest event of the payment. Older events change nothing.';
      COMMENT ON COLUMN payments.invoice_reference IS
        'Reference of the invoice, or session id of a hosted payment. Empty if there is none.';
      COMMENT ON COLUMN payments.external_reference IS 'The merchant''s own reference. Empty if there is none.';
      COMMENT ON COLUMN payments.invoiced_amount IS 'Cents, like all amounts of this table.';
      COMMENT ON COLUMN payments.site_reference IS 'Reference of the till at the time of the payment. NULL if the event is from an earlier release, which did not include it.';
      CREATE INDEX payments_of_invoice ON payments (generation, merchant_id, mode, invoice_reference, payment_utc_date, payment_reference);
      CREATE INDEX payments_of_external_reference ON payments (generation, merchant_id, mode, external_reference, payment_utc_date, payment_reference);
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
