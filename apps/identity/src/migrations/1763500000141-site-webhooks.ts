import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the webhook of a site. First drops the old column of the same name. No release reads the old column any more
 * (1763500000120), and merchants never confirmed its values.
 */
export class SiteWebhooks1763500000141 implements MigrationInterface {
  readonly name = 'SiteWebhooks1763500000141';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE sites DROP COLUMN IF EXISTS webhook_url;
      ALTER TABLE sites
        ADD COLUMN webhook_url     text CONSTRAINT sites_webhook_url_length CHECK (length(webhook_url) BETWEEN 1 AND 2048),
        ADD COLUMN webhook_enabled boolean NOT NULL DEFAULT false,
        ADD CONSTRAINT sites_webhook CHECK (NOT webhook_enabled OR webhook_url IS NOT NULL);
      COMMENT ON COLUMN sites.webhook_url IS 'While webhook_enabled is true, this URL receives a notification of every final payment and every refund of the site (M6).';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
