export const REFUNDS = `
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
    returned_at        timestamptz,
    uncertain_since    timestamptz,
    queries            int         NOT NULL,
    queried_at         timestamptz,
    next_query_at      timestamptz,
    CONSTRAINT refunds_returned CHECK (returned_at IS NULL OR state = 'failed'),
    CONSTRAINT refunds_pending CHECK ((state = 'pending') = (next_query_at IS NOT NULL) AND (state = 'pending') = (ended_at IS NULL))
  );
  COMMENT ON TABLE refunds IS 'Refunds to payers (M5). A row is the decision to refund. It is committed before the acquirer is called. The constraint payments_refunds limits the sum of the refunds of a payment.';
  COMMENT ON COLUMN refunds.refund_id IS 'refundReference in the API, and idempotency key at the acquirer.';
  COMMENT ON COLUMN refunds.attempt_id IS 'Attempt whose charge is refunded.';
  COMMENT ON COLUMN refunds.requested_by IS 'Id of the API key of the merchant or site, or of the person, that requested the refund.';
  COMMENT ON COLUMN refunds.returned_at IS 'When the acquirer reported that the money of a refund that had succeeded came back. The refund is then failed.';
  COMMENT ON COLUMN refunds.uncertain_since IS 'Since when only the acquirer''s own report can end the refund. It is not sent again, because a second request could refund twice.';
  COMMENT ON COLUMN refunds.queries IS 'Number of queries to the acquirer by the recovery job.';
  COMMENT ON COLUMN refunds.queried_at IS 'When the acquirer was last queried because a client polled the refund.';
  COMMENT ON COLUMN refunds.next_query_at IS 'When the recovery job next queries the acquirer. NULL after the refund has ended.';
  CREATE INDEX refunds_of_payment ON refunds (payment_id, refund_id);
  CREATE INDEX refunds_due ON refunds (next_query_at) WHERE next_query_at IS NOT NULL;
  CREATE INDEX refunds_longest_pending ON refunds (refund_id) WHERE next_query_at IS NOT NULL;
  COMMENT ON INDEX refunds_longest_pending IS 'For the list of pending refunds that administrators read. Ids sort by the creation time of the refund.';
  CREATE INDEX refunds_returned_in ON refunds (returned_at) WHERE returned_at IS NOT NULL;
  CREATE INDEX refunds_ended ON refunds (ended_at) WHERE ended_at IS NOT NULL;

  CREATE FUNCTION refuse_refund_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'A refund that is % does not change like this', OLD.state USING ERRCODE = 'check_violation', CONSTRAINT = 'refunds_transition';
  END $$;
  -- A refund that succeeded can fail days later, when the payer's bank returns the money.
  CREATE TRIGGER refunds_transition BEFORE UPDATE ON refunds
    FOR EACH ROW WHEN (OLD.state <> 'pending' AND NOT (OLD.state = 'succeeded' AND NEW.returned_at IS NOT NULL) OR (OLD.payment_id, OLD.attempt_id, OLD.amount) IS DISTINCT FROM (NEW.payment_id, NEW.attempt_id, NEW.amount))
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
  CREATE INDEX refund_incidents_newest ON refund_incidents (last_seen_at);
  COMMENT ON TABLE refund_incidents IS 'Responses of the acquirer that contradict the state of their refund. An operator compares them with the records of the acquirer.';
`;
