import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Refunds (M5). A constraint on the payment's row limits the sum of its refunds. Constraints on large tables are NOT
 * VALID: they apply to new rows, and all older rows satisfy them anyway.
 */
export class Refunds1763500001032 implements MigrationInterface {
  readonly name = 'Refunds1763500001032';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE payments
        ADD COLUMN refunded_amount       bigint NOT NULL DEFAULT 0,
        ADD COLUMN refund_pending_amount bigint NOT NULL DEFAULT 0,
        ADD CONSTRAINT payments_refunds CHECK (refunded_amount >= 0 AND refund_pending_amount >= 0
                                           AND refunded_amount + refund_pending_amount <= processed_amount) NOT VALID;
      COMMENT ON COLUMN payments.refunded_amount IS 'Cents that refunds have returned to the payer (M5).';
      COMMENT ON COLUMN payments.refund_pending_amount IS
        'Cents that pending refunds reserve. Other refunds cannot use this amount.';

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
        asked              int         NOT NULL,
        looked_at          timestamptz,
        next_ask_at        timestamptz,
        CONSTRAINT refunds_pending CHECK ((state = 'pending') = (next_ask_at IS NOT NULL) AND (state = 'pending') = (ended_at IS NULL))
      );
      COMMENT ON TABLE refunds IS 'Refunds to payers (M5). A row is the decision to refund. It is committed before the acquirer is called.';
      COMMENT ON COLUMN refunds.refund_id IS 'refundReference in the API, and idempotency key at the acquirer.';
      COMMENT ON COLUMN refunds.attempt_id IS 'Attempt whose charge is refunded.';
      COMMENT ON COLUMN refunds.amount IS 'Cents.';
      COMMENT ON COLUMN refunds.requested_by IS 'Id of the API key of the merchant or site that requested the refund.';
      COMMENT ON COLUMN refunds.asked IS 'Number of queries to the acquirer by the recovery job.';
      COMMENT ON COLUMN refunds.looked_at IS 'When the acquirer was last queried because a client polled the refund.';
      COMMENT ON COLUMN refunds.next_ask_at IS
        'When the recovery job next queries the acquirer. NULL after the refund has ended.';
      CREATE INDEX refunds_of_payment ON refunds (payment_id, refund_id);
      CREATE INDEX refunds_due ON refunds (next_ask_at) WHERE next_ask_at IS NOT NULL;
      CREATE INDEX refunds_longest_pending ON refunds (refund_id) WHERE next_ask_at IS NOT NULL;
      COMMENT ON INDEX refunds_longest_pending IS
        'For the list of pending refunds that administrators read. Ids sort by the creation time of the refund.';

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
        answer             text        NOT NULL,
        acquirer_reference text,
        first_seen_at      timestamptz NOT NULL,
        last_seen_at       timestamptz NOT NULL,
        occurrences        int         NOT NULL CONSTRAINT refund_incidents_occurrences CHECK (occurrences > 0),
        PRIMARY KEY (refund_id, refund_state, answer)
      );
      COMMENT ON TABLE refund_incidents IS 'Responses of the acquirer that contradict the state of their refund. An operator compares them with the records of the acquirer.';

      ALTER TABLE transfers
        ADD COLUMN refund_id uuid CONSTRAINT transfers_refund_id REFERENCES refunds (refund_id),
        DROP CONSTRAINT transfers_kind,
        ADD CONSTRAINT transfers_kind CHECK (kind IN ('capture', 'external', 'voucher', 'refund')) NOT VALID,
        ADD CONSTRAINT transfers_refund CHECK ((kind = 'refund') = (refund_id IS NOT NULL)) NOT VALID;
      COMMENT ON COLUMN transfers.refund_id IS 'Refund that caused the transfer. NULL for transfers of other kinds.';
      CREATE UNIQUE INDEX transfers_one_refund ON transfers (refund_id) WHERE refund_id IS NOT NULL;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
