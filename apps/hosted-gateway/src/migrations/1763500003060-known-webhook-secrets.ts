import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores which webhook secrets exist, so that the API can reject a session whose site has no webhook secret. */
export class KnownWebhookSecrets1763500003060 implements MigrationInterface {
  readonly name = 'KnownWebhookSecrets1763500003060';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE known_webhook_secrets (
        secret_id   uuid    PRIMARY KEY,
        mode        text    NOT NULL CONSTRAINT known_webhook_secrets_mode CHECK (mode IN ('test', 'live')),
        merchant_id bigint  NOT NULL,
        site_id     bigint  NOT NULL,
        revoked     boolean NOT NULL,
        version     bigint  NOT NULL
      );
      CREATE INDEX known_webhook_secrets_usable ON known_webhook_secrets (merchant_id, site_id, mode) WHERE NOT revoked;
      COMMENT ON TABLE known_webhook_secrets IS 'Read model of the metadata of webhook signing secrets (E4), filled from events of identity.';

      CREATE INDEX known_api_keys_usable ON known_api_keys (merchant_id, mode) WHERE NOT revoked;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
