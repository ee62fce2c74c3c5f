import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Sessions1763500003000 implements MigrationInterface {
  readonly name = 'Sessions1763500003000';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE sessions (
        session_id        uuid        PRIMARY KEY,
        mode              text        NOT NULL CONSTRAINT sessions_mode CHECK (mode IN ('test', 'live')),
        merchant_id       bigint      NOT NULL,
        site_id           bigint      NOT NULL,
        merchant_name     text        NOT NULL,
        api_version       text        NOT NULL CONSTRAINT sessions_api_version CHECK (api_version IN ('v3', 'v3.1')),
        request_id        text        NOT NULL,
        fingerprint       text        NOT NULL,
        merchant_order_id text        NOT NULL,
        amount            bigint      NOT NULL CONSTRAINT sessions_amount CHECK (amount BETWEEN 1 AND 100000000000),
        currency          text        NOT NULL CONSTRAINT sessions_currency CHECK (currency ~ '^[A-Z]{3}$'),
        notification_url  text        NOT NULL,
        return_url        text        NOT NULL,
        cancel_url        text        NOT NULL,
        origin            text        NOT NULL,
        site_name         text,
        custom_fields     jsonb       NOT NULL,
        created_at        timestamptz NOT NULL,
        expires_at        timestamptz NOT NULL,
        payable_state     text        NOT NULL CONSTRAINT sessions_payable_state CHECK (payable_state IN ('open', 'reserved', 'paid', 'refused', 'closed')),
        payable_version   bigint      NOT NULL,
        tries             int         NOT NULL,
        CONSTRAINT sessions_idempotency UNIQUE (site_id, mode, api_version, request_id)
      );
      COMMENT ON COLUMN sessions.amount IS 'Cents.';
      COMMENT ON COLUMN sessions.fingerprint IS 'SHA-256 of the validated request. The same requestId with another fingerprint is rejected (C7).';
      COMMENT ON COLUMN sessions.payable_state IS 'State that payment-processor last reported. session.ts derives the session state from it.';

      CREATE TABLE hosted_payments (
        payment_reference text        PRIMARY KEY,
        session_id        uuid        NOT NULL,
        snapshot          jsonb       NOT NULL,
        accepted_at       timestamptz NOT NULL,
        version           bigint      NOT NULL
      );
      COMMENT ON TABLE hosted_payments IS 'Read model of the payments of hosted sessions, filled from events.';
      CREATE INDEX hosted_payments_by_session ON hosted_payments (session_id, accepted_at);

      CREATE TABLE card_keys (
        name       text   PRIMARY KEY,
        public_jwk jsonb  NOT NULL,
        version    bigint NOT NULL
      );
      COMMENT ON TABLE card_keys IS 'Newest public key that payment-processor published. Payment pages encrypt card data with this key (P8).';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
