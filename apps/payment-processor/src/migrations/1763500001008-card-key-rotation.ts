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
      COMMENT ON TABLE card_keys IS 'Key pairs to which pages and SDKs encrypt card data; the private half rests sealed (P8). A row for each rotation, never deleted.';
      COMMENT ON COLUMN card_keys.version IS 'aggregateVersion of the event that published it.';
      COMMENT ON COLUMN card_keys.current IS 'True for the one that is published; NULL for older ones.';
      COMMENT ON COLUMN card_keys.replaced_at IS 'When a newer one took its place; 24 hours later it opens no card any more.';
      COMMENT ON COLUMN card_keys.created_by IS 'Fingerprint of the administration key of the rotation; start: the first one.';
      COMMENT ON COLUMN card_keys.sealed_private_key IS 'NULL once the key opens no card any more.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
