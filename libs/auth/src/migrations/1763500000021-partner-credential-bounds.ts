import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A hash is a SHA-256 in the schema as well. The table is small, so its rows are looked at as well. */
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
