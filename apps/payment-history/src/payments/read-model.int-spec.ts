import { randomUUID } from 'node:crypto';
import { type PartnerPayment, paymentError, PaymentReversedV1 } from '@svc/contracts';
import { anEvent, aPayment, paymentEvent } from '@svc/testing';
import fc from 'fast-check';
import { type History, startHistory } from '../../test/history.js';

let history: History;
beforeAll(async () => (history = await startHistory()));
afterAll(() => history.stop());

/** Compares payment_counts with the counted payments of every owner and time bucket. Selects the differences. */
const COUNTS_THAT_DIFFER = `
  SELECT * FROM (
    SELECT generation, organisation_id, mode, owner.customer_key, level::smallint,
           floor(extract(epoch FROM payment_utc_date) / 64 ^ level)::bigint AS bucket, count(*) AS payments
      FROM payments, LATERAL (VALUES (''), (payments.customer_key)) AS owner (customer_key), generate_series(1, 4) AS level
     GROUP BY 1, 2, 3, 4, 5, 6) AS rows
  FULL JOIN payment_counts AS counts USING (generation, organisation_id, mode, customer_key, level, bucket, payments)
  WHERE rows.payments IS NULL OR counts.payments IS NULL`;

const VERIFICATION_URL = 'https://bank.example/verify';

/** Returns what changes in each of the four versions of a payment whose payer has to verify it at the bank. */
function versionsOf(payment: number): Partial<PartnerPayment>[] {
  const end = payment % 2 === 0 ? 'success' : 'failed';
  return [
    { state: 'processing' },
    { state: 'verificationRequired', verificationUrl: VERIFICATION_URL },
    { state: 'processing' },
    { state: end, ...(end === 'failed' ? { errors: [paymentError('acquirer.outcome-unknown')] } : {}) },
  ];
}

test('payments have their newest version and are counted once, even if events are reordered, repeated or concurrent', async () => {
  const generatedStep = fc.record({
    payment: fc.integer({ min: 0, max: 4 }),
    version: fc.integer({ min: 1, max: 4 }),
    // The event may be the reversal of a late charge, which does not change the payment (H2).
    isReversal: fc.boolean(),
    batch: fc.integer({ min: 0, max: 3 }),
  });
  /** The number of runs that contained each case. It proves that the random events test all cases. */
  const runs = { reordered: 0, repeated: 0, reversal: 0, concurrent: 0, sequential: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(generatedStep, { minLength: 1, maxLength: 40, size: 'max' }),
      fc.boolean(),
      async (steps, isConcurrent) => {
        const organisationId = randomUUID();
        const firstVersions = Array.from({ length: 5 }, (_, i) =>
          aPayment(organisationId, `customer ${i % 2}`, {
            paymentUTCDate: new Date(Date.UTC(2026, 2, 1) + i * 40_000_000).toISOString(),
          }),
        );
        const newVersion = (payment: number, version: number) => ({
          ...firstVersions[payment]!,
          ...versionsOf(payment)[version - 1],
          tipAmount: version,
          merchantName: `as of ${version}`,
        });
        const batches = [0, 1, 2, 3].map((batch) => steps.filter((step) => step.batch === batch));
        const createEvent = ({ payment, version, isReversal }: (typeof steps)[number]) => {
          const snapshot = newVersion(payment, version);
          const reversed = { ...snapshot, reversedUTCDate: '2026-03-01T10:20:00.000Z' };
          return isReversal ? anEvent(PaymentReversedV1, randomUUID(), 1, reversed) : paymentEvent(snapshot, version);
        };
        const deliver = (batch: typeof steps) => history.deliver(...batch.map(createEvent));
        if (isConcurrent) await Promise.all(batches.map(deliver));
        else for (const batch of batches) await deliver(batch);

        const rows = await history.dataSource.query<
          { reference: string; version: number; [column: string]: unknown }[]
        >(
          `SELECT reference, version, state, verification_url, errors, tip_amount, merchant_name
           FROM payments WHERE organisation_id = $1`,
          [organisationId],
        );
        const newestVersions = new Map<string, number>();
        for (const { payment, version, isReversal } of steps)
          if (!isReversal)
            newestVersions.set(
              firstVersions[payment]!.reference,
              Math.max(version, newestVersions.get(firstVersions[payment]!.reference) ?? 0),
            );
        expect(new Map(rows.map((row) => [row.reference, row.version]))).toEqual(newestVersions);
        for (const row of rows) {
          const payment = firstVersions.findIndex(({ reference }) => reference === row.reference);
          const { state, verificationUrl = null, errors = [] } = newVersion(payment, row.version);
          expect(row).toMatchObject({ state, verification_url: verificationUrl, errors });
          expect(row).toMatchObject({ tip_amount: row.version, merchant_name: `as of ${row.version}` });
        }
        expect(await history.dataSource.query(COUNTS_THAT_DIFFER)).toEqual([]);

        const paymentSteps = steps.filter(({ isReversal }) => !isReversal).toSorted((a, b) => a.batch - b.batch);
        const earlierSteps = (index: number) =>
          paymentSteps.slice(0, index).filter((step) => step.payment === paymentSteps[index]!.payment);
        if (paymentSteps.some(({ version }, index) => earlierSteps(index).some((step) => step.version > version)))
          runs.reordered++;
        if (paymentSteps.some(({ version }, index) => earlierSteps(index).some((step) => step.version === version)))
          runs.repeated++;
        if (paymentSteps.length < steps.length) runs.reversal++;
        runs[isConcurrent ? 'concurrent' : 'sequential']++;
      },
    ),
    { numRuns: 40 },
  );
  for (const [kind, count] of Object.entries(runs)) expect([kind, count >= 5]).toEqual([kind, true]);
});
