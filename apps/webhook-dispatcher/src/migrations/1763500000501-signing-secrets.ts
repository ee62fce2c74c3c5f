import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the key pairs of this service (sealing keys) and the secrets that sign notifications. The secrets are stored
 * encrypted with the public key of a sealing key.
 */
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
      COMMENT ON TABLE sealing_keys IS 'Key pairs that encrypt signing secrets. The private key is encrypted with a key from the environment.';

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
      COMMENT ON TABLE signing_secrets IS 'Read model of the secrets that identity published. They are decrypted only in memory.';
      COMMENT ON COLUMN signing_secrets.site_id IS
        'NULL for an API key of a merchant. This key signs v3 for all sites of the merchant.';
      COMMENT ON COLUMN signing_secrets.sealed IS 'Compact JWE, encrypted with a public key of sealing_keys.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
