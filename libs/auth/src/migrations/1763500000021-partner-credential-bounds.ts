import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The table accepts only a SHA-256 as a hash. Existing rows are validated too: the table is small, so the validation is
 * short.
 */
export class PartnerCredentialBounds1763500000021 implements MigrationInterface {
  readonly name = 'PartnerCredentialBounds1763500000021';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE known_partner_keys
        ADD CONSTRAINT known_partner_keys_hash_form CHECK (hash ~ '^[0-9a-f]{64}$');
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
