import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Payables, payments, attempts and the ledger, with the states of payment.ts, attempt.ts and payable.ts. */
export class Payments1763500001000 implements MigrationInterface {
  readonly name = 'Payments1763500001000';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE card_keys (
        kid                uuid        PRIMARY KEY,
        public_jwk         jsonb       NOT NULL,
        sealed_private_key text        NOT NULL,
        created_at         timestamptz NOT NULL,
        current            boolean     CONSTRAINT card_keys_current CHECK (current),
        CONSTRAINT card_keys_one_current UNIQUE (current)
      );
      COMMENT ON TABLE card_keys IS 'Key pairs for card data. Pages and SDKs encrypt card data with the public key. The private key is stored encrypted (P8).';
      COMMENT ON COLUMN card_keys.current IS 'True for the published key. NULL for older keys, which still decrypt the card data that was encrypted with them.';

      CREATE TABLE payables (
        payable_id  uuid        PRIMARY KEY,
        mode        text        NOT NULL CONSTRAINT payables_mode CHECK (mode IN ('test', 'live')),
        merchant_id bigint      NOT NULL,
        site_id     bigint      NOT NULL,
        amount      bigint      NOT NULL CONSTRAINT payables_amount CHECK (amount BETWEEN 1 AND 100000000000),
        currency    text        NOT NULL CONSTRAINT payables_currency CHECK (currency ~ '^[A-Z]{3}$'),
        expires_at  timestamptz NOT NULL,
        tries_max   int         NOT NULL CONSTRAINT payables_tries_max CHECK (tries_max BETWEEN 1 AND 100),
        source      jsonb       NOT NULL,
        state       text        NOT NULL CONSTRAINT payables_state CHECK (state IN ('open', 'reserved', 'paid', 'refused', 'closed')),
        holder      uuid,
        tries       int         NOT NULL CONSTRAINT payables_tries CHECK (tries BETWEEN 0 AND tries_max),
        version     bigint      NOT NULL,
        created_at  timestamptz NOT NULL,
        modified_at timestamptz NOT NULL,
        CONSTRAINT payables_holder CHECK ((state IN ('reserved', 'paid')) = (holder IS NOT NULL))
      );
      COMMENT ON TABLE payables IS
        'Sessions and invoices, payable once. Only the payment that reserves an open one may call the acquirer.';
      COMMENT ON COLUMN payables.amount IS 'Cents.';
      COMMENT ON COLUMN payables.holder IS 'The payment that has reserved or paid the payable.';

      CREATE TABLE payments (
        payment_id        uuid        PRIMARY KEY,
        payable_id        uuid        NOT NULL REFERENCES payables (payable_id),
        reference         uuid        NOT NULL,
        payment_reference text        NOT NULL CONSTRAINT payments_payment_reference UNIQUE,
        state             text        NOT NULL CONSTRAINT payments_state CHECK (state IN ('processing', 'success', 'failed', 'verificationRequired')),
        amount            bigint      NOT NULL CONSTRAINT payments_amount CHECK (amount BETWEEN 1 AND 100000000000),
        tip_amount        bigint      NOT NULL CONSTRAINT payments_tip_amount CHECK (tip_amount BETWEEN 0 AND 100000000000),
        processed_amount  bigint      NOT NULL,
        method_label      text        NOT NULL CONSTRAINT payments_method_label CHECK (method_label ~ '^[*]{4} [0-9]{4}$'),
        errors            jsonb       NOT NULL,
        accepted_at       timestamptz NOT NULL,
        modified_at       timestamptz NOT NULL,
        version           bigint      NOT NULL,
        CONSTRAINT payments_idempotency UNIQUE (payable_id, reference),
        CONSTRAINT payments_processed CHECK (processed_amount = CASE WHEN state = 'success' THEN amount + tip_amount ELSE 0 END),
        CONSTRAINT payments_errors CHECK ((state = 'failed') = (jsonb_array_length(errors) > 0))
      );
      COMMENT ON COLUMN payments.reference IS 'The client''s idempotency key for this payment (C7).';
      CREATE UNIQUE INDEX payments_one_under_way ON payments (payable_id) WHERE state IN ('processing', 'success', 'verificationRequired');
      COMMENT ON INDEX payments_one_under_way IS 'A payable has at most one payment that is in progress or successful.';

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

      CREATE TABLE attempts (
        attempt_id         uuid        PRIMARY KEY,
        payment_id         uuid        NOT NULL REFERENCES payments (payment_id),
        acquirer           text        NOT NULL,
        state              text        NOT NULL CONSTRAINT attempts_state CHECK (state IN ('started', 'approved', 'declined', 'notAttempted', 'unknown', 'reversed')),
        acquirer_reference text,
        started_at         timestamptz NOT NULL,
        ended_at           timestamptz,
        asked              int         NOT NULL,
        next_ask_at        timestamptz,
        CONSTRAINT attempts_open CHECK ((state IN ('started', 'unknown')) = (next_ask_at IS NOT NULL) AND (state IN ('started', 'unknown')) = (ended_at IS NULL))
      );
      COMMENT ON TABLE attempts IS
        'Charge attempts. Each row is one call to the acquirer, with attempt_id as idempotency key.';
      COMMENT ON COLUMN attempts.next_ask_at IS 'When the recovery job next queries the outcome from the acquirer.';
      CREATE UNIQUE INDEX attempts_one_open ON attempts (payment_id) WHERE state IN ('started', 'unknown', 'approved');
      CREATE INDEX attempts_due ON attempts (next_ask_at) WHERE next_ask_at IS NOT NULL;

      CREATE FUNCTION refuse_attempt_transition() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF (OLD.state, NEW.state) NOT IN (('started', 'approved'), ('started', 'declined'), ('started', 'notAttempted'), ('started', 'unknown'), ('started', 'reversed'),
                                          ('unknown', 'approved'), ('unknown', 'declined'), ('unknown', 'notAttempted'), ('unknown', 'reversed')) THEN
          RAISE EXCEPTION 'An attempt cannot go from % to %', OLD.state, NEW.state USING ERRCODE = 'check_violation', CONSTRAINT = 'attempts_transition';
        END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER attempts_transition BEFORE UPDATE OF state ON attempts
        FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION refuse_attempt_transition();

      CREATE TABLE transfers (
        transfer_id    uuid        PRIMARY KEY,
        kind           text        NOT NULL CONSTRAINT transfers_kind CHECK (kind IN ('capture')),
        debit_account  text        NOT NULL,
        credit_account text        NOT NULL,
        amount         bigint      NOT NULL CONSTRAINT transfers_amount CHECK (amount > 0),
        currency       text        NOT NULL CONSTRAINT transfers_currency CHECK (currency ~ '^[A-Z]{3}$'),
        payment_id     uuid        NOT NULL REFERENCES payments (payment_id),
        created_at     timestamptz NOT NULL,
        CONSTRAINT transfers_accounts_differ CHECK (debit_account <> credit_account)
      );
      COMMENT ON TABLE transfers IS 'The ledger. Each row debits one account and credits another with the same amount, so every row balances. Append-only.';
      CREATE UNIQUE INDEX transfers_one_capture ON transfers (payment_id) WHERE kind = 'capture';

      CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'The ledger is append-only' USING ERRCODE = 'check_violation', CONSTRAINT = 'transfers_append_only';
      END $$;
      CREATE TRIGGER transfers_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON transfers
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
