import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SigningSecrets1763500000501 implements MigrationInterface {
  readonly name = 'SigningSecrets1763500000501';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE sealing_keys (
        kid                uuid        PRIMARY KEY,
        public_jwk         jsonb       NOT NULL,
        sealed_private_key text        NOT NULL,
        created_at         timestamptz NOT NULL
      );
      COMMENT ON TABLE sealing_keys IS 'Key pairs that signing secrets are sealed to. The private half is sealed under a key of the environment.';

      CREATE TABLE signing_secrets (
        secret_id   text    PRIMARY KEY CONSTRAINT signing_secrets_id_length CHECK (length(secret_id) BETWEEN 1 AND 100),
        purpose     text    NOT NULL CONSTRAINT signing_secrets_purpose CHECK (purpose IN ('api-key', 'webhook-secret')),
        mode        text    NOT NULL CONSTRAINT signing_secrets_mode CHECK (mode IN ('test', 'live')),
        merchant_id bigint  NOT NULL,
        site_id     bigint,
        sealed      text    NOT NULL CONSTRAINT signing_secrets_sealed_length CHECK (length(sealed) <= 4096),
        is_primary  boolean NOT NULL,
        revoked     boolean NOT NULL,
        version     bigint  NOT NULL,
        CONSTRAINT signing_secrets_webhook_site CHECK (purpose = 'api-key' OR site_id IS NOT NULL)
      );
      CREATE INDEX signing_secrets_usable ON signing_secrets (merchant_id, mode) WHERE NOT revoked;
      COMMENT ON TABLE signing_secrets IS 'A read model of what identity published. Sealed as it came; opened in memory only.';
      COMMENT ON COLUMN signing_secrets.site_id IS 'Absent for a merchant API key, which signs v3 for all its sites.';
      COMMENT ON COLUMN signing_secrets.sealed IS 'Compact JWE to a key of sealing_keys.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
