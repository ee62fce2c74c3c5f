import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SessionExtended1763500003160 implements MigrationInterface {
  readonly name = 'SessionExtended1763500003160';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE sessions ADD COLUMN extended boolean NOT NULL DEFAULT false;
      COMMENT ON COLUMN sessions.extended IS 'Whether the payer has extended the session (H2). A payer can do so once. expires_at contains the later time.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
