import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SessionCodes1763500006010 implements MigrationInterface {
  readonly name = 'SessionCodes1763500006010';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE session_codes (
        session_id        uuid        PRIMARY KEY,
        code              text        CONSTRAINT session_codes_code CHECK (code ~ '^[0-9]{20}$'),
        mode              text        CONSTRAINT session_codes_mode CHECK (mode IN ('test', 'live')),
        merchant_id       bigint,
        site_id           bigint,
        merchant_order_id text,
        amount            bigint      CONSTRAINT session_codes_amount CHECK (amount BETWEEN 1 AND 100000000000),
        currency          text        CONSTRAINT session_codes_currency CHECK (currency ~ '^[A-Z]{3}$'),
        made_at           timestamptz,
        expires_at        timestamptz,
        closed_at         timestamptz,
        CONSTRAINT session_codes_halves CHECK (num_nulls(code, mode, merchant_id, site_id, merchant_order_id, amount, currency, made_at, expires_at)
                                               = CASE WHEN code IS NULL THEN 9 ELSE 0 END),
        CONSTRAINT session_codes_known CHECK (code IS NOT NULL OR closed_at IS NOT NULL)
      );
      COMMENT ON TABLE session_codes IS 'Read model of the codes of hosted sessions (D5). hosted-gateway reports the session, and payment-processor reports the end of the session. These events arrive in any order.';
      COMMENT ON COLUMN session_codes.merchant_order_id IS 'The merchant''s order reference.';
      COMMENT ON COLUMN session_codes.amount IS 'Cents.';
      COMMENT ON COLUMN session_codes.closed_at IS 'When the payable was paid, refused or closed. These states are final.';
      CREATE UNIQUE INDEX session_codes_by_code ON session_codes (code);
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
