import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Hosted sessions and the copies of their payments, with the notification feed; the invoices of tills and the copies of
 * their payments; the read models that creating a session and rendering a page need; the challenges of pages; and the looks of
 * merchants.
 */
export class Schema1763500003000 implements MigrationInterface {
  readonly name = 'Schema1763500003000';

  async up(db: QueryRunner): Promise<void> {
    await db.query(SESSIONS);
    await db.query(HOSTED_PAYMENTS);
    await db.query(NOTIFICATION_FEED);
    await db.query(TILLS);
    await db.query(INVOICE_PAYMENTS);
    await db.query(READ_MODELS);
    await db.query(CHALLENGES);
    await db.query(LOOKS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}

/**
 * Each check is only one comparison, because PostgreSQL prepares all checks for every written row (about 20 µs), and a
 * session is written three times. The fillfactor reserves space on each database page for the next version of its rows,
 * so that updates need not write indexes (HOT updates).
 */
const SESSIONS = `
  CREATE TABLE sessions (
    session_id        uuid        PRIMARY KEY,
    code              text        NOT NULL CONSTRAINT sessions_code CHECK (code ~ '^[0-9]{20}$'),
    mode              text        NOT NULL CONSTRAINT sessions_mode CHECK (mode IN ('test', 'live')),
    merchant_id       bigint      NOT NULL,
    site_id           bigint      NOT NULL,
    merchant_name     text        NOT NULL CONSTRAINT sessions_merchant_name CHECK (length(merchant_name) <= 100),
    api_version       text        NOT NULL CONSTRAINT sessions_api_version CHECK (api_version IN ('v3', 'v3.1')),
    request_id        text        NOT NULL CONSTRAINT sessions_request_id CHECK (length(request_id) <= 100),
    fingerprint       text        NOT NULL CONSTRAINT sessions_fingerprint CHECK (length(fingerprint) = 64),
    merchant_order_id text        NOT NULL CONSTRAINT sessions_merchant_order_id CHECK (length(merchant_order_id) <= 100),
    amount            bigint      NOT NULL CONSTRAINT sessions_amount CHECK (amount BETWEEN 1 AND 100000000000),
    currency          text        NOT NULL CONSTRAINT sessions_currency CHECK (currency ~ '^[A-Z]{3}$'),
    notification_url  text        NOT NULL CONSTRAINT sessions_notification_url CHECK (length(notification_url) <= 2048),
    return_url        text        NOT NULL CONSTRAINT sessions_return_url CHECK (length(return_url) <= 2048),
    cancel_url        text        NOT NULL CONSTRAINT sessions_cancel_url CHECK (length(cancel_url) <= 2048),
    origin            text        NOT NULL CONSTRAINT sessions_origin CHECK (length(origin) <= 2048),
    site_name         text        CONSTRAINT sessions_site_name CHECK (length(site_name) <= 100),
    custom_fields     jsonb       NOT NULL CONSTRAINT sessions_custom_fields CHECK (pg_column_size(custom_fields) <= 65536),
    basket            jsonb       CONSTRAINT sessions_basket CHECK (pg_column_size(basket) <= 393216),
    locale            text        CONSTRAINT sessions_locale CHECK (locale ~ '^[A-Za-z0-9-]{2,35}$'),
    created_at        timestamptz NOT NULL,
    expires_at        timestamptz NOT NULL,
    extended          boolean     NOT NULL,
    payable_state     text        NOT NULL CONSTRAINT sessions_payable_state CHECK (payable_state IN ('open', 'reserved', 'paid', 'refused', 'closed')),
    payable_version   bigint      NOT NULL CONSTRAINT sessions_payable_version CHECK (payable_version > 0),
    payment_count     int         NOT NULL CONSTRAINT sessions_payment_count CHECK (payment_count BETWEEN 0 AND 100),
    traceparent       text        CONSTRAINT sessions_traceparent CHECK (length(traceparent) <= 100),
    CONSTRAINT sessions_idempotency UNIQUE (site_id, mode, api_version, request_id)
  ) WITH (fillfactor = 50);
  CREATE UNIQUE INDEX sessions_by_code ON sessions (code);
  COMMENT ON COLUMN sessions.code IS 'Digits of the code of the session (D5). A phone that scans the code opens the session.';
  COMMENT ON COLUMN sessions.fingerprint IS 'SHA-256 of the validated request. The same requestId with another fingerprint is rejected (C7).';
  COMMENT ON COLUMN sessions.amount IS 'Cents.';
  COMMENT ON COLUMN sessions.basket IS 'Line items, delivery and tax that the page and the receipt show (H9). NULL if the merchant sent none, or some that break a rule.';
  COMMENT ON COLUMN sessions.locale IS 'Language of the payment page (BCP 47), chosen by the merchant (H7). If it is NULL, the language of the payer''s browser is used.';
  COMMENT ON COLUMN sessions.extended IS 'Whether the payer has extended the session (H2). A payer can do so once. expires_at contains the later time.';
  COMMENT ON COLUMN sessions.payable_state IS 'State that payment-processor last reported. session.ts derives the session state from it.';
  COMMENT ON COLUMN sessions.payment_count IS 'Number of payments started so far.';
  COMMENT ON COLUMN sessions.traceparent IS 'Trace of the request that created the session. The payments of the session belong to this trace.';
`;

const HOSTED_PAYMENTS = `
  CREATE TABLE hosted_payments (
    payment_reference text        PRIMARY KEY,
    session_id        uuid        NOT NULL,
    snapshot          json        NOT NULL,
    accepted_at       timestamptz NOT NULL,
    version           bigint      NOT NULL,
    reversed_at       timestamptz,
    feed_txid         xid8,
    feed_position     bigint,
    CONSTRAINT hosted_payments_feed CHECK ((feed_txid IS NULL) = (feed_position IS NULL))
  );
  CREATE INDEX hosted_payments_by_session ON hosted_payments (session_id, accepted_at);
  CREATE INDEX hosted_payments_by_date ON hosted_payments USING brin (accepted_at) WITH (pages_per_range = 32, autosummarize = on);
  COMMENT ON INDEX hosted_payments_by_date IS 'For reconciliation, which reads the payments of a day.';
  COMMENT ON TABLE hosted_payments IS 'Read model of the payments of hosted sessions, filled from events.';
  COMMENT ON COLUMN hosted_payments.snapshot IS 'The payment without the members that the row of the session contains and no reader needs. As json it is smaller than as jsonb.';
  COMMENT ON COLUMN hosted_payments.reversed_at IS 'When the acquirer reversed a late charge of this payment (H2). NULL after a failed capture. The state of the payment does not change.';
  COMMENT ON COLUMN hosted_payments.feed_txid IS 'Transaction that stored the final state of the payment in this table. It is the position of the payment in the notification feed. NULL before the final state.';
  COMMENT ON COLUMN hosted_payments.feed_position IS 'Order of the payments that have the same feed_txid.';
`;

const NOTIFICATION_FEED = `
  CREATE SEQUENCE hosted_payments_feed_position OWNED BY hosted_payments.feed_position;

  CREATE FUNCTION append_to_feed() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.feed_txid := pg_current_xact_id();
    NEW.feed_position := nextval('hosted_payments_feed_position');
    RETURN NEW;
  END $$;
  COMMENT ON FUNCTION append_to_feed IS 'Adds a final payment to the feed, once. A trigger covers every statement that can store the final state.';
  CREATE TRIGGER hosted_payments_final BEFORE INSERT OR UPDATE ON hosted_payments FOR EACH ROW
    WHEN (NEW.feed_position IS NULL AND NEW.snapshot->>'state' IN ('success', 'failed')) EXECUTE FUNCTION append_to_feed();

  CREATE INDEX hosted_payments_feed_of_site ON hosted_payments
    (((snapshot->>'siteId')::bigint), (snapshot->>'mode'), feed_txid, feed_position) WHERE feed_position IS NOT NULL;
`;

const TILLS = `
  CREATE TABLE known_till_codes (
    code           text   PRIMARY KEY CONSTRAINT known_till_codes_code CHECK (code ~ '^[0-9]{20}$'),
    mode           text   NOT NULL CONSTRAINT known_till_codes_mode CHECK (mode IN ('test', 'live')),
    merchant_id    bigint NOT NULL,
    site_id        bigint NOT NULL,
    site_reference text   NOT NULL CONSTRAINT known_till_codes_site_reference CHECK (length(site_reference) <= 100)
  );
  COMMENT ON TABLE known_till_codes IS 'Read model of the static codes of tills (D5), which payers open with a camera. Only events of code-decoder change the table.';
  COMMENT ON COLUMN known_till_codes.site_reference IS 'Identifier of the till. A static code shows invoices of the same mode, site and till.';

  CREATE TABLE known_invoices (
    invoice_reference  uuid        PRIMARY KEY,
    code               text        NOT NULL CONSTRAINT known_invoices_code CHECK (code ~ '^[0-9]{20}$'),
    mode               text        NOT NULL CONSTRAINT known_invoices_mode CHECK (mode IN ('test', 'live')),
    merchant_id        bigint      NOT NULL,
    site_id            bigint      NOT NULL,
    site_reference     text        NOT NULL CONSTRAINT known_invoices_site_reference CHECK (length(site_reference) <= 100),
    external_reference text        CONSTRAINT known_invoices_external_reference CHECK (length(external_reference) <= 100),
    amount             bigint      NOT NULL CONSTRAINT known_invoices_amount CHECK (amount BETWEEN 1 AND 100000000000),
    currency           text        NOT NULL CONSTRAINT known_invoices_currency CHECK (currency ~ '^[A-Z]{3}$'),
    line_items         jsonb       NOT NULL CONSTRAINT known_invoices_line_items CHECK (jsonb_array_length(line_items) <= 500),
    expires_at         timestamptz NOT NULL,
    is_payment_request boolean     NOT NULL,
    max_payments       int         NOT NULL CONSTRAINT known_invoices_max_payments CHECK (max_payments BETWEEN 1 AND 100),
    payable_state      text        NOT NULL CONSTRAINT known_invoices_payable_state CHECK (payable_state IN ('open', 'reserved', 'paid', 'refused', 'closed')),
    payable_version    bigint      NOT NULL CONSTRAINT known_invoices_payable_version CHECK (payable_version > 0),
    payment_count      int         NOT NULL CONSTRAINT known_invoices_payment_count CHECK (payment_count BETWEEN 0 AND 100)
  ) WITH (fillfactor = 70);
  CREATE UNIQUE INDEX known_invoices_by_code ON known_invoices (code);
  COMMENT ON TABLE known_invoices IS 'Read model of the invoices of tills (D5) and of payment requests (D7), so that payers can pay an invoice on its page. Filled from events, and from the responses of payment-processor to commands of the page.';
  COMMENT ON COLUMN known_invoices.invoice_reference IS 'Reference of the invoice, which is also the id of its payable.';
  COMMENT ON COLUMN known_invoices.site_reference IS 'Identifier of the till.';
  COMMENT ON COLUMN known_invoices.amount IS 'Cents.';
  COMMENT ON COLUMN known_invoices.payable_state IS 'State that payment-processor last reported.';
  COMMENT ON COLUMN known_invoices.payment_count IS 'Number of payments started so far, by all payers and partners.';
`;

const INVOICE_PAYMENTS = `
  CREATE TABLE invoice_payments (
    payment_reference text        PRIMARY KEY,
    invoice_reference uuid        NOT NULL,
    snapshot          json        NOT NULL,
    accepted_at       timestamptz NOT NULL,
    version           bigint      NOT NULL,
    reversed_at       timestamptz
  );
  CREATE INDEX invoice_payments_by_invoice ON invoice_payments (invoice_reference, accepted_at);
  COMMENT ON TABLE invoice_payments IS 'Read model of the payments of till invoices, for the page of the invoice. Filled from events and from the responses of payment-processor to pay commands of the page.';
  COMMENT ON COLUMN invoice_payments.snapshot IS 'The payment without the names of a partner''s customer, because the page must not show them.';
`;

const READ_MODELS = `
  CREATE TABLE card_keys (
    name       text   PRIMARY KEY,
    public_jwk jsonb  NOT NULL,
    version    bigint NOT NULL
  );
  COMMENT ON TABLE card_keys IS 'Newest public key that payment-processor published. Payment pages encrypt card data with this key (P8).';

  CREATE TABLE known_merchants (
    merchant_id    bigint PRIMARY KEY,
    features       jsonb  NOT NULL,
    minimum_amount bigint NOT NULL CONSTRAINT known_merchants_minimum_amount CHECK (minimum_amount BETWEEN 1 AND 100000000000),
    maximum_amount bigint CONSTRAINT known_merchants_maximum_amount CHECK (maximum_amount BETWEEN 1 AND 100000000000),
    time_zones     jsonb  NOT NULL CONSTRAINT known_merchants_time_zones CHECK (jsonb_typeof(time_zones) = 'array'),
    version        bigint NOT NULL
  );
  COMMENT ON TABLE known_merchants IS 'Read model of the options that merchants offer to payers on the page of an invoice, and of the time zones in which pages show times (M7). Only events of identity change it.';
  COMMENT ON COLUMN known_merchants.maximum_amount IS 'Cents. NULL means ten times the amount due, but at most R 50 000 (P6).';

  CREATE TABLE known_webhook_secrets (
    secret_id   uuid    PRIMARY KEY,
    mode        text    NOT NULL CONSTRAINT known_webhook_secrets_mode CHECK (mode IN ('test', 'live')),
    merchant_id bigint  NOT NULL,
    site_id     bigint  NOT NULL,
    revoked     boolean NOT NULL,
    version     bigint  NOT NULL
  );
  CREATE INDEX known_webhook_secrets_usable ON known_webhook_secrets (merchant_id, site_id, mode) WHERE NOT revoked;
  CREATE INDEX known_api_keys_usable ON known_api_keys (merchant_id, mode) WHERE NOT revoked;
  COMMENT ON TABLE known_webhook_secrets IS 'Read model of the metadata of webhook signing secrets (E4), filled from events of identity. A session is rejected if its notifications could not be signed.';
`;

const CHALLENGES = `
  CREATE TABLE site_attack_levels (
    mode        text        NOT NULL CONSTRAINT site_attack_levels_mode CHECK (mode IN ('test', 'live')),
    merchant_id bigint      NOT NULL,
    site_id     bigint      NOT NULL,
    level       int         NOT NULL CONSTRAINT site_attack_levels_level CHECK (level BETWEEN 0 AND 3),
    until       timestamptz NOT NULL,
    version     bigint      NOT NULL,
    PRIMARY KEY (mode, merchant_id, site_id)
  );
  CREATE INDEX site_attack_levels_until ON site_attack_levels (until) WHERE level > 0;
  COMMENT ON TABLE site_attack_levels IS 'Read model of the sites at which stolen cards are tested, filled from events of payment-processor.';
  COMMENT ON COLUMN site_attack_levels.until IS 'The level ends at this time without another event.';

  CREATE TABLE used_challenges (
    challenge_id uuid        PRIMARY KEY,
    reference    uuid        NOT NULL,
    solution     int         NOT NULL CONSTRAINT used_challenges_solution CHECK (solution >= 0),
    expires_at   timestamptz NOT NULL
  );
  CREATE INDEX used_challenges_by_expiry ON used_challenges (expires_at);
  COMMENT ON TABLE used_challenges IS 'Challenges of payment pages that a pay request has used. A challenge is valid for one payment.';
  COMMENT ON COLUMN used_challenges.reference IS 'Reference of the pay request. A repeat of this request may use the challenge again.';
`;

const LOOKS = `
  CREATE TABLE merchant_looks (
    merchant_id   bigint      PRIMARY KEY,
    display_name  text        CONSTRAINT merchant_looks_display_name CHECK (length(display_name) <= 100),
    accent_colour text        CONSTRAINT merchant_looks_accent_colour CHECK (accent_colour ~ '^#[0-9a-f]{6}$'),
    support_email text        CONSTRAINT merchant_looks_support_email CHECK (length(support_email) <= 254),
    support_phone text        CONSTRAINT merchant_looks_support_phone CHECK (length(support_phone) <= 31),
    support_url   text        CONSTRAINT merchant_looks_support_url CHECK (support_url ~ '^https://' AND length(support_url) <= 500),
    terms_url     text        CONSTRAINT merchant_looks_terms_url CHECK (terms_url ~ '^https://' AND length(terms_url) <= 500),
    logo_hash     text        CONSTRAINT merchant_looks_logo_hash CHECK (logo_hash ~ '^[0-9a-f]{32}$'),
    logo_width    int         CONSTRAINT merchant_looks_logo_width CHECK (logo_width BETWEEN 1 AND 480),
    logo_height   int         CONSTRAINT merchant_looks_logo_height CHECK (logo_height BETWEEN 1 AND 160),
    version       bigint      NOT NULL CONSTRAINT merchant_looks_version CHECK (version >= 0),
    set_at        timestamptz NOT NULL,
    set_by        text        NOT NULL CONSTRAINT merchant_looks_set_by CHECK (length(set_by) <= 100),
    set_txid      xid8        NOT NULL DEFAULT pg_current_xact_id(),
    CONSTRAINT merchant_looks_logo CHECK (num_nulls(logo_hash, logo_width, logo_height) IN (0, 3))
  );
  CREATE INDEX merchant_looks_by_change ON merchant_looks (set_txid);
  COMMENT ON TABLE merchant_looks IS 'The look of merchants on the payment page. Administrators and owners of merchants change it.';
  COMMENT ON COLUMN merchant_looks.set_txid IS 'Transaction of the last change. Each process reads only the looks that have changed since it last read.';

  CREATE TABLE merchant_logos (
    merchant_id bigint      NOT NULL,
    hash        text        NOT NULL CONSTRAINT merchant_logos_hash CHECK (hash ~ '^[0-9a-f]{32}$'),
    image       bytea       NOT NULL CONSTRAINT merchant_logos_image CHECK (length(image) <= 262144),
    set_at      timestamptz NOT NULL,
    PRIMARY KEY (merchant_id, hash)
  );
  CREATE INDEX merchant_logos_by_hash ON merchant_logos (hash);
  COMMENT ON TABLE merchant_logos IS 'The newest logos of each merchant, as PNG. Pages and e-mails with an earlier logo still show it.';
  COMMENT ON COLUMN merchant_logos.hash IS 'The first 128 bits of the SHA-256 of the image, which are a part of its address.';

  CREATE TABLE receipt_mails (
    mail_id           uuid        PRIMARY KEY,
    payment_reference text        NOT NULL CONSTRAINT receipt_mails_payment_reference CHECK (length(payment_reference) <= 100),
    address_hash      text        NOT NULL CONSTRAINT receipt_mails_address_hash CHECK (length(address_hash) = 22),
    merchant_id       bigint,
    sent_at           timestamptz NOT NULL
  );
  CREATE INDEX receipt_mails_by_payment ON receipt_mails (payment_reference);
  CREATE INDEX receipt_mails_by_address ON receipt_mails (address_hash, sent_at);
  CREATE INDEX receipt_mails_by_merchant ON receipt_mails (merchant_id, sent_at) WHERE merchant_id IS NOT NULL;
  CREATE INDEX receipt_mails_by_time ON receipt_mails (sent_at);
  COMMENT ON TABLE receipt_mails IS 'Receipts that payers and people of merchants have sent by e-mail, for the limits. The address itself is not stored.';
  COMMENT ON COLUMN receipt_mails.mail_id IS 'The idempotency key, if a person of the merchant sent the receipt.';
  COMMENT ON COLUMN receipt_mails.merchant_id IS 'The merchant whose person sent the receipt; null if a payer sent it.';
  COMMENT ON COLUMN receipt_mails.address_hash IS 'HMAC-SHA-256 of the address, shortened to 132 bits, as base64url.';
`;
