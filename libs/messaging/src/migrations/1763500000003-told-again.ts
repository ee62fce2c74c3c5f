import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A service that rebuilds a read model can request a second replay of a type. The service stays ready meanwhile. */
export class ToldAgain1763500000003 implements MigrationInterface {
  readonly name = 'ToldAgain1763500000003';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE subscribed_types ADD COLUMN again_id uuid;
      COMMENT ON COLUMN subscribed_types.again_id IS 'Set while the publisher has been asked for everything once more and has not given all of it.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
