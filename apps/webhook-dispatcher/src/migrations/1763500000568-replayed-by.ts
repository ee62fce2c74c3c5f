import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the id of the merchant's last request to replay a notification, so that a repeat of the request does nothing. */
export class ReplayedBy1763500000568 implements MigrationInterface {
  readonly name = 'ReplayedBy1763500000568';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE notifications ADD COLUMN replayed_by uuid;
      COMMENT ON COLUMN notifications.replayed_by IS 'id of the request of a merchant that last made the notification due again';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
