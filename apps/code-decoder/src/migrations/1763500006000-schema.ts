import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Invoices of tills and payment requests with the requests that created them, the static codes of tills, and the codes of hosted sessions. */
export class Schema1763500006000 implements MigrationInterface {
  readonly name = 'Schema1763500006000';

  async up(db: QueryRunner): Promise<void> {
    await db.query(INVOICES);
    await db.query(INVOICE_REQUESTS);
    await db.query(TILL_CODES);
    await db.query(SESSION_CODES);
    await db.query(MERCHANTS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}

const INVOICES = `
  CREATE TABLE invoices (
    invoice_id          uuid        PRIMARY KEY,
    mode                text        NOT NULL CONSTRAINT invoices_mode CHECK (mode IN ('test', 'live')),
    merchant_id         bigint      NOT NULL,
    site_id             bigint      NOT NULL,
    site_reference      text        NOT NULL CONSTRAINT invoices_site_reference CHECK (length(site_reference) <= 100),
    external_reference  text        CONSTRAINT invoices_external_reference CHECK (length(external_reference) <= 100),
    invoice_fingerprint text        NOT NULL CONSTRAINT invoices_invoice_fingerprint CHECK (length(invoice_fingerprint) = 64),
    code                text        NOT NULL CONSTRAINT invoices_code CHECK (code ~ '^[0-9]{20}$'),
    amount              bigint      NOT NULL CONSTRAINT invoices_amount CHECK (amount BETWEEN 1 AND 100000000000),
    currency            text        NOT NULL CONSTRAINT invoices_currency CHECK (currency ~ '^[A-Z]{3}$'),
    line_items          jsonb       CONSTRAINT invoices_line_items CHECK (jsonb_array_length(line_items) <= 500),
    origin              text        NOT NULL CONSTRAINT invoices_origin CHECK (length(origin) <= 100),
    origin_reference    text        CONSTRAINT invoices_origin_reference CHECK (length(origin_reference) <= 100),
    created_utc_date    timestamptz NOT NULL,
    created_at          timestamptz NOT NULL,
    expires_at          timestamptz NOT NULL,
    payable_state       text        NOT NULL CONSTRAINT invoices_payable_state CHECK (payable_state IN ('open', 'reserved', 'paid', 'refused', 'closed')),
    payable_version     bigint      NOT NULL,
    closed_at           timestamptz,
    requested_by        uuid,
    cancelled_by        uuid,
    CONSTRAINT invoices_lifetime CHECK (expires_at - created_at <= interval '768 hours'),
    CONSTRAINT invoices_cancelled CHECK (cancelled_by IS NULL OR (payable_state = 'closed' AND requested_by IS NOT NULL)),
    CONSTRAINT invoices_closed CHECK ((payable_state IN ('paid', 'refused', 'closed')) = (closed_at IS NOT NULL))
  );
  COMMENT ON TABLE invoices IS 'Invoices that tills create (D6), and payment requests (D7). After the creation, only the state of the payable changes. payment-processor reports this state.';
  COMMENT ON COLUMN invoices.invoice_id IS 'Reference of the invoice. The payable of the invoice has the same id.';
  COMMENT ON COLUMN invoices.site_reference IS 'Identifier of the till (point of sale).';
  COMMENT ON COLUMN invoices.invoice_fingerprint IS 'SHA-256 of the validated request with its date. A request with the same externalReference and another fingerprint replaces the invoice.';
  COMMENT ON COLUMN invoices.amount IS 'Cents.';
  COMMENT ON COLUMN invoices.created_utc_date IS 'Creation time according to the till.';
  COMMENT ON COLUMN invoices.created_at IS 'Creation time according to this service. The lifetime of the invoice starts at this time.';
  COMMENT ON COLUMN invoices.requested_by IS 'The person of the merchant who requested the payment in the console (D7). NULL for the invoice of a till.';
  COMMENT ON COLUMN invoices.cancelled_by IS 'The person who cancelled the payment request.';
  CREATE UNIQUE INDEX invoices_by_code ON invoices (code);
  CREATE UNIQUE INDEX invoices_one_open ON invoices (site_id, mode, external_reference) WHERE payable_state IN ('open', 'reserved');
  COMMENT ON INDEX invoices_one_open IS 'A site has at most one open or reserved invoice for each externalReference. After that invoice ends, the externalReference can be used again.';
  CREATE INDEX invoices_by_external_reference ON invoices (site_id, mode, external_reference, created_at, invoice_id);
  CREATE INDEX invoices_at_till ON invoices (site_id, mode, site_reference, expires_at) WHERE closed_at IS NULL AND requested_by IS NULL;
  COMMENT ON INDEX invoices_at_till IS 'Contains expires_at, so that the look-up of a static code skips expired unpaid invoices. The predicate differs from that of invoices_one_open on purpose: with one predicate, the planner could use the index of the other look-up.';
`;

const INVOICE_REQUESTS = `
  CREATE TABLE invoice_requests (
    merchant_id         bigint      NOT NULL,
    site_id             bigint      NOT NULL,
    mode                text        NOT NULL CONSTRAINT invoice_requests_mode CHECK (mode IN ('test', 'live')),
    request_id          text        NOT NULL CONSTRAINT invoice_requests_request_id CHECK (request_id ~ '^(body:[0-9a-f]{64}|key:.{1,100})$'),
    request_fingerprint text        NOT NULL CONSTRAINT invoice_requests_request_fingerprint CHECK (length(request_fingerprint) = 64),
    invoice_id          uuid        NOT NULL CONSTRAINT invoice_requests_invoice REFERENCES invoices,
    created_at          timestamptz NOT NULL,
    PRIMARY KEY (merchant_id, site_id, mode, request_id)
  );
  COMMENT ON TABLE invoice_requests IS 'Requests that created an invoice, so that a repeated request creates no second invoice (D6). Rows are deleted after 72 hours.';
  COMMENT ON COLUMN invoice_requests.request_id IS 'The Idempotency-Key, or the SHA-256 of the body if it has an externalReference.';
  COMMENT ON COLUMN invoice_requests.request_fingerprint IS 'SHA-256 of the validated request without its date. A request with the same Idempotency-Key must have the same fingerprint.';
  CREATE INDEX invoice_requests_by_time ON invoice_requests (created_at);
`;

const TILL_CODES = `
  CREATE TABLE till_codes (
    code           text        PRIMARY KEY CONSTRAINT till_codes_code CHECK (code ~ '^[0-9]{20}$'),
    mode           text        NOT NULL CONSTRAINT till_codes_mode CHECK (mode IN ('test', 'live')),
    merchant_id    bigint      NOT NULL,
    site_id        bigint      NOT NULL,
    site_reference text        NOT NULL CONSTRAINT till_codes_site_reference CHECK (length(site_reference) <= 100),
    created_at     timestamptz NOT NULL,
    CONSTRAINT till_codes_one_each UNIQUE (site_id, mode, site_reference)
  );
  COMMENT ON TABLE till_codes IS 'Static codes of tills. A payer who scans a static code gets the newest open invoice of the till (D5).';
`;

/**
 * The first event inserts the row, because the events of the two services arrive in any order. The fillfactor reserves
 * space on each page for new versions of its rows, so that updates need not write indexes (HOT updates).
 */
const SESSION_CODES = `
  CREATE TABLE session_codes (
    session_id        uuid        PRIMARY KEY,
    code              text        CONSTRAINT session_codes_code CHECK (code ~ '^[0-9]{20}$'),
    mode              text        CONSTRAINT session_codes_mode CHECK (mode IN ('test', 'live')),
    merchant_id       bigint,
    site_id           bigint,
    merchant_order_id text        CONSTRAINT session_codes_merchant_order_id CHECK (length(merchant_order_id) BETWEEN 1 AND 100),
    amount            bigint      CONSTRAINT session_codes_amount CHECK (amount BETWEEN 1 AND 100000000000),
    currency          text        CONSTRAINT session_codes_currency CHECK (currency ~ '^[A-Z]{3}$'),
    created_at        timestamptz,
    expires_at        timestamptz,
    closed_at         timestamptz,
    CONSTRAINT session_codes_halves CHECK (num_nulls(code, mode, merchant_id, site_id, merchant_order_id, amount, currency, created_at, expires_at)
                                           = CASE WHEN code IS NULL THEN 9 ELSE 0 END),
    CONSTRAINT session_codes_known CHECK (code IS NOT NULL OR closed_at IS NOT NULL)
  ) WITH (fillfactor = 65);
  COMMENT ON TABLE session_codes IS 'Read model of the codes of hosted sessions (D5). hosted-gateway reports the session, and payment-processor reports the end of the session. These events arrive in any order.';
  COMMENT ON COLUMN session_codes.merchant_order_id IS 'The merchant''s order reference.';
  COMMENT ON COLUMN session_codes.amount IS 'Cents.';
  COMMENT ON COLUMN session_codes.closed_at IS 'When the payable was paid, refused or closed. These states are final.';
  CREATE UNIQUE INDEX session_codes_by_code ON session_codes (code);
`;

const MERCHANTS = `
  CREATE TABLE known_merchants (
    merchant_id bigint PRIMARY KEY,
    name        text   NOT NULL,
    features    jsonb  NOT NULL,
    version     bigint NOT NULL
  );
  COMMENT ON TABLE known_merchants IS 'Read model of the merchant data that payers see. Only events of identity change it.';
`;
