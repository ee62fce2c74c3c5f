/** Runs the seeds of the benchmark with few payments, so that they fail here if a column of a read model changes. */
import { merchantRetrievalService } from '@svc/merchant-retrieval';
import { paymentHistoryService } from '@svc/payment-history';
import { newMigratedDatabase, type TestDatabase } from '@svc/testing';
import pg from 'pg';
import { seedHistory } from '../../../bench/history/seed-history.ts';
import type { RunningSystem } from '../../../bench/platforms/system.ts';
import { seedRetrieval } from '../../../bench/retrieval/seed-retrieval.ts';

const PAYMENTS = 100;

let database: TestDatabase | undefined;
let superuser: pg.Client;
afterEach(async () => {
  await superuser.end();
  await database?.drop();
});

/** The function of {@link RunningSystem}. In a test database the schema of the service is `public`. */
async function connect(migrated: TestDatabase): Promise<RunningSystem['sql']> {
  database = migrated;
  superuser = new pg.Client({ connectionString: migrated.superuserUrl });
  await superuser.connect();
  return async <Row extends object>(statement: string) => {
    if (/^SET search_path = (payment_history|merchant_retrieval)$/.test(statement)) return [];
    return (await superuser.query(statement)).rows as Row[];
  };
}

test('the seed of the payment history writes all payments, and counts them once for the organisation and once for the customer', async () => {
  const sql = await connect(await newMigratedDatabase(paymentHistoryService));
  await seedHistory(sql, 'f3b7a9d2-1c5e-4f80-9a64-2d7b8e0c1f35', 'customer-1', PAYMENTS);
  expect(await sql(`SELECT count(*)::int FROM payments`)).toEqual([{ count: PAYMENTS }]);
  expect(
    await sql(`SELECT level, sum(payments)::int AS payments FROM payment_counts GROUP BY level ORDER BY level`),
  ).toEqual([1, 2, 3, 4].map((level) => ({ level, payments: 2 * PAYMENTS })));
});

test('the seed of the retrieval writes all payments, and returns one inside and one outside the window', async () => {
  const sql = await connect(await newMigratedDatabase(merchantRetrievalService));
  const seeded = await seedRetrieval(sql, { merchantId: 1001, siteId: 2001 }, PAYMENTS);
  expect(await sql(`SELECT count(*)::int FROM payments`)).toEqual([{ count: PAYMENTS }]);
  const references = `'${seeded.insideWindow.paymentReference}', '${seeded.outsideWindow.paymentReference}'`;
  const isRecent = `payment_utc_date > now() - interval '3 months' AS "isRecent"`;
  expect(
    await sql(`SELECT ${isRecent} FROM payments WHERE payment_reference IN (${references}) ORDER BY payment_utc_date`),
  ).toEqual([{ isRecent: false }, { isRecent: true }]);
});
