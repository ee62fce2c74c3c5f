import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Prepares the table for several key pairs. Before this migration it has at most one row, because there was no
 * rotation.
 */
export class CardKeyRotation1763500001008 implements MigrationInterface {
  readonly name = 'CardKeyRotation1763500001008';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE card_keys
        ADD COLUMN version     bigint      NOT NULL DEFAULT 1 CONSTRAINT card_keys_one_version UNIQUE,
        ADD COLUMN replaced_at timestamptz,
        ADD COLUMN created_by  text        NOT NULL DEFAULT 'start' CONSTRAINT card_keys_created_by CHECK (length(created_by) BETWEEN 1 AND 100),
        ALTER COLUMN sealed_private_key DROP NOT NULL,
        ADD CONSTRAINT card_keys_replaced CHECK ((current IS NULL) = (replaced_at IS NOT NULL)),
        ADD CONSTRAINT card_keys_current_opens CHECK (current IS NULL OR sealed_private_key IS NOT NULL);
      COMMENT ON TABLE card_keys IS 'Key pairs for card data. Pages and SDKs encrypt card data with the public key. The private key is stored encrypted (P8). Each rotation inserts a row. Rows are never deleted.';
      COMMENT ON COLUMN card_keys.version IS 'aggregateVersion of the event that published the key.';
      COMMENT ON COLUMN card_keys.current IS 'True for the published key, NULL for older keys.';
      COMMENT ON COLUMN card_keys.replaced_at IS 'When a newer key replaced this key. 24 hours later this key no longer decrypts cards.';
      COMMENT ON COLUMN card_keys.created_by IS 'Fingerprint of the administration key that requested the rotation. The first key has the value start.';
      COMMENT ON COLUMN card_keys.sealed_private_key IS 'NULL when the key no longer decrypts cards.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
