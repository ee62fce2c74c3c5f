import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sites no longer have a webhook URL. The column is not dropped yet, because the previous release still reads it. */
export class NoWebhookUrl1763500000120 implements MigrationInterface {
  readonly name = 'NoWebhookUrl1763500000120';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`COMMENT ON COLUMN sites.webhook_url IS 'Unused. A later migration will drop this column.'`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
