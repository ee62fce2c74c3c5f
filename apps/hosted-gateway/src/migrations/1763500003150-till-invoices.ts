import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Data for paying a till's invoice on the payer's page, and its payments. The columns are added to the table of its code. During an
 * upgrade the previous release still inserts rows there, without these columns.
 */
export class TillInvoices1763500003150 implements MigrationInterface {
  readonly name = 'TillInvoices1763500003150';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE known_till_codes
        ADD COLUMN invoice_reference  uuid,
        ADD COLUMN mode               text   CONSTRAINT known_till_codes_mode CHECK (mode IN ('test', 'live')),
        ADD COLUMN site_reference     text   CONSTRAINT known_till_codes_site_reference CHECK (length(site_reference) <= 100),
        ADD COLUMN external_reference text   CONSTRAINT known_till_codes_external_reference CHECK (length(external_reference) <= 100),
        ADD COLUMN line_items         jsonb  CONSTRAINT known_till_codes_line_items CHECK (jsonb_array_length(line_items) <= 500),
        ADD COLUMN tries_max          int    CONSTRAINT known_till_codes_tries_max CHECK (tries_max BETWEEN 1 AND 100),
        ADD COLUMN payable_state      text   CONSTRAINT known_till_codes_payable_state CHECK (payable_state IN ('open', 'reserved', 'paid', 'refused', 'closed')),
        ADD COLUMN payable_version    bigint CONSTRAINT known_till_codes_payable_version CHECK (payable_version > 0),
        ADD COLUMN tries              int    CONSTRAINT known_till_codes_tries CHECK (tries BETWEEN 0 AND 100),
        ADD CONSTRAINT known_till_codes_payable CHECK (num_nulls(invoice_reference, mode, site_reference, tries_max, payable_state, payable_version, tries) IN (0, 7)),
        SET (fillfactor = 70);
      COMMENT ON TABLE known_till_codes IS 'Codes of tills and their invoices (D5), which payers open with a camera. A read model: filled from events only.';
      COMMENT ON COLUMN known_till_codes.invoice_reference IS 'Of an invoice, also the id of its payable; NULL for the static code of a till, and for an invoice that an earlier release kept.';
      COMMENT ON COLUMN known_till_codes.payable_state IS 'What payment-processor last said.';
      CREATE UNIQUE INDEX known_till_codes_by_invoice ON known_till_codes (invoice_reference);

      CREATE TABLE invoice_payments (
        payment_reference text        PRIMARY KEY,
        invoice_reference uuid        NOT NULL,
        snapshot          jsonb       NOT NULL,
        accepted_at       timestamptz NOT NULL,
        version           bigint      NOT NULL,
        reversed_at       timestamptz
      );
      COMMENT ON TABLE invoice_payments IS 'Payments of the invoices of tills, for the payer''s page. A read model: filled from events, and from the answers to its own presses of Pay.';
      COMMENT ON COLUMN invoice_payments.snapshot IS 'Without the names of a partner''s customer: the page shows them to nobody.';
      CREATE INDEX invoice_payments_by_invoice ON invoice_payments (invoice_reference, accepted_at);

      CREATE TABLE known_merchants (
        merchant_id    bigint PRIMARY KEY,
        features       jsonb  NOT NULL,
        minimum_amount bigint NOT NULL CONSTRAINT known_merchants_minimum_amount CHECK (minimum_amount BETWEEN 1 AND 100000000000),
        version        bigint NOT NULL
      );
      COMMENT ON TABLE known_merchants IS 'What merchants let payers choose on the page of an invoice. A read model: filled from events of identity only.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
