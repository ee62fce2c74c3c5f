import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The read model of the console: payments with their refunds, reversals and disputes, payment requests, merchants and
 * sites. Its own data: the e-mails of payment requests, and the calls of merchants' servers that failed.
 */
export class Schema1763500009000 implements MigrationInterface {
  readonly name = 'Schema1763500009000';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`${PAYMENTS} ${RECORDS_OF_PAYMENTS} ${REQUESTS} ${REQUEST_MAILS} ${MERCHANTS} ${FAILED_CALLS}`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}

const PAYMENTS = `
      CREATE TABLE payments (
        generation        integer     NOT NULL,
        payment_reference text        COLLATE "C" NOT NULL CONSTRAINT payments_payment_reference CHECK (payment_reference ~ '^[0-9A-HJKMNP-TV-Z]{18}$'),
        version           bigint      NOT NULL CONSTRAINT payments_version CHECK (version > 0),
        merchant_id       bigint      NOT NULL,
        mode              text        NOT NULL CONSTRAINT payments_mode CHECK (mode IN ('test', 'live')),
        site_id           bigint      NOT NULL,
        site_reference    text        NOT NULL CONSTRAINT payments_site_reference CHECK (length(site_reference) <= 100),
        payment_utc_date  timestamptz NOT NULL,
        modified_utc_date timestamptz NOT NULL,
        state             text        NOT NULL CONSTRAINT payments_state CHECK (state IN ('success', 'failed', 'verificationRequired')),
        currency          text        NOT NULL CONSTRAINT payments_currency CHECK (currency ~ '^[A-Z]{3}$'),
        amount            bigint      NOT NULL CONSTRAINT payments_amount CHECK (amount BETWEEN 0 AND 200000000000),
        tip_amount        bigint      NOT NULL CONSTRAINT payments_tip_amount CHECK (tip_amount BETWEEN 0 AND 100000000000),
        processed_amount  bigint      NOT NULL CONSTRAINT payments_processed_amount CHECK (processed_amount BETWEEN 0 AND 200000000000),
        method            text        NOT NULL CONSTRAINT payments_method CHECK (method IN ('Card', 'External', 'Voucher')),
        method_label      text        NOT NULL CONSTRAINT payments_method_label CHECK (length(method_label) <= 100),
        last_digits       text        NOT NULL CONSTRAINT payments_last_digits CHECK (last_digits ~ '^([0-9]{4})?$'),
        order_reference   text        NOT NULL CONSTRAINT payments_order_reference CHECK (length(order_reference) <= 100),
        payable_id        uuid        NOT NULL,
        source            text        NOT NULL CONSTRAINT payments_source CHECK (source IN ('session', 'invoice')),
        code              text        NOT NULL CONSTRAINT payments_code CHECK (length(code) <= 20),
        is_of_partner     boolean     NOT NULL,
        customer_id       text        NOT NULL CONSTRAINT payments_customer_id CHECK (length(customer_id) <= 100),
        customer_name     text        NOT NULL CONSTRAINT payments_customer_name CHECK (length(customer_name) <= 201),
        errors            jsonb       NOT NULL CONSTRAINT payments_errors CHECK (jsonb_typeof(errors) = 'array'),
        PRIMARY KEY (generation, payment_reference)
      );
      COMMENT ON TABLE payments IS 'Read model of the payments that the people of merchants look at. Only events of payment-processor change it.';
      COMMENT ON COLUMN payments.version IS 'Version of the newest event of the payment. Older events change nothing.';
      COMMENT ON COLUMN payments.amount IS 'Cents, with the tip, like all amounts of this table.';
      COMMENT ON COLUMN payments.last_digits IS 'The last four digits of the card. Empty if the payment was not made with a card.';
      COMMENT ON COLUMN payments.order_reference IS 'The order number of a session, or the external reference of an invoice. Empty if there is none.';
      COMMENT ON COLUMN payments.payable_id IS 'The session or the invoice.';
      COMMENT ON COLUMN payments.customer_name IS 'First and last name as a partner sent them. Empty for an anonymous payer.';
      -- A page of the list, and the sums of a day, also of one site. They end at a time, so a late page costs what the first page costs.
      CREATE INDEX payments_newest ON payments (generation, merchant_id, mode, payment_utc_date DESC, payment_reference DESC);
      -- The list of few states and methods. A list of paid payments, or of payments by card, reads payments_newest.
      CREATE INDEX payments_not_paid ON payments (generation, merchant_id, mode, state, payment_utc_date DESC, payment_reference DESC) WHERE state <> 'success';
      CREATE INDEX payments_without_card ON payments (generation, merchant_id, mode, method, payment_utc_date DESC, payment_reference DESC) WHERE method <> 'Card';
      CREATE INDEX payments_of_site ON payments (generation, merchant_id, mode, site_id, payment_utc_date DESC, payment_reference DESC);
      -- What people type into the search box. Operators search without a merchant, with the first columns; an order number at
      -- each merchant. The operator class serves a whole order number, and its beginning.
      CREATE INDEX payments_of_order ON payments (generation, merchant_id, mode, lower(order_reference) text_pattern_ops, payment_utc_date DESC, payment_reference DESC) WHERE order_reference <> '';
      CREATE INDEX payments_of_card ON payments (generation, last_digits, merchant_id, mode, payment_utc_date DESC, payment_reference DESC) WHERE last_digits <> '';
      CREATE INDEX payments_of_amount ON payments (generation, merchant_id, mode, amount, payment_utc_date DESC, payment_reference DESC);
      CREATE INDEX payments_of_payable ON payments (generation, payable_id);
      CREATE INDEX payments_of_code ON payments (generation, code, merchant_id, mode, payment_utc_date DESC, payment_reference DESC) WHERE code <> '';
      CREATE INDEX payments_with_customer ON payments (generation, merchant_id, mode, lower(customer_name), payment_utc_date DESC, payment_reference DESC) WHERE customer_name <> '';`;

const RECORDS_OF_PAYMENTS = `
      CREATE TABLE verifications (
        generation        integer     NOT NULL,
        payment_reference text        COLLATE "C" NOT NULL,
        asked_utc_date    timestamptz NOT NULL,
        PRIMARY KEY (generation, payment_reference)
      );
      COMMENT ON TABLE verifications IS 'The payments for which the payer''s bank asked for a confirmation. The payment itself shows it only until it is final.';

      CREATE TABLE refunds (
        generation        integer     NOT NULL,
        refund_reference  uuid        NOT NULL,
        version           bigint      NOT NULL CONSTRAINT refunds_version CHECK (version > 0),
        payment_reference text        COLLATE "C" NOT NULL,
        amount            bigint      NOT NULL CONSTRAINT refunds_amount CHECK (amount BETWEEN 1 AND 200000000000),
        status            text        NOT NULL CONSTRAINT refunds_status CHECK (status IN ('pending', 'succeeded', 'failed')),
        created_utc_date  timestamptz NOT NULL,
        returned_utc_date timestamptz,
        PRIMARY KEY (generation, refund_reference)
      );
      COMMENT ON TABLE refunds IS 'Refunds with an outcome. A refund belongs to the merchant of its payment.';
      COMMENT ON COLUMN refunds.returned_utc_date IS 'When the money of a refund that had succeeded came back.';
      CREATE INDEX refunds_by_payment ON refunds (generation, payment_reference);

      CREATE TABLE reversals (
        generation        integer     NOT NULL,
        payment_reference text        COLLATE "C" NOT NULL,
        reversed_utc_date timestamptz NOT NULL,
        amount            bigint      NOT NULL CONSTRAINT reversals_amount CHECK (amount BETWEEN 0 AND 200000000000),
        capture_failed    boolean     NOT NULL,
        PRIMARY KEY (generation, payment_reference, reversed_utc_date)
      );
      COMMENT ON TABLE reversals IS 'Charges that were reversed because the bank approved them too late, and payments whose card could not be charged.';

      CREATE TABLE disputes (
        generation         integer     NOT NULL,
        dispute_reference  uuid        NOT NULL,
        version            bigint      NOT NULL CONSTRAINT disputes_version CHECK (version > 0),
        payment_reference  text        COLLATE "C" NOT NULL,
        merchant_id        bigint      NOT NULL,
        mode               text        NOT NULL CONSTRAINT disputes_mode CHECK (mode IN ('test', 'live')),
        site_id            bigint      NOT NULL,
        stage              text        NOT NULL CONSTRAINT disputes_stage CHECK (stage IN ('inquiry', 'opened', 'debited', 'reversed', 'won', 'lost')),
        amount             bigint      NOT NULL CONSTRAINT disputes_amount CHECK (amount BETWEEN 0 AND 200000000000),
        currency           text        NOT NULL CONSTRAINT disputes_currency CHECK (currency ~ '^[A-Z]{3}$'),
        reason             text        NOT NULL CONSTRAINT disputes_reason CHECK (length(reason) <= 200),
        respond_by         timestamptz,
        created_utc_date   timestamptz NOT NULL,
        changed_utc_date   timestamptz NOT NULL,
        PRIMARY KEY (generation, dispute_reference)
      );
      COMMENT ON TABLE disputes IS 'Disputes of payers'' banks in their newest stage.';
      CREATE INDEX disputes_by_payment ON disputes (generation, payment_reference);
      CREATE INDEX disputes_undecided ON disputes (generation, merchant_id, mode, coalesce(respond_by, 'infinity'::timestamptz), dispute_reference) WHERE stage NOT IN ('won', 'lost');
      CREATE INDEX disputes_newest ON disputes (generation, merchant_id, mode, created_utc_date DESC, dispute_reference DESC);

      CREATE TABLE list_changes (
        merchant_id bigint NOT NULL,
        mode        text   NOT NULL CONSTRAINT list_changes_mode CHECK (mode IN ('test', 'live')),
        changes     bigint NOT NULL CONSTRAINT list_changes_changes CHECK (changes > 0),
        PRIMARY KEY (merchant_id, mode)
      ) WITH (fillfactor = 50);
      COMMENT ON TABLE list_changes IS 'How often events have changed the payments of a merchant. An open list is read again only after a change.';`;

const REQUESTS = `
      CREATE TABLE payment_requests (
        generation        integer     NOT NULL,
        invoice_reference uuid        NOT NULL,
        merchant_id       bigint      NOT NULL,
        mode              text        NOT NULL CONSTRAINT payment_requests_mode CHECK (mode IN ('test', 'live')),
        site_id           bigint      NOT NULL,
        code              text        NOT NULL CONSTRAINT payment_requests_code CHECK (code ~ '^[0-9]{20}$'),
        amount            bigint      NOT NULL CONSTRAINT payment_requests_amount CHECK (amount BETWEEN 1 AND 100000000000),
        currency          text        NOT NULL CONSTRAINT payment_requests_currency CHECK (currency ~ '^[A-Z]{3}$'),
        description       text        NOT NULL CONSTRAINT payment_requests_description CHECK (length(description) <= 200),
        order_reference   text        NOT NULL CONSTRAINT payment_requests_order_reference CHECK (length(order_reference) <= 100),
        created_utc_date  timestamptz NOT NULL,
        expires_at        timestamptz NOT NULL,
        PRIMARY KEY (generation, invoice_reference)
      );
      COMMENT ON TABLE payment_requests IS 'Read model of the invoices that people requested in the console (D7). A row never changes: the payment is in payments, another end in ended_payables.';
      COMMENT ON COLUMN payment_requests.amount IS 'Cents.';
      CREATE INDEX payment_requests_newest ON payment_requests (generation, merchant_id, mode, created_utc_date DESC, invoice_reference DESC);
      CREATE INDEX payment_requests_of_site ON payment_requests (generation, merchant_id, mode, site_id, created_utc_date DESC, invoice_reference DESC);

      CREATE TABLE ended_payables (
        generation     integer     NOT NULL,
        payable_id     uuid        NOT NULL,
        state          text        NOT NULL CONSTRAINT ended_payables_state CHECK (state IN ('closed', 'refused')),
        ended_utc_date timestamptz NOT NULL,
        PRIMARY KEY (generation, payable_id)
      );
      COMMENT ON TABLE ended_payables IS 'Payables that were closed, also of sessions and tills, and invoices that were refused after too many failed payments. The event of a payable does not say what it belongs to, and may come before the event of its invoice.';`;

const REQUEST_MAILS = `
      CREATE TABLE request_mails (
        mail_id           uuid        PRIMARY KEY,
        merchant_id       bigint      NOT NULL,
        mode              text        NOT NULL CONSTRAINT request_mails_mode CHECK (mode IN ('test', 'live')),
        site_id           bigint      NOT NULL,
        invoice_reference uuid        NOT NULL,
        recipient         text        NOT NULL CONSTRAINT request_mails_recipient CHECK (length(recipient) BETWEEN 3 AND 254),
        language          text        NOT NULL CONSTRAINT request_mails_language CHECK (language ~ '^[a-z]{2}$'),
        content           jsonb       NOT NULL CONSTRAINT request_mails_content CHECK (jsonb_typeof(content) = 'object'),
        expires_at        timestamptz NOT NULL,
        state             text        NOT NULL CONSTRAINT request_mails_state CHECK (state IN ('pending', 'sent', 'rejected', 'failed', 'dropped')),
        attempts          int         NOT NULL CONSTRAINT request_mails_attempts CHECK (attempts BETWEEN 0 AND 6),
        next_attempt_at   timestamptz NOT NULL,
        created_at        timestamptz NOT NULL,
        ended_at          timestamptz,
        CONSTRAINT request_mails_ended CHECK ((state = 'pending') = (ended_at IS NULL))
      );
      COMMENT ON TABLE request_mails IS 'E-mails with the links of payment requests (D7). Not a part of the read model. A row is deleted after 40 days.';
      COMMENT ON COLUMN request_mails.mail_id IS 'Idempotency key of the form, so that a form that is sent twice is one mail.';
      COMMENT ON COLUMN request_mails.content IS 'What the mail says about the payment request.';
      COMMENT ON COLUMN request_mails.next_attempt_at IS 'Not before this time. During an attempt it is the end of the lease.';
      CREATE INDEX request_mails_pending ON request_mails (next_attempt_at) WHERE state = 'pending';
      CREATE INDEX request_mails_of_request ON request_mails (invoice_reference, created_at);
      CREATE INDEX request_mails_of_merchant ON request_mails (merchant_id, created_at);
      CREATE INDEX request_mails_by_time ON request_mails (created_at);`;

const MERCHANTS = `
      CREATE TABLE known_merchants (
        merchant_id bigint PRIMARY KEY,
        version     bigint NOT NULL CONSTRAINT known_merchants_version CHECK (version > 0),
        name        text   NOT NULL CONSTRAINT known_merchants_name CHECK (length(name) BETWEEN 1 AND 100),
        time_zones  jsonb  NOT NULL CONSTRAINT known_merchants_time_zones CHECK (jsonb_typeof(time_zones) = 'array')
      );
      COMMENT ON TABLE known_merchants IS 'The merchants of identity.';
      COMMENT ON COLUMN known_merchants.time_zones IS 'The time zones of the merchant''s days (M7).';

      CREATE TABLE known_sites (
        site_id        bigint PRIMARY KEY,
        version        bigint NOT NULL CONSTRAINT known_sites_version CHECK (version > 0),
        merchant_id    bigint NOT NULL,
        name           text   NOT NULL CONSTRAINT known_sites_name CHECK (length(name) BETWEEN 1 AND 100),
        site_reference text   NOT NULL CONSTRAINT known_sites_site_reference CHECK (length(site_reference) <= 100)
      );
      COMMENT ON TABLE known_sites IS 'The sites of merchants, by which lists are filtered.';
      CREATE INDEX known_sites_of_merchant ON known_sites (merchant_id);`;

const FAILED_CALLS = `
      CREATE TABLE failed_calls (
        request_id  uuid        PRIMARY KEY,
        merchant_id bigint      NOT NULL,
        site_id     bigint,
        mode        text        NOT NULL CONSTRAINT failed_calls_mode CHECK (mode IN ('test', 'live')),
        method      text        NOT NULL CONSTRAINT failed_calls_method CHECK (length(method) BETWEEN 1 AND 10),
        path        text        NOT NULL CONSTRAINT failed_calls_path CHECK (length(path) BETWEEN 1 AND 300),
        status_code int         NOT NULL CONSTRAINT failed_calls_status_code CHECK (status_code BETWEEN 400 AND 599),
        error_code  text        NOT NULL CONSTRAINT failed_calls_error_code CHECK (length(error_code) <= 100),
        called_at   timestamptz NOT NULL
      );
      COMMENT ON TABLE failed_calls IS 'Calls of merchants'' servers that were answered with an error, for three days and at most 1 000 of a merchant in a mode. Best effort.';
      COMMENT ON COLUMN failed_calls.site_id IS 'NULL if the call names no site. Only people of the whole merchant see it then.';
      COMMENT ON COLUMN failed_calls.path IS 'Template of the path, in which only numbers, UUIDs and payment references are filled in.';
      COMMENT ON COLUMN failed_calls.error_code IS 'Empty if the answer had none.';
      CREATE INDEX failed_calls_newest ON failed_calls (merchant_id, mode, called_at DESC, request_id DESC);
      CREATE INDEX failed_calls_expiring ON failed_calls (called_at);`;
