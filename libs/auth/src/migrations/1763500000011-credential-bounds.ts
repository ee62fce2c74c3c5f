import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the same limits of text lengths as in identity's tables. Existing rows are validated too: the tables are small,
 * so the validation is short.
 */
export class CredentialBounds1763500000011 implements MigrationInterface {
  readonly name = 'CredentialBounds1763500000011';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE known_sites
        ADD CONSTRAINT known_sites_merchant_name CHECK (length(merchant_name) BETWEEN 1 AND 100),
        ADD CONSTRAINT known_sites_site_reference CHECK (length(site_reference) BETWEEN 1 AND 100),
        ADD CONSTRAINT known_sites_name CHECK (length(name) BETWEEN 1 AND 100);
      ALTER TABLE known_api_keys
        ADD CONSTRAINT known_api_keys_hash_form CHECK (hash ~ '^[0-9a-f]{64}$');
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
