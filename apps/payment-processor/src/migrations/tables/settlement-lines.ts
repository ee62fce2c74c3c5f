export const SETTLEMENT_LINES = `
  CREATE TABLE settlement_batches (
    acquirer  text   NOT NULL CONSTRAINT settlement_batches_acquirer CHECK (length(acquirer) BETWEEN 1 AND 100),
    mode      text   NOT NULL CONSTRAINT settlement_batches_mode CHECK (mode IN ('test', 'live')),
    account   text   NOT NULL CONSTRAINT settlement_batches_account CHECK (length(account) BETWEEN 1 AND 100),
    batch     bigint NOT NULL CONSTRAINT settlement_batches_batch CHECK (batch BETWEEN 0 AND 999999999999),
    report_id uuid   NOT NULL CONSTRAINT settlement_batches_report REFERENCES acquirer_reports (report_id),
    PRIMARY KEY (acquirer, mode, account, batch),
    CONSTRAINT settlement_batches_of_report UNIQUE (report_id, acquirer, mode, account, batch)
  );
  COMMENT ON TABLE settlement_batches IS 'The report from which the lines of each batch are stored. Another report with the same batch, such as that of the company account, stores none, so no line is counted twice.';

  CREATE TABLE settlement_lines (
    line_id            uuid        PRIMARY KEY,
    report_id          uuid        NOT NULL,
    acquirer           text        NOT NULL CONSTRAINT settlement_lines_acquirer CHECK (length(acquirer) BETWEEN 1 AND 100),
    mode               text        NOT NULL CONSTRAINT settlement_lines_mode CHECK (mode IN ('test', 'live')),
    account            text        NOT NULL CONSTRAINT settlement_lines_account CHECK (length(account) BETWEEN 1 AND 100),
    batch              bigint      NOT NULL CONSTRAINT settlement_lines_batch CHECK (batch BETWEEN 0 AND 999999999999),
    line_number        int         NOT NULL CONSTRAINT settlement_lines_line_number CHECK (line_number > 0),
    merchant_id        bigint      NOT NULL,
    type               text        NOT NULL CONSTRAINT settlement_lines_type CHECK (length(type) <= 100),
    kind               text        NOT NULL CONSTRAINT settlement_lines_kind CHECK (kind IN ('capture', 'captureReversal', 'refund', 'refundReturn', 'dispute', 'disputeReversal', 'fee', 'payout', 'balance', 'unknown')),
    payment_id         uuid        CONSTRAINT settlement_lines_payment REFERENCES payments (payment_id),
    movement_id        uuid,
    dispute_report_reference text  COLLATE "C" CONSTRAINT settlement_lines_dispute_report_reference CHECK (length(dispute_report_reference) <= 200),
    payment_reference  text        CONSTRAINT settlement_lines_payment_reference CHECK (length(payment_reference) <= 100),
    acquirer_reference text        CONSTRAINT settlement_lines_acquirer_reference CHECK (length(acquirer_reference) <= 100),
    currency           text        CONSTRAINT settlement_lines_currency CHECK (currency ~ '^[A-Z]{3}$'),
    gross_amount       bigint,
    net_amount         bigint,
    fee_amount         bigint,
    commission         bigint,
    markup             bigint,
    scheme_fees        bigint,
    interchange        bigint,
    problem            text        CONSTRAINT settlement_lines_problem CHECK (length(problem) BETWEEN 1 AND 200),
    is_matched         boolean     NOT NULL,
    stored_at          timestamptz NOT NULL,
    CONSTRAINT settlement_lines_batch_report FOREIGN KEY (report_id, acquirer, mode, account, batch)
      REFERENCES settlement_batches (report_id, acquirer, mode, account, batch),
    CONSTRAINT settlement_lines_once UNIQUE (acquirer, mode, account, batch, line_number),
    CONSTRAINT settlement_lines_matched CHECK (NOT (is_matched AND (kind = 'unknown' OR problem IS NOT NULL)))
  );
  COMMENT ON TABLE settlement_lines IS 'Lines of the settlement reports of acquirers, each stored once. The reconciliation compares them with captures, refunds and disputes.';
  COMMENT ON COLUMN settlement_lines.report_id IS 'Message that announced the report.';
  COMMENT ON COLUMN settlement_lines.merchant_id IS 'Merchant of the payment. Without a payment, the merchant of the account.';
  COMMENT ON COLUMN settlement_lines.type IS 'Type of the line in the terms of the acquirer.';
  COMMENT ON COLUMN settlement_lines.movement_id IS 'Attempt whose charge was captured, refund, or report of a dispute, depending on the kind. NULL if it was not found.';
  COMMENT ON COLUMN settlement_lines.gross_amount IS 'Cents that moved between the payer and the acquirer. Positive if the acquirer owes more to the platform.';
  COMMENT ON COLUMN settlement_lines.net_amount IS 'Cents by which the line changes the payout.';
  COMMENT ON COLUMN settlement_lines.fee_amount IS 'Cents that the acquirer charged with this line, booked as acquirerFee. Negative if it returned a fee.';
  COMMENT ON COLUMN settlement_lines.problem IS 'Why a part of the line is not usable. Such a line is stored, and is unmatched.';
  COMMENT ON COLUMN settlement_lines.is_matched IS 'Whether the line agrees with a capture, refund or dispute of this service, or is a fee, a payout or a balance.';
  CREATE INDEX settlement_lines_of_movement ON settlement_lines (movement_id, kind) WHERE movement_id IS NOT NULL;
  CREATE INDEX settlement_lines_unmatched ON settlement_lines (report_id) WHERE NOT is_matched;
  CREATE INDEX settlement_lines_by_time ON settlement_lines USING brin (stored_at) WITH (pages_per_range = 32, autosummarize = on);
`;
