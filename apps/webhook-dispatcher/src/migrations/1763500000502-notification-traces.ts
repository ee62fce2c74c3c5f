import type { MigrationInterface, QueryRunner } from 'typeorm';

export class NotificationTraces1763500000502 implements MigrationInterface {
  readonly name = 'NotificationTraces1763500000502';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE notifications ADD COLUMN traceparent text CONSTRAINT notifications_traceparent CHECK (length(traceparent) <= 100);
      COMMENT ON COLUMN notifications.traceparent IS 'Trace of the payment; each try goes on in it.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
