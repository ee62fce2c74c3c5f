import { migrateService } from '@svc/service';
import { newTestDatabase } from '@svc/testing';
import pg from 'pg';
import { identityService } from '../index.js';

test('the migration publishes each existing customer once, with the name of its user', async () => {
  const database = await newTestDatabase();
  const env = { SVC_DATABASE_URL: database.url };
  const earlierMigrations = identityService.migrations.filter(({ name }) => !name.startsWith('TellCustomers'));
  await migrateService({ ...identityService, migrations: earlierMigrations }, env);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const [organisationId, userId, unregisteredUserId, customerReference] = [1, 2, 3, 4].map(
    (number) => `00000000-0000-7000-8000-00000000000${number}`,
  );
  await client.query(
    `INSERT INTO organisations (organisation_id, name, created_at) VALUES ($1, 'Karoo Wallet', '2026-01-02')`,
    [organisationId],
  );
  // The second user was not registered as a customer.
  await client.query(
    `INSERT INTO users (user_id, organisation_id, mode, email, password_hash, first_name, last_name, created_at)
     VALUES ($2, $1, 'test', 'a@b.example', '$argon2id$', 'Thandi', '', '2026-01-02'), ($3, $1, 'test', 'c@d.example', '$argon2id$', 'X', 'Y', '2026-01-02')`,
    [organisationId, userId, unregisteredUserId],
  );
  await client.query(
    `INSERT INTO customers (customer_reference, user_id, organisation_id, mode, created_at) VALUES ($3, $2, $1, 'test', '2026-01-03')`,
    [organisationId, userId, customerReference],
  );

  await migrateService(identityService, env);
  await migrateService(identityService, env);
  const { rows } = await client.query(
    `SELECT aggregate_id, aggregate_version::int, payload FROM event_log WHERE type = 'customer.registered.v1'`,
  );
  expect(rows).toEqual([
    {
      aggregate_id: customerReference,
      aggregate_version: 1,
      payload: { customerReference, organisationId, mode: 'test', firstName: 'Thandi', lastName: '' },
    },
  ]);
  await client.end();
  await database.drop();
});
