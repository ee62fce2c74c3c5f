import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SessionLocale1763500003140 implements MigrationInterface {
  readonly name = 'SessionLocale1763500003140';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE sessions ADD COLUMN locale text CONSTRAINT sessions_locale CHECK (locale ~ '^[A-Za-z0-9-]{2,35}$');
      COMMENT ON COLUMN sessions.locale IS 'Language of the payment page (BCP 47), chosen by the merchant (H7). If it is NULL, the language of the payer''s browser is used.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
