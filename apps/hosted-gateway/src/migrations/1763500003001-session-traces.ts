import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SessionTraces1763500003001 implements MigrationInterface {
  readonly name = 'SessionTraces1763500003001';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE sessions ADD COLUMN traceparent text CONSTRAINT sessions_traceparent CHECK (length(traceparent) <= 100);
      COMMENT ON COLUMN sessions.traceparent IS 'Trace of the request that created the session. The payments of the session belong to this trace.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
