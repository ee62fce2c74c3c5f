import type { MigrationInterface, QueryRunner } from 'typeorm';

export class LookUps1763500000505 implements MigrationInterface {
  readonly name = 'LookUps1763500000505';

  async up(db: QueryRunner): Promise<void> {
    // Walked by id. What stands behind it is for passing over what is too old, in another state or of another merchant
    // without reading its row: a million entries of an index are passed over in a twentieth of a second.
    await db.query(`
      CREATE INDEX notifications_of_merchant_by_id ON notifications (merchant_id, id, created_at, state);
      DROP INDEX notifications_of_merchant;

      CREATE INDEX notifications_pending ON notifications (id, merchant_id) WHERE state = 'pending';

      CREATE INDEX notifications_undelivered ON notifications (state, id, merchant_id)
        WHERE state IN ('superseded', 'exhausted', 'gone');
      DROP INDEX notifications_given_up;
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
