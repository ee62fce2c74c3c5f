import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A site has no address of its own to be told at. The column stays for a release: the one before this reads it. */
export class NoWebhookUrl1763500000120 implements MigrationInterface {
  readonly name = 'NoWebhookUrl1763500000120';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`COMMENT ON COLUMN sites.webhook_url IS 'Not used any more; to be dropped.'`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
