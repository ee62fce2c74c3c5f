import { randomUUID } from 'node:crypto';
import type { PaymentState } from '@svc/contracts';
import fc from 'fast-check';
import { type History, startHistory } from '../../test/history.js';
import { aPayment, told } from '../../test/payment.js';

jest.setTimeout(60_000);

let history: History;
beforeAll(async () => (history = await startHistory()));
afterAll(() => history.stop());

/** Counts that do not say what the rows say, for any owner and stretch of time. */
const COUNTS_THAT_DIFFER = `
  SELECT * FROM (
    SELECT generation, organisation_id, mode, owner.customer_id, level::smallint,
           floor(extract(epoch FROM payment_utc_date) / 64 ^ level)::bigint AS bucket, count(*) AS payments
      FROM payments, LATERAL (VALUES (''), (payments.customer_id)) AS owner (customer_id), generate_series(1, 4) AS level
     GROUP BY 1, 2, 3, 4, 5, 6) AS rows
  FULL JOIN payment_counts AS counts USING (generation, organisation_id, mode, customer_id, level, bucket, payments)
  WHERE rows.payments IS NULL OR counts.payments IS NULL`;

test('events that come twice, late, out of order and by several replicas at once leave the newest, counted once', async () => {
  const step = fc.record({
    payment: fc.integer({ min: 0, max: 4 }),
    version: fc.integer({ min: 1, max: 4 }),
    batch: fc.integer({ min: 0, max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), fc.boolean(), async (steps, atOnce) => {
      const organisationId = randomUUID();
      const base = Array.from({ length: 5 }, (_, i) =>
        aPayment(organisationId, `customer ${i % 2}`, {
          paymentUTCDate: new Date(Date.UTC(2026, 2, 1) + i * 40_000_000).toISOString(),
        }),
      );
      const versionOf = (payment: number, version: number) => ({
        ...base[payment]!,
        state: (version === 4 ? 'success' : 'processing') as PaymentState,
        tipAmount: version,
        merchantName: `as of ${version}`,
      });
      const batches = [0, 1, 2, 3].map((batch) => steps.filter((one) => one.batch === batch));
      const deliver = (batch: typeof steps) =>
        history.deliver(...batch.map(({ payment, version }) => told(versionOf(payment, version), version)));
      if (atOnce) await Promise.all(batches.map(deliver));
      else for (const batch of batches) await deliver(batch);

      const rows = await history.dataSource.query<
        { reference: string; version: number; tip_amount: number; merchant_name: string }[]
      >(`SELECT reference, version, tip_amount, merchant_name FROM payments WHERE organisation_id = $1`, [
        organisationId,
      ]);
      const newest = new Map<string, number>();
      for (const { payment, version } of steps)
        newest.set(base[payment]!.reference, Math.max(version, newest.get(base[payment]!.reference) ?? 0));
      expect(new Map(rows.map((row) => [row.reference, row.version]))).toEqual(newest);
      for (const row of rows)
        expect(row).toMatchObject({ tip_amount: row.version, merchant_name: `as of ${row.version}` });
      expect(await history.dataSource.query(COUNTS_THAT_DIFFER)).toEqual([]);
    }),
    { numRuns: 40 },
  );
});
