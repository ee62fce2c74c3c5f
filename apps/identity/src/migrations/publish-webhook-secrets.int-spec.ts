import { migrateService } from '@svc/service';
import { newTestDatabase } from '@svc/testing';
import pg from 'pg';
import { identityService } from '../index.js';

test('the migration publishes each existing webhook secret once, without the secret value', async () => {
  const database = await newTestDatabase();
  const env = { SVC_DATABASE_URL: database.url };
  const earlierMigrations = identityService.migrations.filter(({ name }) => !name.startsWith('PublishWebhookSecrets'));
  await migrateService({ ...identityService, migrations: earlierMigrations }, env);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(
    `INSERT INTO merchants (name, created_at, features, grants, version) VALUES ('Karoo', '2026-01-02', '{}', '[]', 1)`,
  );
  await client.query(
    `INSERT INTO sites (merchant_id, name, site_reference, require_api_key, allowed_hosts, keyless_mode, created_at, version)
     VALUES (1001, 'Shop', 'SHOP', true, '[]', 'test', '2026-01-02', 1)`,
  );
  const [validId, revokedId] = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002'];
  await client.query(
    `INSERT INTO webhook_secrets (secret_id, mode, merchant_id, site_id, sealed, created_at, revoked_at, version)
     VALUES ($1, 'test', 1001, 5001, 'sealed', '2026-01-02', NULL, 1), ($2, 'live', 1001, 5001, 'sealed', '2026-01-02', '2026-01-03', 2)`,
    [validId, revokedId],
  );

  await migrateService(identityService, env);
  const { rows } = await client.query(
    `SELECT aggregate_id, aggregate_version::int, payload FROM event_log WHERE type = 'webhook-secret.changed.v1' ORDER BY position`,
  );
  const owner = { merchantId: 1001, siteId: 5001 };
  expect(rows).toEqual([
    {
      aggregate_id: validId,
      aggregate_version: 1,
      payload: { secretId: validId, mode: 'test', ...owner, revoked: false },
    },
    {
      aggregate_id: revokedId,
      aggregate_version: 2,
      payload: { secretId: revokedId, mode: 'live', ...owner, revoked: true },
    },
  ]);
  await client.end();
  await database.drop();
});
