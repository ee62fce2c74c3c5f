export const PAYABLES = `
  -- The fill factor leaves space on each page for new row versions, without index updates (HOT).
  CREATE TABLE payables (
    payable_id  uuid        PRIMARY KEY,
    mode        text        NOT NULL CONSTRAINT payables_mode CHECK (mode IN ('test', 'live')),
    merchant_id bigint      NOT NULL,
    site_id     bigint      NOT NULL,
    amount      bigint      NOT NULL CONSTRAINT payables_amount CHECK (amount BETWEEN 1 AND 100000000000),
    currency    text        NOT NULL CONSTRAINT payables_currency CHECK (currency ~ '^[A-Z]{3}$'),
    expires_at  timestamptz NOT NULL,
    max_payments int        NOT NULL CONSTRAINT payables_max_payments CHECK (max_payments BETWEEN 1 AND 100),
    source      jsonb       NOT NULL,
    state       text        NOT NULL CONSTRAINT payables_state CHECK (state IN ('open', 'reserved', 'paid', 'refused', 'closed')),
    holder      uuid,
    payment_count int       NOT NULL CONSTRAINT payables_payment_count
                              CHECK (payment_count BETWEEN 0 AND max_payments),
    version     bigint      NOT NULL,
    created_at  timestamptz NOT NULL,
    modified_at timestamptz NOT NULL,
    CONSTRAINT payables_holder CHECK ((state IN ('reserved', 'paid')) = (holder IS NOT NULL))
  ) WITH (fillfactor = 60);
  COMMENT ON TABLE payables IS 'Sessions and invoices, payable once. Only the payment that reserves an open one may call the acquirer.';
  COMMENT ON COLUMN payables.holder IS 'The payment that has reserved or paid the payable.';
  COMMENT ON COLUMN payables.payment_count IS 'Number of payments of the payable that were accepted.';
  CREATE INDEX payables_by_code ON payables ((source ->> 'code'));
  COMMENT ON INDEX payables_by_code IS 'Finds the payable of a scanned code.';
`;

export const PAYMENTS = `
  -- The fill factor leaves space on each page for one new version of each row. The columns from state on change together,
  -- and the WAL of an update contains the row from the first to the last changed column.
  CREATE TABLE payments (
    payment_id            uuid        PRIMARY KEY,
    payable_id            uuid        NOT NULL REFERENCES payables (payable_id),
    reference             uuid        NOT NULL,
    payment_reference     text        NOT NULL CONSTRAINT payments_payment_reference UNIQUE,
    amount                bigint      NOT NULL CONSTRAINT payments_amount CHECK (amount BETWEEN 1 AND 100000000000),
    tip_amount            bigint      NOT NULL CONSTRAINT payments_tip_amount CHECK (tip_amount BETWEEN 0 AND 100000000000),
    voucher_amount        bigint      NOT NULL CONSTRAINT payments_voucher_amount CHECK (voucher_amount BETWEEN 0 AND amount),
    fee_basis_points      int         NOT NULL,
    fee_fixed_amount      bigint      NOT NULL,
    method_type           text        NOT NULL CONSTRAINT payments_method_type CHECK (method_type IN ('Card', 'External', 'Voucher')),
    method_label          text        NOT NULL,
    merchant_name         text        NOT NULL CONSTRAINT payments_merchant_name CHECK (length(merchant_name) <= 100),
    site_reference        text        NOT NULL CONSTRAINT payments_site_reference CHECK (length(site_reference) <= 100),
    partner               jsonb,
    accepted_at           timestamptz NOT NULL,
    state                 text        NOT NULL CONSTRAINT payments_state CHECK (state IN ('processing', 'success', 'failed', 'verificationRequired')),
    processed_amount      bigint      NOT NULL,
    refunded_amount       bigint      NOT NULL DEFAULT 0,
    refund_pending_amount bigint      NOT NULL DEFAULT 0,
    errors                jsonb       NOT NULL,
    modified_at           timestamptz NOT NULL,
    version               bigint      NOT NULL,
    is_active             boolean     NOT NULL GENERATED ALWAYS AS (state IN ('processing', 'success')) STORED,
    CONSTRAINT payments_idempotency UNIQUE (payable_id, reference),
    CONSTRAINT payments_processed CHECK (processed_amount = CASE WHEN state = 'success' THEN amount - voucher_amount + tip_amount ELSE 0 END),
    CONSTRAINT payments_refunds CHECK (refunded_amount >= 0 AND refund_pending_amount >= 0 AND refunded_amount + refund_pending_amount <= processed_amount),
    CONSTRAINT payments_fee CHECK (fee_basis_points BETWEEN 0 AND 1000 AND fee_fixed_amount BETWEEN 0 AND 10000),
    CONSTRAINT payments_method_label CHECK (CASE method_type WHEN 'Card' THEN method_label ~ '^[*]{4} [0-9]{4}$' ELSE length(method_label) BETWEEN 1 AND 100 END),
    CONSTRAINT payments_partners CHECK (partner IS NOT NULL OR (method_type = 'Card' AND voucher_amount = 0)),
    CONSTRAINT payments_errors CHECK ((state = 'failed') = (jsonb_array_length(errors) > 0))
  ) WITH (fillfactor = 55);
  COMMENT ON COLUMN payments.reference IS 'Idempotency key of a payment from a page (C7). For a partner payment, the id of the payment, because partner_references contains the idempotency key.';
  COMMENT ON COLUMN payments.voucher_amount IS 'Part of the amount that vouchers cover, as the partner reported them (P6).';
  COMMENT ON COLUMN payments.refunded_amount IS 'Amount that refunds have returned to the payer (M5).';
  COMMENT ON COLUMN payments.refund_pending_amount IS 'Amount that pending refunds reserve. Other refunds cannot use this amount.';
  COMMENT ON COLUMN payments.fee_basis_points IS 'Fee rate of the merchant when the payment was accepted.';
  COMMENT ON COLUMN payments.fee_fixed_amount IS 'Fixed fee of the merchant when the payment was accepted.';
  COMMENT ON COLUMN payments.merchant_name IS 'Name of the merchant when the payment was accepted.';
  COMMENT ON COLUMN payments.site_reference IS 'Reference of the site at that time.';
  COMMENT ON COLUMN payments.partner IS 'Organisation, customer and invoice of a payment through the main API. NULL for a payment on a page.';
  COMMENT ON COLUMN payments.is_active IS 'For the condition of payments_one_active. A success changes state but not this column, so the update writes no index (HOT).';
  CREATE UNIQUE INDEX payments_one_active ON payments (payable_id) WHERE is_active;
  COMMENT ON INDEX payments_one_active IS 'A payable has at most one payment that is in progress or successful. A payment that waits for the verification by its payer does not reserve the payable.';
  CREATE INDEX payments_by_acceptance ON payments USING brin (accepted_at) WITH (pages_per_range = 32, autosummarize = on);
  CREATE INDEX payments_by_change ON payments USING brin (modified_at) WITH (pages_per_range = 32, autosummarize = on);

  CREATE FUNCTION refuse_payment_transition() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF (OLD.state, NEW.state) NOT IN (('processing', 'success'), ('processing', 'failed'), ('processing', 'verificationRequired'),
                                      ('verificationRequired', 'processing'), ('verificationRequired', 'failed')) THEN
      RAISE EXCEPTION 'A payment cannot go from % to %', OLD.state, NEW.state USING ERRCODE = 'check_violation', CONSTRAINT = 'payments_transition';
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER payments_transition BEFORE UPDATE OF state ON payments
    FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION refuse_payment_transition();

  CREATE TABLE partner_references (
    organisation_id uuid NOT NULL,
    mode            text NOT NULL CONSTRAINT partner_references_mode CHECK (mode IN ('test', 'live')),
    reference       uuid NOT NULL,
    fingerprint     text NOT NULL CONSTRAINT partner_references_fingerprint CHECK (length(fingerprint) = 64),
    payment_id      uuid NOT NULL CONSTRAINT partner_references_payment UNIQUE REFERENCES payments (payment_id),
    PRIMARY KEY (organisation_id, mode, reference)
  );
  COMMENT ON TABLE partner_references IS 'Idempotency keys of partners (C7). A key and its payment are committed in one transaction.';
  COMMENT ON COLUMN partner_references.fingerprint IS 'SHA-256 of the validated request without card data. The same reference with another fingerprint is rejected.';

  CREATE TABLE verifications (
    payment_id          uuid        PRIMARY KEY REFERENCES payments (payment_id),
    acquirer            text        NOT NULL CONSTRAINT verifications_acquirer CHECK (length(acquirer) BETWEEN 1 AND 100),
    account             text        NOT NULL CONSTRAINT verifications_account CHECK (length(account) BETWEEN 1 AND 100),
    challenge_reference text        CONSTRAINT verifications_challenge_reference CHECK (length(challenge_reference) BETWEEN 1 AND 100),
    challenge_url       text        NOT NULL CONSTRAINT verifications_challenge_url CHECK (length(challenge_url) BETWEEN 1 AND 2048),
    card_token          text        REFERENCES cards (token),
    payer_return_url    text        CONSTRAINT verifications_payer_return_url CHECK (length(payer_return_url) BETWEEN 1 AND 20000),
    result              text        CONSTRAINT verifications_result CHECK (length(result) BETWEEN 1 AND 20000),
    expires_at          timestamptz NOT NULL,
    open                boolean     NOT NULL,
    queried_at          timestamptz,
    next_query_at       timestamptz,
    CONSTRAINT verifications_card CHECK (challenge_reference IS NOT NULL OR card_token IS NOT NULL)
  );
  COMMENT ON TABLE verifications IS 'Challenges of payments that require a verification by the payer. A challenge is open while its payment is verificationRequired (P1).';
  COMMENT ON COLUMN verifications.acquirer IS 'Acquirer that required the verification. The charge after the verification uses the same acquirer and account.';
  COMMENT ON COLUMN verifications.challenge_reference IS 'Reference of the challenge at the acquirer. The charge after the verification contains it, so the card data is not stored. NULL while the payer has not opened our page, which collects the data of the browser for the first charge.';
  COMMENT ON COLUMN verifications.challenge_url IS 'The bank''s page, or our page while challenge_reference is NULL.';
  COMMENT ON COLUMN verifications.card_token IS 'Card that is charged with the data of the payer''s browser. NULL if the payment needed no such data.';
  COMMENT ON COLUMN verifications.payer_return_url IS 'Page of the partner on which the payer continues. NULL: a page of this service, or a payment without a card_token.';
  COMMENT ON COLUMN verifications.result IS 'What the bank gave to the payer''s browser for the acquirer. NULL until the payer returns, and for acquirers that give nothing.';
  COMMENT ON COLUMN verifications.queried_at IS 'When the acquirer was last queried because a payer or client polled the payment.';
  COMMENT ON COLUMN verifications.next_query_at IS 'When the job next queries the acquirer about the verification. NULL: immediately. Independent of queried_at, so that a query of the job does not delay the outcome for a payer who returns a second later.';
  CREATE INDEX verifications_due ON verifications (expires_at) WHERE open;
  CREATE INDEX verifications_by_card ON verifications (card_token) WHERE card_token IS NOT NULL;
  COMMENT ON INDEX verifications_by_card IS 'Finds the ended payments of cards that are stored for one payment.';
  CREATE INDEX verifications_waiting ON verifications (acquirer, next_query_at NULLS FIRST) WHERE open;
  COMMENT ON INDEX verifications_waiting IS 'For the job that queries the acquirer about open verifications of partner payments. Possibly no page of this platform is open for them.';
`;
