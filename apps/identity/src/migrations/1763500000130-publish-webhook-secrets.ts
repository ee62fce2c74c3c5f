import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Publishes the metadata of existing webhook secrets once. hosted-gateway needs them, because it rejects sessions of
 * sites without a webhook secret.
 */
export class PublishWebhookSecrets1763500000130 implements MigrationInterface {
  readonly name = 'PublishWebhookSecrets1763500000130';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      INSERT INTO event_log (id, type, aggregate_id, aggregate_version, occurred_at, payload)
        SELECT gen_random_uuid(), 'webhook-secret.changed.v1', secret_id::text, version, created_at,
               jsonb_build_object('secretId', secret_id, 'mode', mode, 'merchantId', merchant_id, 'siteId', site_id,
                                  'revoked', revoked_at IS NOT NULL)
          FROM webhook_secrets ORDER BY ordinal`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
