export const RECONCILIATIONS = `
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
  COMMENT ON COLUMN reconciliations.open IS 'Number of payments, attempts and refunds of the day without an outcome, and of movements that no settlement report contains yet. The jobs of the next nights reconcile such a day again.';
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
