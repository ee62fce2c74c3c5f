import { migrateService } from '@svc/service';
import { newTestDatabase } from '@svc/testing';
import pg from 'pg';
import { identityService } from '../index.js';
import { Identity1763500000100 } from './1763500000100-identity.js';

test('the migrations publish each existing merchant once, without features and grants', async () => {
  const database = await newTestDatabase();
  const env = { SVC_DATABASE_URL: database.url };
  await migrateService({ ...identityService, migrations: [Identity1763500000100] }, env);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`INSERT INTO merchants (name, created_at) VALUES ('Karoo', '2025-01-02'), ('Surf', '2026-01-02')`);
  await client.query(
    `INSERT INTO audit_log (at, actor, request_id, action, merchant_id, after)
     VALUES ('2025-01-02', 'admin:x', 'x', 'merchant.created', 1001, '{}')`,
  );

  await migrateService(identityService, env);
  const { rows } = await client.query(
    `SELECT type, aggregate_id, aggregate_version::int, payload FROM event_log ORDER BY aggregate_id`,
  );
  const event = { type: 'merchant.changed.v1', aggregate_version: 1 };
  expect(rows).toEqual([
    { ...event, aggregate_id: '1001', payload: { merchantId: 1001, name: 'Karoo', features: {}, grants: [] } },
    { ...event, aggregate_id: '1002', payload: { merchantId: 1002, name: 'Surf', features: {}, grants: [] } },
  ]);
  const { rows: merchants } = await client.query(`SELECT version::int, features, grants FROM merchants`);
  expect(merchants).toEqual([1, 2].map(() => ({ version: 1, features: {}, grants: [] })));
  await client.end();
  await database.drop();
});
