import { randomUUID } from 'node:crypto';
import { newPaymentReference, notificationIdOf } from '@svc/kernel';
import { migrateService } from '@svc/service';
import { newTestDatabase } from '@svc/testing';
import pg from 'pg';
import { newHostedPayment } from '../../test/payment.js';
import { webhookDispatcherService } from '../index.js';

const NOW = new Date('2026-03-01T10:00:00.000Z');

/** A notification as the earlier release records it, also while both releases run. */
function recordAsBefore(
  client: pg.Client,
  ids: { id: string; sessionId: string; reference: string },
): Promise<unknown> {
  const row = {
    ...{ id: ids.id, merchant_id: 7, site_id: 71, mode: 'test', session_id: ids.sessionId, api_version: 'v3.1' },
    ...{ payment_reference: ids.reference, payment_status: 'Success', url: 'https://shop.example/hook' },
    ...{ endpoint: 'shop.example:443', fields: {}, traceparent: null, has_place: false },
  };
  return client.query(`SELECT record_notifications($1, $2, NULL, NULL)`, [JSON.stringify([row]), NOW]);
}

test('existing notifications keep their ids after the migration, and are not created again (E8)', async () => {
  const database = await newTestDatabase();
  const env = { SVC_DATABASE_URL: database.url };
  const { migrations } = webhookDispatcherService;
  const before = migrations.slice(
    0,
    migrations.findIndex(({ name }) => name.startsWith('SiteWebhooks')),
  );
  await migrateService({ ...webhookDispatcherService, migrations: before }, env);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const reference = newPaymentReference(NOW);
  const sessionId = randomUUID();
  const payment = newHostedPayment(reference, 'https://shop.example/hook', {
    ...{ sessionId, state: 'success', apiVersion: 'v3.1', mode: 'test' },
  });
  const derived = { id: notificationIdOf(payment), sessionId, reference };
  // A random id, as rows had before ids were derived from payments.
  const chosen = { id: randomUUID(), sessionId: randomUUID(), reference: newPaymentReference(NOW) };
  await recordAsBefore(client, derived);
  await recordAsBefore(client, chosen);

  await migrateService(webhookDispatcherService, env);
  const shown = (): Promise<unknown> =>
    client
      .query(
        `SELECT id, coalesce(webhook_id, id) AS webhook_id, recipient, type, payment_reference AS reference FROM notifications ORDER BY created_at, id`,
      )
      .then(({ rows }) => rows as unknown);
  const kept = [derived, chosen].map(({ id, reference: of }) => ({
    ...{ id, webhook_id: id, recipient: 'session', type: 'payment', reference: of },
  }));
  const byId = kept.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  expect(await shown()).toEqual(byId);

  // A process of either release may repeat it, also under another id.
  await recordAsBefore(client, derived);
  await recordAsBefore(client, { ...chosen, id: randomUUID() });
  expect(await shown()).toEqual(byId);
  await client.end();
  await database.drop();
});
