import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stores the newest heartbeat for all replicas of a service. The replicas share a queue, so each replica receives only
 * some of the heartbeats.
 */
export class Heartbeats1763500000006 implements MigrationInterface {
  readonly name = 'Heartbeats1763500000006';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE heartbeats (
        publisher text        PRIMARY KEY CONSTRAINT heartbeats_publisher CHECK (length(publisher) BETWEEN 1 AND 100),
        sent_at   timestamptz NOT NULL
      );
      COMMENT ON TABLE heartbeats IS
        'Newest heartbeat of each publisher. The service logs an error if heartbeats are missing.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
