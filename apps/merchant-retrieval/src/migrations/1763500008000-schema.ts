import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The read model of merchants' payments (M1), and the notifications of the streams of sites (M6). */
export class Schema1763500008000 implements MigrationInterface {
  readonly name = 'Schema1763500008000';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`${PAYMENTS} ${NOTIFICATIONS}`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}

const PAYMENTS = `
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
        site_reference     text        NOT NULL CONSTRAINT payments_site_reference CHECK (length(site_reference) <= 100),
        vouchers           jsonb       NOT NULL,
        first_name         text        NOT NULL CONSTRAINT payments_first_name CHECK (length(first_name) <= 100),
        last_name          text        NOT NULL CONSTRAINT payments_last_name CHECK (length(last_name) <= 100),
        PRIMARY KEY (generation, payment_reference, payment_utc_date)
      ) PARTITION BY RANGE (payment_utc_date);
      COMMENT ON TABLE payments IS 'Read model of the final payments of merchants (M1), partitioned by month of payment_utc_date. Only events of payment-processor change it. The service creates and drops its partitions (payment-partitions.ts).';
      COMMENT ON COLUMN payments.payment_utc_date IS 'When the payment was accepted. It never changes, so a payment has exactly one row in each generation.';
      COMMENT ON COLUMN payments.version IS 'Version of the newest event of the payment. Older events change nothing.';
      COMMENT ON COLUMN payments.invoice_reference IS 'Reference of the invoice, or session id of a hosted payment.';
      COMMENT ON COLUMN payments.external_reference IS 'The merchant''s own reference. Empty if there is none.';
      COMMENT ON COLUMN payments.invoiced_amount IS 'Cents, like all amounts of this table.';
      COMMENT ON COLUMN payments.site_reference IS 'Reference of the till at the time of the payment. Empty if payment-processor did not know the site yet.';
      CREATE INDEX payments_of_invoice ON payments (generation, merchant_id, mode, invoice_reference, payment_utc_date, payment_reference);
      CREATE INDEX payments_of_external_reference ON payments (generation, merchant_id, mode, external_reference, payment_utc_date, payment_reference, site_id);
      COMMENT ON INDEX payments_of_external_reference IS 'For the look-up and the search by the merchant''s reference (M2, M9). site_id comes last: the search of a site reads only index entries of other sites.';
      -- For the reconciliation, which compares the payments of a day.
      CREATE INDEX payments_by_date ON payments USING brin (payment_utc_date) WITH (pages_per_range = 32, autosummarize = on);

      CREATE FUNCTION drop_payments_partition(partition text) RETURNS void
      LANGUAGE plpgsql AS $$
      BEGIN
        IF NOT EXISTS (SELECT FROM pg_inherits
                        WHERE inhparent = 'payments'::regclass AND inhrelid = to_regclass(quote_ident(partition))) THEN
          RAISE EXCEPTION '% is not a partition of payments', partition USING ERRCODE = 'insufficient_privilege';
        END IF;
        EXECUTE format('DROP TABLE %I', partition);
      END $$;
      COMMENT ON FUNCTION drop_payments_partition IS 'Only the owner of a table may drop the table (ADR 45). This function lets the service drop partitions of payments, but no other table.';
      SELECT run_as_owner('drop_payments_partition(text)');`;

const NOTIFICATIONS = `
      CREATE TABLE notifications (
        notification_id uuid        PRIMARY KEY,
        merchant_id     bigint      NOT NULL,
        site_id         bigint      NOT NULL,
        mode            text        NOT NULL CONSTRAINT notifications_mode CHECK (mode IN ('test', 'live')),
        position        bigint      NOT NULL CONSTRAINT notifications_position CHECK (position > 0),
        type            text        NOT NULL CONSTRAINT notifications_type CHECK (type IN ('payment', 'refund', 'dispute')),
        body            text        NOT NULL CONSTRAINT notifications_body CHECK (octet_length(body) BETWEEN 2 AND 1048576),
        kept_since      timestamptz NOT NULL,
        CONSTRAINT notifications_by_position UNIQUE (merchant_id, site_id, mode, position)
      );
      COMMENT ON TABLE notifications IS 'Final payments, refunds and changes of disputes of each site, as the stream of the site sends them (M6). Deleted after some days.';
      COMMENT ON COLUMN notifications.notification_id IS 'Derived from the payment, or the id of the refund or of the change of a dispute, so an event that is delivered again inserts nothing.';
      COMMENT ON COLUMN notifications.position IS 'Increases within a site and mode, in commit order. Gaps are possible.';
      COMMENT ON COLUMN notifications.body IS 'JSON text. The stream sends it unchanged.';
      CREATE INDEX notifications_kept_since ON notifications (kept_since);

      CREATE TABLE notification_positions (
        merchant_id bigint NOT NULL,
        site_id     bigint NOT NULL,
        mode        text   NOT NULL CONSTRAINT notification_positions_mode CHECK (mode IN ('test', 'live')),
        newest      bigint NOT NULL,
        removed     bigint NOT NULL DEFAULT 0,
        PRIMARY KEY (merchant_id, site_id, mode),
        CONSTRAINT notification_positions_order CHECK (removed BETWEEN 0 AND newest)
      ) WITH (fillfactor = 50);
      COMMENT ON TABLE notification_positions IS 'Newest position of each site and mode. A transaction that inserts notifications locks this row until it commits, so positions become visible in order.';
      COMMENT ON COLUMN notification_positions.newest IS 'Last position that was assigned.';
      COMMENT ON COLUMN notification_positions.removed IS 'Notifications up to this position were deleted. A reader that has not read them cannot resume.';

      CREATE FUNCTION notification_json(body text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
      DECLARE json jsonb;
      BEGIN
        json := body::jsonb;
        RETURN CASE jsonb_typeof(json) WHEN 'object' THEN json ELSE jsonb_build_object('body', body) END;
      EXCEPTION WHEN data_exception THEN
        RETURN jsonb_build_object('body', body);
      END $$;
      COMMENT ON FUNCTION notification_json IS 'Parses the body of a notification for the reconciliation. If it is not a JSON object, returns an object that contains the text.';`;
