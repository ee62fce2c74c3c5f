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
      COMMENT ON TABLE invoices IS 'Invoices that tills create (D6). After the creation, only the state of the payable changes. payment-processor reports this state.';
      COMMENT ON COLUMN invoices.invoice_id IS 'Reference of the invoice. The payable of the invoice has the same id.';
      COMMENT ON COLUMN invoices.site_reference IS 'Identifier of the till (point of sale).';
      COMMENT ON COLUMN invoices.fingerprint IS 'SHA-256 of the validated request. A request with the same externalReference and another fingerprint replaces the invoice.';
      COMMENT ON COLUMN invoices.amount IS 'Cents.';
      COMMENT ON COLUMN invoices.created_utc_date IS 'Creation time according to the till.';
      COMMENT ON COLUMN invoices.made_at IS
        'Creation time according to this service. The lifetime of the invoice starts at this time.';
      CREATE UNIQUE INDEX invoices_by_code ON invoices (code);
      CREATE UNIQUE INDEX invoices_one_open ON invoices (site_id, mode, external_reference) WHERE payable_state IN ('open', 'reserved');
      COMMENT ON INDEX invoices_one_open IS 'A site has at most one open or reserved invoice for each externalReference. After that invoice ends, the externalReference can be used again.';
      CREATE INDEX invoices_by_external_reference ON invoices (site_id, mode, external_reference, made_at, invoice_id);
      CREATE INDEX invoices_at_till ON invoices (site_id, mode, site_reference, expires_at) WHERE closed_at IS NULL;
      COMMENT ON INDEX invoices_at_till IS 'Contains expires_at, so that the look-up of a static code skips expired unpaid invoices. The predicate differs from that of invoices_one_open on purpose: with one predicate, the planner could use the index of the other look-up.';

      CREATE TABLE known_merchants (
        merchant_id bigint PRIMARY KEY,
        name        text   NOT NULL,
        features    jsonb  NOT NULL,
        version     bigint NOT NULL
      );
      COMMENT ON TABLE known_merchants IS 'Read model of the merchant data that payers see. Only events of identity change it.';

      CREATE TABLE till_codes (
        code           text        PRIMARY KEY CONSTRAINT till_codes_code CHECK (code ~ '^[0-9]{20}$'),
        mode           text        NOT NULL CONSTRAINT till_codes_mode CHECK (mode IN ('test', 'live')),
        merchant_id    bigint      NOT NULL,
        site_id        bigint      NOT NULL,
        site_reference text        NOT NULL CONSTRAINT till_codes_site_reference CHECK (length(site_reference) <= 100),
        made_at        timestamptz NOT NULL,
        CONSTRAINT till_codes_one_each UNIQUE (site_id, mode, site_reference)
      );
      COMMENT ON TABLE till_codes IS
        'Static codes of tills. A payer who scans a static code gets the newest open invoice of the till (D5).';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
