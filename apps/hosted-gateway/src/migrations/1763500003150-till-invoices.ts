import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores the invoices of tills and their payments, so that payers can pay an invoice on its page. The invoices are in
 * the table of till codes. During an upgrade the previous release still inserts rows without the new columns, so these
 * columns may be NULL.
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
      COMMENT ON TABLE known_till_codes IS 'Read model of the codes of tills and their invoices (D5), which payers open with a camera. Filled from events only.';
      COMMENT ON COLUMN known_till_codes.invoice_reference IS 'Reference of the invoice, which is also the id of its payable. NULL for the static code of a till, and for invoices that an earlier release inserted.';
      COMMENT ON COLUMN known_till_codes.payable_state IS 'State that payment-processor last reported.';
      CREATE UNIQUE INDEX known_till_codes_by_invoice ON known_till_codes (invoice_reference);

      CREATE TABLE invoice_payments (
        payment_reference text        PRIMARY KEY,
        invoice_reference uuid        NOT NULL,
        snapshot          jsonb       NOT NULL,
        accepted_at       timestamptz NOT NULL,
        version           bigint      NOT NULL,
        reversed_at       timestamptz
      );
      COMMENT ON TABLE invoice_payments IS 'Read model of the payments of till invoices, for the page of the invoice. Filled from events and from the responses of payment-processor to pay commands of the page.';
      COMMENT ON COLUMN invoice_payments.snapshot IS 'The payment without the names of a partner''s customer, because the page must not show them.';
      CREATE INDEX invoice_payments_by_invoice ON invoice_payments (invoice_reference, accepted_at);

      CREATE TABLE known_merchants (
        merchant_id    bigint PRIMARY KEY,
        features       jsonb  NOT NULL,
        minimum_amount bigint NOT NULL CONSTRAINT known_merchants_minimum_amount CHECK (minimum_amount BETWEEN 1 AND 100000000000),
        version        bigint NOT NULL
      );
      COMMENT ON TABLE known_merchants IS 'Read model of the options that merchants offer to payers on the page of an invoice. Only events of identity change it.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
