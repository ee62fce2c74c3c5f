import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SessionLocale1763500003140 implements MigrationInterface {
  readonly name = 'SessionLocale1763500003140';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE sessions ADD COLUMN locale text CONSTRAINT sessions_locale CHECK (locale ~ '^[A-Za-z0-9-]{2,35}$');
      COMMENT ON COLUMN sessions.locale IS 'Language of the payment page (BCP 47), as the merchant named it (H7). NULL: the payer''s browser decides.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
