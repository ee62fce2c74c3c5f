import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The tables of this service. The states and transitions are the same as in payable.ts, payment.ts, attempt.ts and
 * refund.ts. Amounts are cents.
 */
export class Schema1763500001000 implements MigrationInterface {
  readonly name = 'Schema1763500001000';

  async up(db: QueryRunner): Promise<void> {
    for (const tables of [READ_MODELS, CARDS, PAYABLES, PAYMENTS, ATTEMPTS, REFUNDS, LEDGER, RECONCILIATIONS])
      await db.query(tables);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}

const READ_MODELS = `
  CREATE TABLE known_merchants (
    merchant_id    bigint PRIMARY KEY,
    name           text   NOT NULL,
    features       jsonb  NOT NULL,
    grants         jsonb  NOT NULL,
    minimum_amount bigint NOT NULL CONSTRAINT known_merchants_minimum_amount CHECK (minimum_amount BETWEEN 1 AND 100000000000),
    maximum_amount bigint CONSTRAINT known_merchants_maximum_amount CHECK (maximum_amount BETWEEN 1 AND 100000000000),
    fees           jsonb  NOT NULL CONSTRAINT known_merchants_fees CHECK (NOT fees @? '$.*.basisPoints ? (@ < 0 || @ > 1000)' AND NOT fees @? '$.*.fixedAmount ? (@ < 0 || @ > 10000)'),
    version        bigint NOT NULL
  );
  COMMENT ON TABLE known_merchants IS 'Read model of merchants: the options of payers, the partners that may report vouchers and external payments (P6), and the fees (M5). Only events of identity change it.';
  COMMENT ON COLUMN known_merchants.minimum_amount IS 'With the feature amount.editable, payers may pay less than the amount due, but not less than this minimum (P6).';
  COMMENT ON COLUMN known_merchants.maximum_amount IS 'With the feature amount.editable, payers may pay more than the amount due, but not more than this maximum (P6). NULL means ten times the amount due, but at most R 50 000.';
  COMMENT ON COLUMN known_merchants.fees IS 'Fee of a card payment, for each mode: basis points of the processed amount, plus a fixed amount (M5).';

  CREATE TABLE known_sites (
    site_id        bigint PRIMARY KEY,
    merchant_id    bigint NOT NULL,
    site_reference text   NOT NULL,
    version        bigint NOT NULL
  );
  COMMENT ON TABLE known_sites IS 'Read model of the tills and web shops of merchants, with the references that identity gave them. Only events of identity change it.';

  CREATE TABLE known_api_keys (
    key_id      uuid    PRIMARY KEY,
    kind        text    NOT NULL CONSTRAINT known_api_keys_kind CHECK (kind IN ('merchant', 'site')),
    mode        text    NOT NULL CONSTRAINT known_api_keys_mode CHECK (mode IN ('test', 'live')),
    merchant_id bigint  NOT NULL,
    site_id     bigint,
    hash        text    NOT NULL CONSTRAINT known_api_keys_hash_form CHECK (hash ~ '^[0-9a-f]{64}$'),
    revoked     boolean NOT NULL,
    version     bigint  NOT NULL,
    CONSTRAINT known_api_keys_site CHECK ((kind = 'site') = (site_id IS NOT NULL))
  );
  CREATE UNIQUE INDEX known_api_keys_hash ON known_api_keys (hash);
  COMMENT ON TABLE known_api_keys IS 'Read model of the API keys of merchants and sites, which call this service for refunds (A6). Only events of identity change it.';

  CREATE TABLE known_customers (
    organisation_id    uuid   NOT NULL,
    mode               text   NOT NULL CONSTRAINT known_customers_mode CHECK (mode IN ('test', 'live')),
    customer_reference uuid   NOT NULL,
    first_name         text   NOT NULL CONSTRAINT known_customers_first_name CHECK (length(first_name) <= 100),
    last_name          text   NOT NULL CONSTRAINT known_customers_last_name CHECK (length(last_name) <= 100),
    version            bigint NOT NULL CONSTRAINT known_customers_version CHECK (version > 0),
    PRIMARY KEY (organisation_id, mode, customer_reference)
  );
  COMMENT ON TABLE known_customers IS 'Read model of the names of the customers of partners, for their payments. Only events of identity change it.';
`;

const CARDS = `
  CREATE TABLE merchant_accounts (
    merchant_id bigint      NOT NULL,
    mode        text        NOT NULL CONSTRAINT merchant_accounts_mode CHECK (mode IN ('test', 'live')),
    version     bigint      NOT NULL CONSTRAINT merchant_accounts_version CHECK (version > 0),
    acquirer    text        NOT NULL CONSTRAINT merchant_accounts_acquirer CHECK (length(acquirer) BETWEEN 1 AND 100),
    account     text        NOT NULL CONSTRAINT merchant_accounts_account CHECK (length(account) BETWEEN 1 AND 100),
    set_at      timestamptz NOT NULL,
    set_by      text        NOT NULL CONSTRAINT merchant_accounts_set_by CHECK (length(set_by) BETWEEN 1 AND 100),
    PRIMARY KEY (merchant_id, mode, version)
  );
  COMMENT ON TABLE merchant_accounts IS 'Accounts of merchants at acquirers, as set by administrators. Each change inserts a row. The newest row applies.';
  COMMENT ON COLUMN merchant_accounts.account IS 'Id of the account at the acquirer (merchant id).';
  COMMENT ON COLUMN merchant_accounts.set_by IS 'Fingerprint of the administration key that set the account.';

  CREATE TABLE card_keys (
    kid                uuid        PRIMARY KEY,
    version            bigint      NOT NULL CONSTRAINT card_keys_one_version UNIQUE,
    public_jwk         jsonb       NOT NULL,
    sealed_private_key text,
    current            boolean     CONSTRAINT card_keys_current CHECK (current),
    created_at         timestamptz NOT NULL,
    created_by         text        NOT NULL CONSTRAINT card_keys_created_by CHECK (length(created_by) BETWEEN 1 AND 100),
    replaced_at        timestamptz,
    CONSTRAINT card_keys_one_current UNIQUE (current),
    CONSTRAINT card_keys_replaced CHECK ((current IS NULL) = (replaced_at IS NOT NULL)),
    CONSTRAINT card_keys_current_opens CHECK (current IS NULL OR sealed_private_key IS NOT NULL)
  );
  COMMENT ON TABLE card_keys IS 'Key pairs for card data. Pages and SDKs encrypt card data with the public key. The private key is stored encrypted (P8). Each rotation inserts a row. Rows are never deleted.';
  COMMENT ON COLUMN card_keys.version IS 'aggregateVersion of the event that published the key.';
  COMMENT ON COLUMN card_keys.sealed_private_key IS 'NULL when the key no longer decrypts cards.';
  COMMENT ON COLUMN card_keys.current IS 'True for the published key, NULL for older keys.';
  COMMENT ON COLUMN card_keys.created_by IS 'Fingerprint of the administration key that requested the rotation. The first key has the value start.';
  COMMENT ON COLUMN card_keys.replaced_at IS 'When a newer key replaced this key. 24 hours later this key no longer decrypts cards.';

  CREATE TABLE cards (
    token                text        PRIMARY KEY CONSTRAINT cards_token CHECK (length(token) BETWEEN 1 AND 100),
    organisation_id      uuid        NOT NULL,
    mode                 text        NOT NULL CONSTRAINT cards_mode CHECK (mode IN ('test', 'live')),
    customer_reference   uuid,
    acquirer             text        NOT NULL,
    vault_token          text        NOT NULL CONSTRAINT cards_vault_token CHECK (length(vault_token) BETWEEN 1 AND 100),
    card_mask            text        NOT NULL CONSTRAINT cards_mask CHECK (card_mask ~ '^[*]{4} [0-9]{4}$'),
    stored_at            timestamptz NOT NULL,
    deleted_at           timestamptz,
    next_vault_delete_at timestamptz,
    vault_deleted_at     timestamptz,
    CONSTRAINT cards_vault_deleted CHECK (vault_deleted_at IS NULL OR deleted_at IS NOT NULL),
    CONSTRAINT cards_next_vault_delete CHECK ((next_vault_delete_at IS NOT NULL) = (deleted_at IS NOT NULL AND vault_deleted_at IS NULL))
  );
  COMMENT ON TABLE cards IS 'Stored cards (P7). The acquirer stores the card number in its vault, and this table a token for it.';
  COMMENT ON COLUMN cards.token IS 'Token with which the client pays.';
  COMMENT ON COLUMN cards.customer_reference IS 'Customer who owns the card. NULL if the card was stored with a service token. The organisation owns such a card.';
  COMMENT ON COLUMN cards.next_vault_delete_at IS 'When the job next requests the acquirer to delete the card number. NULL before the card is deleted here, and after the acquirer has confirmed the deletion.';
  COMMENT ON COLUMN cards.vault_deleted_at IS 'When the acquirer confirmed that it has deleted the card number.';
  CREATE INDEX cards_vault_deletes_due ON cards (next_vault_delete_at) WHERE next_vault_delete_at IS NOT NULL;
`;

const PAYABLES = `
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

const PAYMENTS = `
  CREATE TABLE payments (
    payment_id            uuid        PRIMARY KEY,
    payable_id            uuid        NOT NULL REFERENCES payables (payable_id),
    reference             uuid        NOT NULL,
    payment_reference     text        NOT NULL CONSTRAINT payments_payment_reference UNIQUE,
    state                 text        NOT NULL CONSTRAINT payments_state CHECK (state IN ('processing', 'success', 'failed', 'verificationRequired')),
    amount                bigint      NOT NULL CONSTRAINT payments_amount CHECK (amount BETWEEN 1 AND 100000000000),
    tip_amount            bigint      NOT NULL CONSTRAINT payments_tip_amount CHECK (tip_amount BETWEEN 0 AND 100000000000),
    voucher_amount        bigint      NOT NULL CONSTRAINT payments_voucher_amount CHECK (voucher_amount BETWEEN 0 AND amount),
    processed_amount      bigint      NOT NULL,
    refunded_amount       bigint      NOT NULL DEFAULT 0,
    refund_pending_amount bigint      NOT NULL DEFAULT 0,
    fee_basis_points      int         NOT NULL,
    fee_fixed_amount      bigint      NOT NULL,
    method_type           text        NOT NULL CONSTRAINT payments_method_type CHECK (method_type IN ('Card', 'External', 'Voucher')),
    method_label          text        NOT NULL,
    merchant_name         text        NOT NULL CONSTRAINT payments_merchant_name CHECK (length(merchant_name) <= 100),
    site_reference        text        NOT NULL CONSTRAINT payments_site_reference CHECK (length(site_reference) <= 100),
    partner               jsonb,
    errors                jsonb       NOT NULL,
    accepted_at           timestamptz NOT NULL,
    modified_at           timestamptz NOT NULL,
    version               bigint      NOT NULL,
    CONSTRAINT payments_idempotency UNIQUE (payable_id, reference),
    CONSTRAINT payments_processed CHECK (processed_amount = CASE WHEN state = 'success' THEN amount - voucher_amount + tip_amount ELSE 0 END),
    CONSTRAINT payments_refunds CHECK (refunded_amount >= 0 AND refund_pending_amount >= 0 AND refunded_amount + refund_pending_amount <= processed_amount),
    CONSTRAINT payments_fee CHECK (fee_basis_points BETWEEN 0 AND 1000 AND fee_fixed_amount BETWEEN 0 AND 10000),
    CONSTRAINT payments_method_label CHECK (CASE method_type WHEN 'Card' THEN method_label ~ '^[*]{4} [0-9]{4}$' ELSE length(method_label) BETWEEN 1 AND 100 END),
    CONSTRAINT payments_partners CHECK (partner IS NOT NULL OR (method_type = 'Card' AND voucher_amount = 0)),
    CONSTRAINT payments_errors CHECK ((state = 'failed') = (jsonb_array_length(errors) > 0))
  );
  COMMENT ON COLUMN payments.reference IS 'Idempotency key of a payment from a page (C7). For a partner payment, the id of the payment, because partner_references contains the idempotency key.';
  COMMENT ON COLUMN payments.voucher_amount IS 'Part of the amount that vouchers cover, as the partner reported them (P6).';
  COMMENT ON COLUMN payments.refunded_amount IS 'Amount that refunds have returned to the payer (M5).';
  COMMENT ON COLUMN payments.refund_pending_amount IS 'Amount that pending refunds reserve. Other refunds cannot use this amount.';
  COMMENT ON COLUMN payments.fee_basis_points IS 'Fee rate of the merchant when the payment was accepted.';
  COMMENT ON COLUMN payments.fee_fixed_amount IS 'Fixed fee of the merchant when the payment was accepted.';
  COMMENT ON COLUMN payments.merchant_name IS 'Name of the merchant when the payment was accepted.';
  COMMENT ON COLUMN payments.site_reference IS 'Reference of the site at that time.';
  COMMENT ON COLUMN payments.partner IS 'Organisation, customer and invoice of a payment through the main API. NULL for a payment on a page.';
  CREATE UNIQUE INDEX payments_one_active ON payments (payable_id) WHERE state IN ('processing', 'success');
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
    challenge_reference text        NOT NULL CONSTRAINT verifications_challenge_reference CHECK (length(challenge_reference) BETWEEN 1 AND 100),
    challenge_url       text        NOT NULL CONSTRAINT verifications_challenge_url CHECK (length(challenge_url) BETWEEN 1 AND 2048),
    expires_at          timestamptz NOT NULL,
    open                boolean     NOT NULL,
    queried_at          timestamptz,
    next_query_at       timestamptz
  );
  COMMENT ON TABLE verifications IS 'Challenges of payments that require a verification by the payer. A challenge is open while its payment is verificationRequired (P1).';
  COMMENT ON COLUMN verifications.acquirer IS 'Acquirer that required the verification. The charge after the verification uses the same acquirer and account.';
  COMMENT ON COLUMN verifications.challenge_reference IS 'Reference of the challenge at the acquirer. The charge after the verification contains it, so the card data is not stored.';
  COMMENT ON COLUMN verifications.queried_at IS 'When the acquirer was last queried because a payer or client polled the payment.';
  COMMENT ON COLUMN verifications.next_query_at IS 'When the job next queries the acquirer about the verification. NULL: immediately. Independent of queried_at, so that a query of the job does not delay the outcome for a payer who returns a second later.';
  CREATE INDEX verifications_due ON verifications (expires_at) WHERE open;
  CREATE INDEX verifications_waiting ON verifications (next_query_at NULLS FIRST) WHERE open;
  COMMENT ON INDEX verifications_waiting IS 'For the job that queries the acquirer about open verifications of partner payments. Possibly no page of this platform is open for them.';
`;

const ATTEMPTS = `
  CREATE TABLE attempts (
    attempt_id         uuid        PRIMARY KEY,
    payment_id         uuid        NOT NULL REFERENCES payments (payment_id),
    acquirer           text        NOT NULL,
    account            text        NOT NULL CONSTRAINT attempts_account CHECK (length(account) BETWEEN 1 AND 100),
    state              text        NOT NULL CONSTRAINT attempts_state CHECK (state IN ('started', 'unknown', 'reversing', 'approved', 'declined', 'notAttempted', 'reversed')),
    acquirer_reference text,
    started_at         timestamptz NOT NULL,
    ended_at           timestamptz,
    queries            int         NOT NULL,
    queried_at         timestamptz,
    next_query_at      timestamptz,
    CONSTRAINT attempts_open CHECK ((state IN ('started', 'unknown', 'reversing')) = (next_query_at IS NOT NULL)
                                AND (state IN ('started', 'unknown', 'reversing')) = (ended_at IS NULL))
  );
  COMMENT ON TABLE attempts IS 'Charge attempts. Each row is one call to the acquirer, with attempt_id as idempotency key.';
  COMMENT ON COLUMN attempts.account IS 'Account of the merchant at the acquirer.';
  COMMENT ON COLUMN attempts.started_at IS 'When the call to the acquirer starts: at the acceptance of the payment, or when a process later leases the call. The age of the attempt counts from this time.';
  COMMENT ON COLUMN attempts.queries IS 'Number of queries to the acquirer by the recovery job.';
  COMMENT ON COLUMN attempts.queried_at IS 'When the acquirer was last queried because a client polled the payment.';
  COMMENT ON COLUMN attempts.next_query_at IS 'When the recovery job next queries the outcome from the acquirer, or reverses the attempt.';
  CREATE UNIQUE INDEX attempts_one_open ON attempts (payment_id) WHERE state IN ('started', 'unknown', 'reversing', 'approved');
  CREATE INDEX attempts_due ON attempts (next_query_at) WHERE next_query_at IS NOT NULL;
  CREATE INDEX attempts_by_start ON attempts USING brin (started_at) WITH (pages_per_range = 32, autosummarize = on);
  CREATE INDEX attempts_reversed ON attempts (ended_at) WHERE state = 'reversed';

  CREATE FUNCTION refuse_attempt_transition() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF (OLD.state, NEW.state) NOT IN (('started', 'approved'), ('started', 'declined'), ('started', 'notAttempted'), ('started', 'unknown'), ('started', 'reversing'),
                                      ('unknown', 'approved'), ('unknown', 'declined'), ('unknown', 'notAttempted'), ('unknown', 'reversing'),
                                      ('reversing', 'notAttempted'), ('reversing', 'reversed'),
                                      ('declined', 'reversed'), ('notAttempted', 'reversed')) THEN
      RAISE EXCEPTION 'An attempt cannot go from % to %', OLD.state, NEW.state USING ERRCODE = 'check_violation', CONSTRAINT = 'attempts_transition';
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER attempts_transition BEFORE UPDATE OF state ON attempts
    FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION refuse_attempt_transition();

  CREATE TABLE incidents (
    attempt_id         uuid        NOT NULL REFERENCES attempts (attempt_id),
    attempt_state      text        NOT NULL,
    response           text        NOT NULL,
    acquirer_reference text,
    first_seen_at      timestamptz NOT NULL,
    last_seen_at       timestamptz NOT NULL,
    occurrences        int         NOT NULL CONSTRAINT incidents_occurrences CHECK (occurrences > 0),
    PRIMARY KEY (attempt_id, attempt_state, response)
  );
  COMMENT ON TABLE incidents IS 'Responses of the acquirer that contradict the state of their attempt. An operator compares them with the records of the acquirer.';
  COMMENT ON COLUMN incidents.attempt_state IS 'State of the attempt when the response arrived.';

  CREATE TABLE reversals (
    attempt_id      uuid        PRIMARY KEY REFERENCES attempts (attempt_id),
    requested_at    timestamptz NOT NULL,
    next_request_at timestamptz,
    confirmed_at    timestamptz,
    CONSTRAINT reversals_open CHECK ((next_request_at IS NULL) = (confirmed_at IS NOT NULL))
  );
  COMMENT ON TABLE reversals IS 'Reversals of approvals that arrived after their attempt had ended without a charge. A reversal uses the idempotency key of the attempt (H2).';
  COMMENT ON COLUMN reversals.next_request_at IS 'When the next reversal request is sent. The requests are repeated until the acquirer confirms the reversal.';
  CREATE INDEX reversals_due ON reversals (next_request_at) WHERE next_request_at IS NOT NULL;
  CREATE INDEX reversals_requested ON reversals (requested_at);
  CREATE INDEX reversals_confirmed ON reversals (confirmed_at) WHERE confirmed_at IS NOT NULL;
`;

const REFUNDS = `
  CREATE TABLE refunds (
    refund_id          uuid        PRIMARY KEY,
    payment_id         uuid        NOT NULL REFERENCES payments (payment_id),
    attempt_id         uuid        NOT NULL REFERENCES attempts (attempt_id),
    amount             bigint      NOT NULL CONSTRAINT refunds_amount CHECK (amount BETWEEN 1 AND 100000000000),
    reason             text        CONSTRAINT refunds_reason CHECK (length(reason) BETWEEN 1 AND 200),
    requested_by       uuid        NOT NULL,
    state              text        NOT NULL CONSTRAINT refunds_state CHECK (state IN ('pending', 'succeeded', 'failed')),
    acquirer_reference text        CONSTRAINT refunds_acquirer_reference CHECK (length(acquirer_reference) BETWEEN 1 AND 100),
    created_at         timestamptz NOT NULL,
    ended_at           timestamptz,
    queries            int         NOT NULL,
    queried_at         timestamptz,
    next_query_at      timestamptz,
    CONSTRAINT refunds_pending CHECK ((state = 'pending') = (next_query_at IS NOT NULL) AND (state = 'pending') = (ended_at IS NULL))
  );
  COMMENT ON TABLE refunds IS 'Refunds to payers (M5). A row is the decision to refund. It is committed before the acquirer is called. The constraint payments_refunds limits the sum of the refunds of a payment.';
  COMMENT ON COLUMN refunds.refund_id IS 'refundReference in the API, and idempotency key at the acquirer.';
  COMMENT ON COLUMN refunds.attempt_id IS 'Attempt whose charge is refunded.';
  COMMENT ON COLUMN refunds.requested_by IS 'Id of the API key of the merchant or site that requested the refund.';
  COMMENT ON COLUMN refunds.queries IS 'Number of queries to the acquirer by the recovery job.';
  COMMENT ON COLUMN refunds.queried_at IS 'When the acquirer was last queried because a client polled the refund.';
  COMMENT ON COLUMN refunds.next_query_at IS 'When the recovery job next queries the acquirer. NULL after the refund has ended.';
  CREATE INDEX refunds_of_payment ON refunds (payment_id, refund_id);
  CREATE INDEX refunds_due ON refunds (next_query_at) WHERE next_query_at IS NOT NULL;
  CREATE INDEX refunds_longest_pending ON refunds (refund_id) WHERE next_query_at IS NOT NULL;
  COMMENT ON INDEX refunds_longest_pending IS 'For the list of pending refunds that administrators read. Ids sort by the creation time of the refund.';
  CREATE INDEX refunds_ended ON refunds (ended_at) WHERE ended_at IS NOT NULL;

  CREATE FUNCTION refuse_refund_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'A refund that is % does not change like this', OLD.state USING ERRCODE = 'check_violation', CONSTRAINT = 'refunds_transition';
  END $$;
  CREATE TRIGGER refunds_transition BEFORE UPDATE ON refunds
    FOR EACH ROW WHEN (OLD.state <> 'pending' OR (OLD.payment_id, OLD.attempt_id, OLD.amount) IS DISTINCT FROM (NEW.payment_id, NEW.attempt_id, NEW.amount))
    EXECUTE FUNCTION refuse_refund_change();

  CREATE TABLE refund_idempotency_keys (
    merchant_id     bigint NOT NULL,
    mode            text   NOT NULL CONSTRAINT refund_idempotency_keys_mode CHECK (mode IN ('test', 'live')),
    idempotency_key text   COLLATE "C" NOT NULL CONSTRAINT refund_idempotency_keys_key CHECK (length(idempotency_key) BETWEEN 1 AND 100),
    fingerprint     text   NOT NULL CONSTRAINT refund_idempotency_keys_fingerprint CHECK (length(fingerprint) = 64),
    refund_id       uuid   NOT NULL CONSTRAINT refund_idempotency_keys_refund UNIQUE REFERENCES refunds (refund_id),
    PRIMARY KEY (merchant_id, mode, idempotency_key)
  );
  COMMENT ON TABLE refund_idempotency_keys IS 'Idempotency-Key headers of merchants (C7). A key and its refund are committed in one transaction.';
  COMMENT ON COLUMN refund_idempotency_keys.fingerprint IS 'SHA-256 of the validated request. The same key with another fingerprint is rejected.';

  CREATE TABLE refund_incidents (
    refund_id          uuid        NOT NULL REFERENCES refunds (refund_id),
    refund_state       text        NOT NULL,
    response           text        NOT NULL,
    acquirer_reference text,
    first_seen_at      timestamptz NOT NULL,
    last_seen_at       timestamptz NOT NULL,
    occurrences        int         NOT NULL CONSTRAINT refund_incidents_occurrences CHECK (occurrences > 0),
    PRIMARY KEY (refund_id, refund_state, response)
  );
  COMMENT ON TABLE refund_incidents IS 'Responses of the acquirer that contradict the state of their refund. An operator compares them with the records of the acquirer.';
`;

/** The ledger, its seals and its days are append-only: by a trigger, and by the privileges of the service's role. */
const LEDGER = `
  CREATE TABLE transfers (
    transfer_id    uuid        PRIMARY KEY,
    kind           text        NOT NULL CONSTRAINT transfers_kind CHECK (kind IN ('capture', 'fee', 'external', 'voucher', 'refund', 'lateApproval', 'reversal')),
    debit_account  text        NOT NULL,
    credit_account text        NOT NULL,
    amount         bigint      NOT NULL CONSTRAINT transfers_amount CHECK (amount > 0),
    currency       text        NOT NULL CONSTRAINT transfers_currency CHECK (currency ~ '^[A-Z]{3}$'),
    mode           text        NOT NULL CONSTRAINT transfers_mode CHECK (mode IN ('test', 'live')),
    merchant_id    bigint      NOT NULL,
    payment_id     uuid        NOT NULL REFERENCES payments (payment_id),
    attempt_id     uuid        CONSTRAINT transfers_attempt_id REFERENCES attempts (attempt_id),
    refund_id      uuid        CONSTRAINT transfers_refund_id REFERENCES refunds (refund_id),
    created_at     timestamptz NOT NULL,
    txid           xid8        NOT NULL DEFAULT pg_current_xact_id(),
    position       bigint      GENERATED ALWAYS AS IDENTITY,
    CONSTRAINT transfers_accounts_differ CHECK (debit_account <> credit_account),
    CONSTRAINT transfers_attempt CHECK ((kind IN ('lateApproval', 'reversal')) = (attempt_id IS NOT NULL)),
    CONSTRAINT transfers_refund CHECK ((kind = 'refund') = (refund_id IS NOT NULL))
  );
  COMMENT ON TABLE transfers IS 'The ledger. Each row debits one account and credits another with the same amount, so every row balances. Append-only.';
  COMMENT ON COLUMN transfers.mode IS 'Mode of the payment. The account names begin with the mode.';
  COMMENT ON COLUMN transfers.merchant_id IS 'Merchant of the payment.';
  COMMENT ON COLUMN transfers.attempt_id IS 'Attempt whose approval came too late or was reversed. NULL for transfers of other kinds.';
  COMMENT ON COLUMN transfers.refund_id IS 'Refund that caused the transfer. NULL for transfers of other kinds.';
  COMMENT ON COLUMN transfers.txid IS 'Transaction that inserted the transfer. Transfers are sealed in the order (txid, position), and only below pg_snapshot_xmin.';
  CREATE UNIQUE INDEX transfers_once ON transfers (payment_id, kind) WHERE kind IN ('capture', 'fee');
  CREATE UNIQUE INDEX transfers_once_for_attempt ON transfers (attempt_id, kind) WHERE attempt_id IS NOT NULL;
  CREATE UNIQUE INDEX transfers_one_refund ON transfers (refund_id) WHERE refund_id IS NOT NULL;
  CREATE UNIQUE INDEX transfers_order ON transfers (txid, position);
  CREATE INDEX transfers_of_merchant ON transfers (merchant_id, mode, created_at);
  CREATE INDEX transfers_by_time ON transfers USING brin (created_at) WITH (pages_per_range = 32, autosummarize = on);

  CREATE FUNCTION refuse_foreign_transaction() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'A transfer belongs to the transaction that writes it' USING ERRCODE = 'check_violation', CONSTRAINT = 'transfers_txid';
  END $$;
  COMMENT ON FUNCTION refuse_foreign_transaction IS 'Rejects a txid of another transaction. A transfer with a txid in the far future would never be sealed, and its day would never be closed.';
  CREATE TRIGGER transfers_txid BEFORE INSERT ON transfers
    FOR EACH ROW WHEN (NEW.txid <> pg_current_xact_id()) EXECUTE FUNCTION refuse_foreign_transaction();

  CREATE TABLE ledger_seals (
    seal_number     bigint      PRIMARY KEY CONSTRAINT ledger_seals_number CHECK (seal_number > 0),
    previous_hash   bytea       NOT NULL CONSTRAINT ledger_seals_previous_hash CHECK (octet_length(previous_hash) = 32),
    hash            bytea       NOT NULL CONSTRAINT ledger_seals_hash CHECK (octet_length(hash) = 32),
    last_txid       xid8        NOT NULL,
    last_position   bigint      NOT NULL,
    transfer_count  int         NOT NULL CONSTRAINT ledger_seals_transfer_count CHECK (transfer_count BETWEEN 1 AND 10000),
    transfer_ids    uuid[]      NOT NULL CONSTRAINT ledger_seals_transfer_ids CHECK (cardinality(transfer_ids) = transfer_count),
    transfer_hashes bytea[]     NOT NULL CONSTRAINT ledger_seals_transfer_hashes CHECK (cardinality(transfer_hashes) = transfer_count),
    sealed_at       timestamptz NOT NULL
  );
  COMMENT ON TABLE ledger_seals IS 'Hash chain over the transfers in the order (txid, position). Each seal contains the hash of the previous seal.';
  COMMENT ON COLUMN ledger_seals.hash IS 'SHA-256 of previous_hash followed by transfer_hashes.';
  COMMENT ON COLUMN ledger_seals.last_txid IS 'With last_position, identifies the last transfer of the seal. The next seal begins after it.';
  COMMENT ON COLUMN ledger_seals.transfer_hashes IS 'SHA-256 of each transfer, so that a verification can identify a changed transfer.';

  CREATE TABLE ledger_days (
    day         date        PRIMARY KEY,
    seal_number bigint      NOT NULL CONSTRAINT ledger_days_seal_number CHECK (seal_number >= 0),
    root        bytea       NOT NULL CONSTRAINT ledger_days_root CHECK (octet_length(root) = 32),
    closed_at   timestamptz NOT NULL
  );
  COMMENT ON TABLE ledger_days IS 'Closed days (UTC). All transfers that were created on a closed day are sealed. Every day up to the newest row is closed.';
  COMMENT ON COLUMN ledger_days.seal_number IS 'Newest seal when the day was closed. 0 if there was no seal yet.';
  COMMENT ON COLUMN ledger_days.root IS 'Hash of that seal. It is logged too. With a copy of the log, an auditor can detect that the chain was rewritten.';

  CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'The ledger is append-only' USING ERRCODE = 'check_violation', CONSTRAINT = TG_TABLE_NAME || '_append_only';
  END $$;
  CREATE TRIGGER transfers_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON transfers
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
  CREATE TRIGGER ledger_seals_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_seals
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
  CREATE TRIGGER ledger_days_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_days
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
  SELECT revoke_from_others(ledger::regclass, 'UPDATE, DELETE, TRUNCATE')
    FROM unnest(ARRAY['transfers', 'ledger_seals', 'ledger_days']) AS ledger;
`;

const RECONCILIATIONS = `
  CREATE TABLE reconciliations (
    run_id       uuid        PRIMARY KEY,
    day          date        NOT NULL,
    merchant_id  bigint,
    night        date,
    state        text        NOT NULL CONSTRAINT reconciliations_state CHECK (state IN ('waiting', 'running', 'done', 'failed')),
    requested_at timestamptz NOT NULL,
    starts       int         NOT NULL DEFAULT 0,
    leased_until timestamptz,
    watermark    timestamptz,
    ended_at     timestamptz,
    differences  bigint,
    open         bigint,
    is_whole_day boolean,
    result       json,
    failure      text        CONSTRAINT reconciliations_failure CHECK (length(failure) <= 500),
    CONSTRAINT reconciliations_night UNIQUE (night, day),
    CONSTRAINT reconciliations_lease CHECK ((state = 'running') = (leased_until IS NOT NULL)),
    CONSTRAINT reconciliations_ended CHECK ((state IN ('done', 'failed')) = (ended_at IS NOT NULL)),
    CONSTRAINT reconciliations_result CHECK ((state = 'done') = (num_nulls(result, differences, open, is_whole_day) = 0))
  );
  COMMENT ON TABLE reconciliations IS 'Runs of the reconciliation. A run compares all books of a day and stores the differences.';
  COMMENT ON COLUMN reconciliations.merchant_id IS 'NULL: all merchants.';
  COMMENT ON COLUMN reconciliations.night IS 'Night whose job requested the run. NULL if an administrator requested it.';
  COMMENT ON COLUMN reconciliations.starts IS 'Number of times that a replica has started the run. Identifies the current lease.';
  COMMENT ON COLUMN reconciliations.leased_until IS 'End of the lease. The replica that executes the run renews the lease. After its end, another replica restarts the run.';
  COMMENT ON COLUMN reconciliations.watermark IS 'Rows that became final at or after this time were not compared.';
  COMMENT ON COLUMN reconciliations.open IS 'Number of payments, attempts and refunds of the day without an outcome. The jobs of the next nights reconcile such a day again.';
  COMMENT ON COLUMN reconciliations.is_whole_day IS 'False if the run ended before the day was over. The jobs of the next nights reconcile such a day again.';
  COMMENT ON COLUMN reconciliations.result IS 'Result for administrators. The type json keeps the order of the columns.';
  CREATE INDEX reconciliations_to_run ON reconciliations (requested_at) WHERE state IN ('waiting', 'running');
  CREATE INDEX reconciliations_of_day ON reconciliations (day, requested_at);

  CREATE TABLE statement_lines (
    run_id             uuid        NOT NULL CONSTRAINT statement_lines_run REFERENCES reconciliations (run_id) ON DELETE CASCADE,
    at                 timestamptz NOT NULL,
    mode               text        NOT NULL,
    merchant_id        bigint      NOT NULL,
    kind               text        NOT NULL,
    idempotency_key    text        NOT NULL,
    acquirer           text        NOT NULL,
    account            text        NOT NULL,
    acquirer_reference text,
    payment_reference  text        NOT NULL,
    amount             bigint      NOT NULL,
    currency           text        NOT NULL,
    open               boolean     NOT NULL
  );
  COMMENT ON TABLE statement_lines IS 'Statement of the acquirer. The rows exist only for the duration of a run.';
  COMMENT ON COLUMN statement_lines.at IS 'Time of the movement according to the attempt or refund. If no attempt or refund is found, the time according to the acquirer.';
  COMMENT ON COLUMN statement_lines.acquirer_reference IS 'NULL if the attempt has no reference to compare.';
  COMMENT ON COLUMN statement_lines.open IS 'Whether the attempt or refund has no outcome yet.';
  CREATE INDEX statement_lines_of_run ON statement_lines (run_id, at);
`;
