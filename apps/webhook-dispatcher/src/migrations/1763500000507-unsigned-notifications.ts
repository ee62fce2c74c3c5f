import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Marks notifications that cannot be sent because signing keys are missing or cannot be decrypted. */
export class UnsignedNotifications1763500000507 implements MigrationInterface {
  readonly name = 'UnsignedNotifications1763500000507';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE notifications
        ADD COLUMN unsigned_since timestamptz,
        ADD COLUMN missing_keys   text[],
        ADD CONSTRAINT notifications_missing_keys CHECK (
          (unsigned_since IS NULL) = (missing_keys IS NULL) AND missing_keys <@ '{api-key,webhook-secret}' AND missing_keys <> '{}')
          NOT VALID;
      CREATE INDEX notifications_unsigned ON notifications (id, merchant_id, state) WHERE unsigned_since IS NOT NULL;
      COMMENT ON COLUMN notifications.unsigned_since IS 'Time of the first failure to sign. NULL after an attempt that was signed.';
      COMMENT ON COLUMN notifications.missing_keys IS 'Kinds of keys that were missing or could not be decrypted at the last failure to sign.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
