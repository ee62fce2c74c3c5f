/** The ledger, its seals and its closings are append-only: by a trigger, and by the privileges of the service's role. */
export const LEDGER = `
  CREATE TABLE transfers (
    transfer_id    uuid        PRIMARY KEY,
    kind           text        NOT NULL CONSTRAINT transfers_kind CHECK (kind IN ('capture', 'fee', 'external', 'voucher', 'refund', 'refundReturn', 'lateApproval', 'reversal', 'feeReversal', 'dispute', 'disputeReversal', 'acquirerFee', 'acquirerPayout')),
    debit_account  text        NOT NULL,
    credit_account text        NOT NULL,
    amount         bigint      NOT NULL CONSTRAINT transfers_amount CHECK (amount > 0),
    currency       text        NOT NULL CONSTRAINT transfers_currency CHECK (currency ~ '^[A-Z]{3}$'),
    mode           text        NOT NULL CONSTRAINT transfers_mode CHECK (mode IN ('test', 'live')),
    merchant_id    bigint      NOT NULL,
    payment_id     uuid        REFERENCES payments (payment_id),
    attempt_id     uuid        CONSTRAINT transfers_attempt_id REFERENCES attempts (attempt_id),
    refund_id      uuid        CONSTRAINT transfers_refund_id REFERENCES refunds (refund_id),
    dispute_report_id uuid     CONSTRAINT transfers_dispute_report_id REFERENCES dispute_reports (report_id),
    settlement_line_id uuid    CONSTRAINT transfers_settlement_line_id REFERENCES settlement_lines (line_id),
    forgotten_charge_id uuid   CONSTRAINT transfers_forgotten_charge_id REFERENCES forgotten_charges (charge_id),
    created_at     timestamptz NOT NULL,
    txid           xid8        NOT NULL DEFAULT pg_current_xact_id(),
    position       bigint      GENERATED ALWAYS AS IDENTITY,
    CONSTRAINT transfers_accounts_differ CHECK (debit_account <> credit_account),
    CONSTRAINT transfers_attempt CHECK (num_nonnulls(attempt_id, forgotten_charge_id) = CASE WHEN kind IN ('lateApproval', 'reversal', 'feeReversal') THEN 1 ELSE 0 END),
    CONSTRAINT transfers_refund CHECK ((kind IN ('refund', 'refundReturn')) = (refund_id IS NOT NULL)),
    CONSTRAINT transfers_dispute CHECK ((kind IN ('dispute', 'disputeReversal')) = (dispute_report_id IS NOT NULL)),
    CONSTRAINT transfers_settlement_line CHECK ((kind IN ('acquirerFee', 'acquirerPayout')) = (settlement_line_id IS NOT NULL)),
    CONSTRAINT transfers_payment CHECK (payment_id IS NOT NULL OR num_nonnulls(settlement_line_id, forgotten_charge_id) = 1)
  );
  COMMENT ON TABLE transfers IS 'The ledger. Each row debits one account and credits another with the same amount, so every row balances. Append-only.';
  COMMENT ON COLUMN transfers.mode IS 'Mode of the payment. The account names begin with the mode.';
  COMMENT ON COLUMN transfers.merchant_id IS 'Merchant of the payment, or of the account of the settlement line.';
  COMMENT ON COLUMN transfers.payment_id IS 'NULL for fees and payouts that belong to no payment, and for charges that a restore has forgotten.';
  COMMENT ON COLUMN transfers.attempt_id IS 'Attempt whose approval came too late, was reversed or could not be captured. NULL for transfers of other kinds.';
  COMMENT ON COLUMN transfers.refund_id IS 'Refund that caused the transfer. NULL for transfers of other kinds.';
  COMMENT ON COLUMN transfers.dispute_report_id IS 'Report of the acquirer that moved the money of a dispute. NULL for transfers of other kinds.';
  COMMENT ON COLUMN transfers.settlement_line_id IS 'Line of a settlement report with a fee of the acquirer or its payout. NULL for transfers of other kinds.';
  COMMENT ON COLUMN transfers.forgotten_charge_id IS 'Charge that a restore has forgotten and that is reversed. NULL for transfers of other kinds.';
  COMMENT ON COLUMN transfers.txid IS 'Transaction that inserted the transfer. Transfers are sealed in the order (txid, position), and only below pg_snapshot_xmin.';
  CREATE UNIQUE INDEX transfers_once ON transfers (payment_id, kind) WHERE kind IN ('capture', 'fee');
  CREATE UNIQUE INDEX transfers_once_for_attempt ON transfers (attempt_id, kind) WHERE attempt_id IS NOT NULL;
  CREATE UNIQUE INDEX transfers_once_for_refund ON transfers (refund_id, kind) WHERE refund_id IS NOT NULL;
  CREATE UNIQUE INDEX transfers_one_dispute_report ON transfers (dispute_report_id) WHERE dispute_report_id IS NOT NULL;
  CREATE UNIQUE INDEX transfers_once_for_settlement_line ON transfers (settlement_line_id) WHERE settlement_line_id IS NOT NULL;
  CREATE UNIQUE INDEX transfers_once_for_forgotten_charge ON transfers (forgotten_charge_id, kind) WHERE forgotten_charge_id IS NOT NULL;
  CREATE UNIQUE INDEX transfers_order ON transfers (txid, position);
  CREATE INDEX transfers_of_merchant ON transfers (merchant_id, mode, created_at, position);
  CREATE INDEX transfers_by_time ON transfers USING brin (created_at) WITH (pages_per_range = 32, autosummarize = on);

  CREATE FUNCTION refuse_foreign_transaction() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'A transfer belongs to the transaction that writes it' USING ERRCODE = 'check_violation', CONSTRAINT = 'transfers_txid';
  END $$;
  COMMENT ON FUNCTION refuse_foreign_transaction IS 'Rejects a txid of another transaction. A transfer with a txid in the far future would never be sealed, and its quarter of an hour would never be closed.';
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

  CREATE TABLE ledger_closings (
    closed_until timestamptz PRIMARY KEY CONSTRAINT ledger_closings_quarter_hour CHECK (extract(epoch FROM closed_until) % 900 = 0),
    seal_number  bigint      NOT NULL CONSTRAINT ledger_closings_seal_number CHECK (seal_number >= 0),
    root         bytea       NOT NULL CONSTRAINT ledger_closings_root CHECK (octet_length(root) = 32),
    closed_at    timestamptz NOT NULL
  );
  CREATE INDEX ledger_closings_of_seal ON ledger_closings (seal_number);
  COMMENT ON TABLE ledger_closings IS 'All transfers that were created before closed_until are in the seals up to seal_number. One row for each quarter of an hour, because local midnights are at quarters of an hour in UTC.';
  COMMENT ON COLUMN ledger_closings.seal_number IS 'Newest seal when the quarter of an hour was closed. 0 if there was no seal yet.';
  COMMENT ON COLUMN ledger_closings.root IS 'Hash of that seal. At midnight UTC it is the root of the day, which is logged too. With a copy of the log, an auditor can detect that the chain was rewritten.';

  CREATE TABLE merchant_balances (
    merchant_id bigint      NOT NULL,
    mode        text        NOT NULL CONSTRAINT merchant_balances_mode CHECK (mode IN ('test', 'live')),
    site_id     bigint      NOT NULL,
    at          timestamptz NOT NULL CONSTRAINT merchant_balances_month CHECK (at = date_trunc('month', at, 'UTC')),
    amounts     jsonb       NOT NULL CONSTRAINT merchant_balances_amounts CHECK (jsonb_typeof(amounts) = 'array'),
    PRIMARY KEY (merchant_id, mode, site_id, at)
  );
  COMMENT ON TABLE merchant_balances IS 'Sums of all transfers on the payable of a merchant before the beginning of a month, so that a balance need not sum up all transfers again. Only of months before which the ledger is closed. A row may be deleted: it is computed again.';
  COMMENT ON COLUMN merchant_balances.site_id IS '0 for all sites of the merchant.';
  COMMENT ON COLUMN merchant_balances.at IS 'The beginning of a month in UTC.';
  COMMENT ON COLUMN merchant_balances.amounts IS 'The amount in cents of each currency. Negative if the merchant owes it.';

  CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'The ledger is append-only' USING ERRCODE = 'check_violation', CONSTRAINT = TG_TABLE_NAME || '_append_only';
  END $$;
  CREATE TRIGGER transfers_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON transfers
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
  CREATE TRIGGER ledger_seals_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_seals
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
  CREATE TRIGGER ledger_closings_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_closings
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
  SELECT revoke_from_others(ledger::regclass, 'UPDATE, DELETE, TRUNCATE')
    FROM unnest(ARRAY['transfers', 'ledger_seals', 'ledger_closings']) AS ledger;
`;
