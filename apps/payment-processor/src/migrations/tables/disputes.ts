export const DISPUTES = `
  CREATE TABLE disputes (
    dispute_id         uuid        PRIMARY KEY,
    payment_id         uuid        NOT NULL REFERENCES payments (payment_id),
    attempt_id         uuid        NOT NULL REFERENCES attempts (attempt_id),
    mode               text        NOT NULL CONSTRAINT disputes_mode CHECK (mode IN ('test', 'live')),
    acquirer           text        NOT NULL CONSTRAINT disputes_acquirer CHECK (length(acquirer) BETWEEN 1 AND 100),
    acquirer_reference text        NOT NULL CONSTRAINT disputes_acquirer_reference CHECK (length(acquirer_reference) BETWEEN 1 AND 100),
    stage              text        NOT NULL CONSTRAINT disputes_stage CHECK (stage IN ('inquiry', 'opened', 'debited', 'reversed', 'won', 'lost')),
    amount             bigint      NOT NULL CONSTRAINT disputes_amount CHECK (amount BETWEEN 1 AND 100000000000),
    reason             text        NOT NULL CONSTRAINT disputes_reason CHECK (length(reason) <= 200),
    respond_by         timestamptz,
    created_at         timestamptz NOT NULL,
    modified_at        timestamptz NOT NULL,
    version            bigint      NOT NULL CONSTRAINT disputes_version CHECK (version > 0),
    CONSTRAINT disputes_one_each UNIQUE (acquirer, mode, acquirer_reference),
    CONSTRAINT disputes_deadline CHECK (respond_by IS NULL OR stage NOT IN ('won', 'lost'))
  );
  COMMENT ON TABLE disputes IS 'Disputes of payers about charges, as acquirers report them (M8). Stage, amount, reason and deadline are computed from dispute_reports.';
  COMMENT ON COLUMN disputes.dispute_id IS 'disputeReference in the API.';
  COMMENT ON COLUMN disputes.attempt_id IS 'Attempt whose charge is disputed.';
  COMMENT ON COLUMN disputes.acquirer_reference IS 'The acquirer''s reference of the dispute, the same in all its reports.';
  COMMENT ON COLUMN disputes.respond_by IS 'Until when the merchant can respond. NULL when no response is possible or necessary.';
  COMMENT ON COLUMN disputes.version IS 'aggregateVersion of the event of the last change.';
  CREATE INDEX disputes_of_payment ON disputes (payment_id, dispute_id);
  CREATE INDEX disputes_open ON disputes (respond_by, dispute_id) WHERE stage NOT IN ('won', 'lost');

  CREATE TABLE dispute_reports (
    report_id        uuid        PRIMARY KEY,
    dispute_id       uuid        NOT NULL REFERENCES disputes (dispute_id),
    acquirer         text        NOT NULL,
    mode             text        NOT NULL,
    report_reference text        COLLATE "C" NOT NULL CONSTRAINT dispute_reports_reference CHECK (length(report_reference) BETWEEN 1 AND 100),
    kind             text        NOT NULL CONSTRAINT dispute_reports_kind CHECK (kind IN ('inquiry', 'opened', 'debited', 'reversed', 'debitedAgain',
                                   'preArbitrationOpened', 'defended', 'defencePeriodEnded', 'commented', 'won', 'lost')),
    amount           bigint      NOT NULL CONSTRAINT dispute_reports_amount CHECK (amount BETWEEN 1 AND 100000000000),
    reason           text        NOT NULL CONSTRAINT dispute_reports_reason CHECK (length(reason) <= 200),
    respond_by       timestamptz,
    occurred_at      timestamptz NOT NULL,
    received_at      timestamptz NOT NULL,
    booked_at        timestamptz,
    CONSTRAINT dispute_reports_once UNIQUE (acquirer, mode, report_reference),
    CONSTRAINT dispute_reports_booked CHECK (booked_at IS NULL OR kind IN ('debited', 'reversed', 'debitedAgain'))
  );
  COMMENT ON TABLE dispute_reports IS 'Reports of acquirers about disputes, in the order of their arrival. A report that is repeated has one row.';
  COMMENT ON COLUMN dispute_reports.report_reference IS 'The acquirer''s reference of the report. Also the key of the movement on the acquirer''s statement.';
  COMMENT ON COLUMN dispute_reports.occurred_at IS 'When it happened, according to the acquirer.';
  COMMENT ON COLUMN dispute_reports.booked_at IS 'When the movement of money was booked in the ledger. NULL for a report without a movement, and while an earlier movement of the dispute is not reported.';
  CREATE UNIQUE INDEX dispute_reports_movements ON dispute_reports (dispute_id, kind) WHERE kind IN ('debited', 'reversed', 'debitedAgain');
  CREATE INDEX dispute_reports_of_dispute ON dispute_reports (dispute_id, report_id);
  CREATE INDEX dispute_reports_by_booking ON dispute_reports (booked_at) WHERE booked_at IS NOT NULL;

  CREATE TABLE dispute_changes (
    change_id  uuid        PRIMARY KEY,
    dispute_id uuid        NOT NULL REFERENCES disputes (dispute_id),
    version    bigint      NOT NULL,
    stage      text        NOT NULL,
    amount     bigint      NOT NULL,
    reason     text        NOT NULL,
    respond_by timestamptz,
    changed_at timestamptz NOT NULL,
    CONSTRAINT dispute_changes_once UNIQUE (dispute_id, version)
  );
  COMMENT ON TABLE dispute_changes IS 'Each version of a dispute. Each is published in an event, and its merchant is notified of it once.';
  COMMENT ON COLUMN dispute_changes.change_id IS 'webhook-id of the notification. It contains changed_at.';

  CREATE TABLE dispute_incidents (
    acquirer          text        NOT NULL CONSTRAINT dispute_incidents_acquirer CHECK (length(acquirer) <= 100),
    mode              text        NOT NULL CONSTRAINT dispute_incidents_mode CHECK (mode IN ('test', 'live')),
    report_reference  text        COLLATE "C" NOT NULL CONSTRAINT dispute_incidents_report_reference CHECK (length(report_reference) <= 100),
    problem           text        NOT NULL CONSTRAINT dispute_incidents_problem CHECK (length(problem) <= 100),
    dispute_reference text        NOT NULL CONSTRAINT dispute_incidents_dispute_reference CHECK (length(dispute_reference) <= 100),
    report            text        NOT NULL CONSTRAINT dispute_incidents_report CHECK (length(report) <= 2000),
    first_seen_at     timestamptz NOT NULL,
    last_seen_at      timestamptz NOT NULL,
    occurrences       int         NOT NULL CONSTRAINT dispute_incidents_occurrences CHECK (occurrences > 0),
    PRIMARY KEY (acquirer, mode, report_reference, problem)
  );
  COMMENT ON TABLE dispute_incidents IS 'Reports of acquirers about disputes that are impossible, for example about an unknown charge. They book nothing. An operator compares them with the records of the acquirer.';
  COMMENT ON COLUMN dispute_incidents.report IS 'The report as JSON, at most 2000 characters.';
  CREATE INDEX dispute_incidents_of_dispute ON dispute_incidents (acquirer, mode, dispute_reference);
  CREATE INDEX dispute_incidents_newest ON dispute_incidents (last_seen_at);
`;
