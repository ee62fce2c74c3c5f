import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A service that rebuilds a read model can request a second replay of a type. The service stays ready meanwhile. */
export class ToldAgain1763500000003 implements MigrationInterface {
  readonly name = 'ToldAgain1763500000003';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE subscribed_types ADD COLUMN again_id uuid;
      COMMENT ON COLUMN subscribed_types.again_id IS 'Id of a pending request for another replay of all events. NULL if no such request is pending.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
