import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The schema, too, requires a SHA-256 as hash. The table is small, so its rows are validated as well. */
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
