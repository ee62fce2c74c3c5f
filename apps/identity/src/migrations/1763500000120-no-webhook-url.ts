import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sites have no webhook URL. The column stays for one release, since the previous release reads it. */
export class NoWebhookUrl1763500000120 implements MigrationInterface {
  readonly name = 'NoWebhookUrl1763500000120';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`COMMENT ON COLUMN sites.webhook_url IS 'Not used any more; to be dropped.'`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
