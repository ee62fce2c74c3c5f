import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SessionCodes1763500003030 implements MigrationInterface {
  readonly name = 'SessionCodes1763500003030';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE sessions ADD COLUMN code text CONSTRAINT sessions_code CHECK (code ~ '^[0-9]{20}$');
      COMMENT ON COLUMN sessions.code IS 'Digits of the code of the session (D5). A phone that scans the code opens the session. NULL in sessions of earlier releases, which expire after 30 minutes.';
      CREATE UNIQUE INDEX sessions_by_code ON sessions (code);
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
