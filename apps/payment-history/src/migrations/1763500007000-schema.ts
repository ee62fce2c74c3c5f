import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The read model of partners' payments. */
export class Schema1763500007000 implements MigrationInterface {
  readonly name = 'Schema1763500007000';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE payments (
        generation         integer     NOT NULL,
        payment_reference  text        NOT NULL CONSTRAINT payments_payment_reference CHECK (payment_reference ~ '^[0-9A-HJKMNP-TV-Z]{18}$'),
        version            bigint      NOT NULL CONSTRAINT payments_version CHECK (version > 0),
        organisation_id    uuid        NOT NULL,
        mode               text        NOT NULL CONSTRAINT payments_mode CHECK (mode IN ('test', 'live')),
        customer_key       text        NOT NULL CONSTRAINT payments_customer_key CHECK (length(customer_key) BETWEEN 1 AND 100),
        customer_id        text        NOT NULL CONSTRAINT payments_customer_id CHECK (length(customer_id) BETWEEN 1 AND 100),
        payment_utc_date   timestamptz NOT NULL,
        reference          text        COLLATE "C" NOT NULL CONSTRAINT payments_reference CHECK (length(reference) BETWEEN 1 AND 100),
        merchant_id        bigint      NOT NULL,
        state              text        NOT NULL CONSTRAINT payments_state CHECK (state IN ('processing', 'success', 'failed', 'verificationRequired')),
        modified_utc_date  timestamptz NOT NULL,
        invoice_reference  text        CONSTRAINT payments_invoice_reference CHECK (length(invoice_reference) <= 100),
        invoice_external_reference text CONSTRAINT payments_invoice_external_reference CHECK (length(invoice_external_reference) <= 100),
        merchant_name      text        NOT NULL CONSTRAINT payments_merchant_name CHECK (length(merchant_name) BETWEEN 1 AND 100),
        site_reference     text        NOT NULL CONSTRAINT payments_site_reference CHECK (length(site_reference) <= 100),
        currency           text        NOT NULL CONSTRAINT payments_currency CHECK (currency ~ '^[A-Z]{3}$'),
        invoiced_amount    bigint      NOT NULL CONSTRAINT payments_invoiced_amount CHECK (invoiced_amount BETWEEN 0 AND 100000000000),
        amount             bigint      NOT NULL CONSTRAINT payments_amount CHECK (amount BETWEEN 0 AND 100000000000),
        tip_amount         bigint      NOT NULL CONSTRAINT payments_tip_amount CHECK (tip_amount BETWEEN 0 AND 100000000000),
        processed_amount   bigint      NOT NULL CONSTRAINT payments_processed_amount CHECK (processed_amount BETWEEN 0 AND 200000000000),
        method_type        text        NOT NULL CONSTRAINT payments_method_type CHECK (method_type IN ('Card', 'External', 'Voucher')),
        method_label       text        NOT NULL CONSTRAINT payments_method_label CHECK (length(method_label) BETWEEN 1 AND 100),
        verification_url   text        CONSTRAINT payments_verification_url CHECK (length(verification_url) <= 2048),
        first_name         text        NOT NULL CONSTRAINT payments_first_name CHECK (length(first_name) BETWEEN 0 AND 100),
        last_name          text        NOT NULL CONSTRAINT payments_last_name CHECK (length(last_name) BETWEEN 0 AND 100),
        errors             jsonb       NOT NULL,
        PRIMARY KEY (generation, payment_reference)
        -- Leaves space for updated rows on each page. With this space, an update changes no index (HOT).
      ) WITH (fillfactor = 65);
      COMMENT ON TABLE payments IS 'Read model of the payments that were made with tokens of organisations (P5). Only events of payment-processor change it.';
      COMMENT ON COLUMN payments.version IS 'Version of the newest event of the payment. Older events change nothing.';
      COMMENT ON COLUMN payments.customer_key IS 'Canonical id of the customer who paid: a UUID in lower case, or any other text unchanged. Payments are found and counted by this id.';
      COMMENT ON COLUMN payments.customer_id IS 'The customer id as the partner sent it.';
      COMMENT ON COLUMN payments.payment_utc_date IS 'When the payment was accepted. The date, the owner and the reference must never change, because payment_counts would become wrong.';
      COMMENT ON COLUMN payments.reference IS 'Reference of the payment from the client, unchanged.';
      COMMENT ON COLUMN payments.amount IS 'Cents, like all amounts of this table. The tip is not included.';
      CREATE INDEX payments_of_organisation ON payments (generation, organisation_id, mode, payment_utc_date, reference);
      CREATE INDEX payments_of_customer ON payments (generation, organisation_id, mode, customer_key, payment_utc_date, reference);
      -- For the reconciliation, which compares the payments of a day.
      CREATE INDEX payments_of_day ON payments USING brin (payment_utc_date) WITH (pages_per_range = 32, autosummarize = on);

      CREATE TABLE payment_counts (
        generation      integer  NOT NULL,
        organisation_id uuid     NOT NULL,
        mode            text     NOT NULL,
        customer_key    text     NOT NULL,
        level           smallint NOT NULL CONSTRAINT payment_counts_level CHECK (level BETWEEN 1 AND 4),
        bucket          bigint   NOT NULL,
        payments        bigint   NOT NULL CONSTRAINT payment_counts_payments CHECK (payments > 0),
        PRIMARY KEY (generation, organisation_id, mode, customer_key, level, bucket)
      ) WITH (fillfactor = 70);
      COMMENT ON TABLE payment_counts IS 'Number of payments of an owner in each time interval. With these counts, a query finds a late page without reading the earlier rows.';
      COMMENT ON COLUMN payment_counts.customer_key IS 'Empty: all customers of the organisation together.';
      COMMENT ON COLUMN payment_counts.level IS 'An interval of level n is 64^n seconds long: about a minute, an hour, three days or half a year.';
      COMMENT ON COLUMN payment_counts.bucket IS 'Number of the interval: seconds since 1970 divided by the interval length, rounded down.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
