import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Invoices1763500006000 implements MigrationInterface {
  readonly name = 'Invoices1763500006000';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE invoices (
        invoice_id         uuid        PRIMARY KEY,
        mode               text        NOT NULL CONSTRAINT invoices_mode CHECK (mode IN ('test', 'live')),
        merchant_id        bigint      NOT NULL,
        site_id            bigint      NOT NULL,
        site_reference     text        NOT NULL CONSTRAINT invoices_site_reference CHECK (length(site_reference) <= 100),
        external_reference text        CONSTRAINT invoices_external_reference CHECK (length(external_reference) <= 100),
        fingerprint        text        NOT NULL CONSTRAINT invoices_fingerprint CHECK (length(fingerprint) = 64),
        code               text        NOT NULL CONSTRAINT invoices_code CHECK (code ~ '^[0-9]{20}$'),
        amount             bigint      NOT NULL CONSTRAINT invoices_amount CHECK (amount BETWEEN 1 AND 100000000000),
        currency           text        NOT NULL CONSTRAINT invoices_currency CHECK (currency ~ '^[A-Z]{3}$'),
        line_items         jsonb       CONSTRAINT invoices_line_items CHECK (jsonb_array_length(line_items) <= 500),
        origin             text        NOT NULL CONSTRAINT invoices_origin CHECK (length(origin) <= 100),
        origin_reference   text        CONSTRAINT invoices_origin_reference CHECK (length(origin_reference) <= 100),
        created_utc_date   timestamptz NOT NULL,
        made_at            timestamptz NOT NULL,
        expires_at         timestamptz NOT NULL,
        payable_state      text        NOT NULL CONSTRAINT invoices_payable_state CHECK (payable_state IN ('open', 'reserved', 'paid', 'refused', 'closed')),
        payable_version    bigint      NOT NULL,
        closed_at          timestamptz,
        CONSTRAINT invoices_closed CHECK ((payable_state IN ('paid', 'refused', 'closed')) = (closed_at IS NOT NULL))
      );
      COMMENT ON TABLE invoices IS 'What tills ask to be paid (D6). Nothing of an invoice changes but the state of its payable, which payment-processor says.';
      COMMENT ON COLUMN invoices.invoice_id IS 'Its reference, and the id of its payable.';
      COMMENT ON COLUMN invoices.site_reference IS 'Point-of-sale till identifier.';
      COMMENT ON COLUMN invoices.fingerprint IS 'SHA-256 of the validated request: the same externalReference with another one replaces the invoice.';
      COMMENT ON COLUMN invoices.amount IS 'Cents.';
      COMMENT ON COLUMN invoices.created_utc_date IS 'When the till made it, as the till says.';
      COMMENT ON COLUMN invoices.made_at IS 'When it was made here; its lifetime counts from then.';
      CREATE UNIQUE INDEX invoices_by_code ON invoices (code);
      CREATE UNIQUE INDEX invoices_one_open ON invoices (site_id, mode, external_reference) WHERE payable_state IN ('open', 'reserved');
      COMMENT ON INDEX invoices_one_open IS 'An externalReference has at most one invoice at a site that is not over; it may be used again afterwards.';
      CREATE INDEX invoices_by_external_reference ON invoices (site_id, mode, external_reference, made_at, invoice_id);
      CREATE INDEX invoices_at_till ON invoices (site_id, mode, site_reference, expires_at) WHERE closed_at IS NULL;
      COMMENT ON INDEX invoices_at_till IS 'By expiry, so that the many that nobody paid are not read when a static code is scanned. Its predicate is another than that of invoices_one_open, so that neither is taken for the other''s look-up.';

      CREATE TABLE known_merchants (
        merchant_id bigint PRIMARY KEY,
        name        text   NOT NULL,
        features    jsonb  NOT NULL,
        version     bigint NOT NULL
      );
      COMMENT ON TABLE known_merchants IS 'What identity says of merchants and payers are shown. A read model: filled from events only.';

      CREATE TABLE till_codes (
        code           text        PRIMARY KEY CONSTRAINT till_codes_code CHECK (code ~ '^[0-9]{20}$'),
        mode           text        NOT NULL CONSTRAINT till_codes_mode CHECK (mode IN ('test', 'live')),
        merchant_id    bigint      NOT NULL,
        site_id        bigint      NOT NULL,
        site_reference text        NOT NULL CONSTRAINT till_codes_site_reference CHECK (length(site_reference) <= 100),
        made_at        timestamptz NOT NULL,
        CONSTRAINT till_codes_one_each UNIQUE (site_id, mode, site_reference)
      );
      COMMENT ON TABLE till_codes IS 'Static codes: each belongs to a till and means its newest open invoice (D5).';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
