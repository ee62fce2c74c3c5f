import { migrateService } from '@svc/service';
import { newTestDatabase } from '@svc/testing';
import pg from 'pg';
import { paymentProcessorService } from '../index.js';

const { migrations } = paymentProcessorService;
const earlierMigrations = migrations.slice(
  0,
  migrations.findIndex(({ name }) => name.startsWith('Ledger')),
);
const buildUuid = (nth: number): string => `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`;

test('transfers of an earlier release get merchant, mode and position, also if a replica of that release inserts them during the rollout', async () => {
  const database = await newTestDatabase();
  const env = { SVC_DATABASE_URL: database.url };
  await migrateService({ ...paymentProcessorService, migrations: earlierMigrations }, env);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(
    `INSERT INTO payables (payable_id, mode, merchant_id, site_id, amount, currency, expires_at, tries_max, source, state, holder, tries, version, created_at, modified_at)
     VALUES ($1, 'test', 1001, 1, 100, 'ZAR', now(), 5, '{}', 'paid', $1, 1, 3, now(), now()), ($2, 'live', 1002, 1, 100, 'ZAR', now(), 5, '{}', 'paid', $2, 1, 3, now(), now())`,
    [buildUuid(1), buildUuid(2)],
  );
  await client.query(
    `INSERT INTO payments (payment_id, payable_id, reference, payment_reference, state, amount, tip_amount, processed_amount, method_label, errors, accepted_at, modified_at, version)
     SELECT payable_id, payable_id, payable_id, payable_id::text, 'success', 100, 0, 100, '**** 0000', '[]', now(), now(), 2 FROM payables`,
  );
  const insertAsEarlierRelease = (kind: string) =>
    client.query(
      `INSERT INTO transfers (transfer_id, kind, debit_account, credit_account, amount, currency, payment_id, created_at)
       SELECT gen_random_uuid(), $1, 'a', 'b', 1, 'ZAR', payment_id, now() FROM payments ORDER BY payment_id`,
      [kind],
    );
  await insertAsEarlierRelease('capture');

  await migrateService(paymentProcessorService, env);
  await insertAsEarlierRelease('external');

  const { rows } = await client.query(
    `SELECT kind, payment_id, mode, merchant_id::int, dense_rank() OVER (ORDER BY txid)::int AS transaction FROM transfers ORDER BY txid, position`,
  );
  const [firstPayment, secondPayment] = [
    { payment_id: buildUuid(1), mode: 'test', merchant_id: 1001 },
    { payment_id: buildUuid(2), mode: 'live', merchant_id: 1002 },
  ];
  expect(rows).toEqual([
    { kind: 'capture', transaction: 1, ...firstPayment },
    { kind: 'capture', transaction: 1, ...secondPayment },
    { kind: 'external', transaction: 2, ...firstPayment },
    { kind: 'external', transaction: 2, ...secondPayment },
  ]);
  await expect(client.query('UPDATE transfers SET amount = 2')).rejects.toThrow('append-only');
  await client.end();
  await database.drop();
});
