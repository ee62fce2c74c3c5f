import { randomUUID } from 'node:crypto';
import { newPaymentReference, notificationIdOf } from '@svc/kernel';
import { migrateService } from '@svc/service';
import { newTestDatabase } from '@svc/testing';
import pg from 'pg';
import { newHostedPayment } from '../../test/payment.js';
import { webhookDispatcherService } from '../index.js';

const NOW = new Date('2026-03-01T10:00:00.000Z');

/**
 * Records a notification with the arguments of the earlier release. During a deployment, processes of the earlier
 * release run beside processes of the new release.
 */
function recordAsEarlierRelease(
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
  const earlierMigrations = migrations.slice(
    0,
    migrations.findIndex(({ name }) => name.startsWith('SiteWebhooks')),
  );
  await migrateService({ ...webhookDispatcherService, migrations: earlierMigrations }, env);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const paymentReference = newPaymentReference(NOW);
  const sessionId = randomUUID();
  const payment = newHostedPayment(paymentReference, 'https://shop.example/hook', {
    ...{ sessionId, state: 'success', apiVersion: 'v3.1', mode: 'test' },
  });
  const withDerivedId = { id: notificationIdOf(payment), sessionId, reference: paymentReference };
  // Older rows have random ids, because they were recorded before ids were derived from payments.
  const withRandomId = { id: randomUUID(), sessionId: randomUUID(), reference: newPaymentReference(NOW) };
  await recordAsEarlierRelease(client, withDerivedId);
  await recordAsEarlierRelease(client, withRandomId);

  await migrateService(webhookDispatcherService, env);
  const readNotifications = (): Promise<unknown> =>
    client
      .query(
        `SELECT id, coalesce(webhook_id, id) AS webhook_id, recipient, type, payment_reference AS reference FROM notifications ORDER BY created_at, id`,
      )
      .then(({ rows }) => rows as unknown);
  const expectedRows = [withDerivedId, withRandomId].map(({ id, reference }) => ({
    ...{ id, webhook_id: id, recipient: 'session', type: 'payment', reference },
  }));
  const expectedRowsById = expectedRows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  expect(await readNotifications()).toEqual(expectedRowsById);

  // A process of the earlier release records both notifications again, and gives the second notification another id.
  await recordAsEarlierRelease(client, withDerivedId);
  await recordAsEarlierRelease(client, { ...withRandomId, id: randomUUID() });
  expect(await readNotifications()).toEqual(expectedRowsById);
  await client.end();
  await database.drop();
});
