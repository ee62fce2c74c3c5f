export const ATTEMPTS = `
  CREATE TABLE attempts (
    attempt_id         uuid        PRIMARY KEY,
    payment_id         uuid        NOT NULL REFERENCES payments (payment_id),
    acquirer           text        NOT NULL,
    account            text        NOT NULL CONSTRAINT attempts_account CHECK (length(account) BETWEEN 1 AND 100),
    trace_id           text        CONSTRAINT attempts_trace_id CHECK (length(trace_id) = 32),
    state              text        NOT NULL CONSTRAINT attempts_state CHECK (state IN ('started', 'unknown', 'reversing', 'approved', 'declined', 'notAttempted', 'reversed')),
    acquirer_reference text,
    acquirer_code      text        CONSTRAINT attempts_acquirer_code CHECK (length(acquirer_code) BETWEEN 1 AND 100),
    started_at         timestamptz NOT NULL,
    ended_at           timestamptz,
    queries            int         NOT NULL,
    queried_at         timestamptz,
    next_query_at      timestamptz,
    velocity_keys      text[]      COLLATE "C" CONSTRAINT attempts_velocity_keys CHECK (cardinality(velocity_keys) BETWEEN 1 AND 8),
    CONSTRAINT attempts_open CHECK ((state IN ('started', 'unknown', 'reversing')) = (next_query_at IS NOT NULL)
                                AND (state IN ('started', 'unknown', 'reversing')) = (ended_at IS NULL))
  );
  COMMENT ON TABLE attempts IS 'Charge attempts. Each row is one call to the acquirer, with attempt_id as idempotency key.';
  COMMENT ON COLUMN attempts.account IS 'Account of the merchant at the acquirer.';
  COMMENT ON COLUMN attempts.trace_id IS 'Trace of the request that made the attempt (C8). NULL if telemetry was off.';
  COMMENT ON COLUMN attempts.acquirer_code IS 'The acquirer''s own code of a refusal, for operators. NULL without one.';
  COMMENT ON COLUMN attempts.started_at IS 'When the call to the acquirer starts: at the acceptance of the payment, or when a process later leases the call. The age of the attempt counts from this time.';
  COMMENT ON COLUMN attempts.queries IS 'Number of queries to the acquirer by the recovery job.';
  COMMENT ON COLUMN attempts.queried_at IS 'When the acquirer was last queried because a client polled the payment.';
  COMMENT ON COLUMN attempts.next_query_at IS 'When the recovery job next queries the outcome from the acquirer, or reverses the attempt.';
  COMMENT ON COLUMN attempts.velocity_keys IS 'Counters of the attempt in velocity_counters (P11). NULL if its merchant has no limits, after an approval, and 30 days after a decline. An attempt that was declined keeps only those of the card.';
  CREATE UNIQUE INDEX attempts_one_open ON attempts (payment_id, (CASE WHEN state IN ('started', 'unknown', 'reversing', 'approved') THEN NULL ELSE attempt_id END)) NULLS NOT DISTINCT;
  COMMENT ON INDEX attempts_one_open IS 'A payment has at most one attempt that is open or approved, and any number of ended attempts. Also finds all attempts of a payment.';
  CREATE INDEX attempts_due ON attempts (acquirer, next_query_at) WHERE next_query_at IS NOT NULL;
  CREATE INDEX attempts_by_start ON attempts USING brin (started_at) WITH (pages_per_range = 32, autosummarize = on);
  CREATE INDEX attempts_with_ended_counters ON attempts (ended_at) WHERE velocity_keys IS NOT NULL AND ended_at IS NOT NULL;
  COMMENT ON INDEX attempts_with_ended_counters IS 'For the job that removes the keys when no counter needs them any more.';
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
  CREATE INDEX incidents_newest ON incidents (last_seen_at);
  COMMENT ON TABLE incidents IS 'Responses of the acquirer that contradict the state of their attempt. An operator compares them with the records of the acquirer.';
  COMMENT ON COLUMN incidents.attempt_state IS 'State of the attempt when the response arrived.';

  CREATE TABLE reversals (
    attempt_id      uuid        PRIMARY KEY REFERENCES attempts (attempt_id),
    requested_at    timestamptz NOT NULL,
    next_request_at timestamptz,
    confirmed_at    timestamptz,
    found_charge    boolean,
    holds_money     boolean     NOT NULL,
    approval_seen   boolean     NOT NULL,
    CONSTRAINT reversals_open CHECK ((next_request_at IS NULL) = (confirmed_at IS NOT NULL) AND (found_charge IS NULL) = (confirmed_at IS NULL))
  );
  COMMENT ON TABLE reversals IS 'Reversals of approvals that arrived after their attempt had ended without a charge (H2), and of charges that were abandoned, whether or not the acquirer ever approved them.';
  COMMENT ON COLUMN reversals.holds_money IS 'Whether the acquirer has taken the money, which is then booked as lateApproval. False at acquirers that capture separately.';
  COMMENT ON COLUMN reversals.approval_seen IS 'Whether the acquirer has approved the charge. False for an abandoned charge about which the acquirer has said nothing.';
  COMMENT ON COLUMN reversals.found_charge IS 'Whether the acquirer found a charge to reverse. NULL until the acquirer confirms.';
  COMMENT ON COLUMN reversals.next_request_at IS 'When the next reversal request is sent. The requests are repeated until the acquirer confirms the reversal.';
  CREATE INDEX reversals_due ON reversals (next_request_at) WHERE next_request_at IS NOT NULL;
  CREATE INDEX reversals_requested ON reversals (requested_at);
  CREATE INDEX reversals_confirmed ON reversals (confirmed_at) WHERE found_charge;

  CREATE TABLE captures (
    attempt_id         uuid        PRIMARY KEY REFERENCES attempts (attempt_id),
    payment_id         uuid        NOT NULL CONSTRAINT captures_payment UNIQUE REFERENCES payments (payment_id),
    amount             bigint      NOT NULL CONSTRAINT captures_amount CHECK (amount BETWEEN 1 AND 100000000000),
    state              text        NOT NULL CONSTRAINT captures_state CHECK (state IN ('due', 'requested', 'captured', 'failed')),
    acquirer_reference text        CONSTRAINT captures_acquirer_reference CHECK (length(acquirer_reference) BETWEEN 1 AND 100),
    created_at         timestamptz NOT NULL,
    requests           int         NOT NULL,
    key_number         int         NOT NULL CONSTRAINT captures_key_number CHECK (key_number > 0),
    next_request_at    timestamptz,
    ended_at           timestamptz,
    captured_at        timestamptz,
    failure            text        CONSTRAINT captures_failure CHECK (failure IN ('cardScheme', 'rejected')),
    next_release_at    timestamptz,
    released_at        timestamptz,
    CONSTRAINT captures_open CHECK ((state IN ('due', 'requested')) = (next_request_at IS NOT NULL) AND (next_request_at IS NULL) = (ended_at IS NOT NULL)),
    CONSTRAINT captures_captured CHECK (captured_at IS NOT NULL OR state <> 'captured'),
    CONSTRAINT captures_has_failure CHECK ((state = 'failed') = (failure IS NOT NULL)),
    CONSTRAINT captures_release CHECK (num_nonnulls(next_release_at, released_at) = 0 OR (failure IS NOT DISTINCT FROM 'rejected' AND num_nonnulls(next_release_at, released_at) = 1))
  );
  COMMENT ON TABLE captures IS 'Captures of approved charges, at acquirers that capture separately. The row is committed with the success of the payment.';
  COMMENT ON COLUMN captures.acquirer_reference IS 'The acquirer''s reference of the capture. NULL until the acquirer has received the request.';
  COMMENT ON COLUMN captures.requests IS 'Number of requests to capture.';
  COMMENT ON COLUMN captures.key_number IS 'Number of the idempotency key of the next request. It grows when the acquirer would answer all requests under the earlier key with the same response.';
  COMMENT ON COLUMN captures.next_request_at IS 'When the job next requests the capture. After the acquirer has received the request: when the job next records that the outcome is missing.';
  COMMENT ON COLUMN captures.ended_at IS 'When the newest outcome was recorded.';
  COMMENT ON COLUMN captures.captured_at IS 'When it was recorded that the money was taken, also if the capture failed after that. Refunds are sent only from then on.';
  COMMENT ON COLUMN captures.failure IS 'Why the capture failed. cardScheme: the card scheme rejected a capture that the acquirer had accepted. rejected: the acquirer refused the request, so the reservation is released.';
  COMMENT ON COLUMN captures.next_release_at IS 'When the job next requests the release of the reservation. NULL after the acquirer has confirmed it, and when the reservation has expired.';
  COMMENT ON COLUMN captures.released_at IS 'When the acquirer confirmed that it reserves nothing.';
  CREATE INDEX captures_due ON captures (next_request_at) WHERE next_request_at IS NOT NULL;
  CREATE INDEX captures_to_release ON captures (next_release_at) WHERE next_release_at IS NOT NULL;
  CREATE INDEX captures_failed ON captures (ended_at) WHERE state = 'failed';

  CREATE FUNCTION refuse_capture_transition() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF (OLD.state, NEW.state) NOT IN (('due', 'requested'), ('due', 'captured'), ('due', 'failed'), ('requested', 'due'),
                                      ('requested', 'captured'), ('requested', 'failed'), ('captured', 'failed')) THEN
      RAISE EXCEPTION 'A capture cannot go from % to %', OLD.state, NEW.state USING ERRCODE = 'check_violation', CONSTRAINT = 'captures_transition';
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER captures_transition BEFORE UPDATE OF state ON captures
    FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION refuse_capture_transition();

  CREATE TABLE acquirer_reports (
    report_id     uuid        PRIMARY KEY,
    acquirer      text        NOT NULL CONSTRAINT acquirer_reports_acquirer CHECK (length(acquirer) BETWEEN 1 AND 100),
    mode          text        NOT NULL CONSTRAINT acquirer_reports_mode CHECK (mode IN ('test', 'live')),
    duplicate_key text        NOT NULL CONSTRAINT acquirer_reports_duplicate_key CHECK (length(duplicate_key) BETWEEN 1 AND 400),
    report        jsonb       NOT NULL,
    received_at   timestamptz NOT NULL,
    applications  int         NOT NULL,
    next_apply_at timestamptz,
    effect        text        CONSTRAINT acquirer_reports_effect CHECK (effect IN ('applied', 'none', 'incident', 'ignored')),
    note          text        CONSTRAINT acquirer_reports_note CHECK (length(note) BETWEEN 1 AND 500),
    CONSTRAINT acquirer_reports_once UNIQUE (acquirer, mode, duplicate_key),
    CONSTRAINT acquirer_reports_open CHECK ((next_apply_at IS NULL) = (effect IS NOT NULL))
  );
  COMMENT ON TABLE acquirer_reports IS 'Messages that acquirers send by themselves (webhooks). A message is stored before it is acknowledged, and applied once.';
  COMMENT ON COLUMN acquirer_reports.duplicate_key IS 'Equal for messages that the acquirer sends again.';
  COMMENT ON COLUMN acquirer_reports.report IS 'The message in the terms of this service, without card data.';
  COMMENT ON COLUMN acquirer_reports.applications IS 'Number of times that a replica has begun to apply the message.';
  COMMENT ON COLUMN acquirer_reports.next_apply_at IS 'When the job next applies the message. NULL after it was applied.';
  COMMENT ON COLUMN acquirer_reports.note IS 'For operators: why the message had no effect, why a settlement report could not be read, or what it contained.';
  CREATE INDEX acquirer_reports_due ON acquirer_reports (next_apply_at) WHERE next_apply_at IS NOT NULL;
  CREATE INDEX acquirer_reports_applied ON acquirer_reports (received_at) WHERE next_apply_at IS NULL AND report ->> 'kind' <> 'statement';
  COMMENT ON INDEX acquirer_reports_applied IS 'For the deletion of old messages.';
  CREATE INDEX acquirer_reports_statements ON acquirer_reports (received_at) WHERE report ->> 'kind' = 'statement';
  COMMENT ON INDEX acquirer_reports_statements IS 'The announced settlement reports, for administrators and metrics.';
  CREATE INDEX acquirer_reports_unexpected ON acquirer_reports (received_at) WHERE effect IN ('incident', 'ignored');
`;
