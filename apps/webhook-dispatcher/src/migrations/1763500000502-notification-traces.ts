import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stores the trace context of the payment in its notification, so that delivery attempts belong to the same trace. */
export class NotificationTraces1763500000502 implements MigrationInterface {
  readonly name = 'NotificationTraces1763500000502';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE notifications ADD COLUMN traceparent text CONSTRAINT notifications_traceparent CHECK (length(traceparent) <= 100);
      COMMENT ON COLUMN notifications.traceparent IS
        'Trace of the payment. Each delivery attempt belongs to this trace.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
