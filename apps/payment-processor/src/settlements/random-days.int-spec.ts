/**
 * Tests settlement statements of days with random payments, refunds and disputes. Each statement is correct, and the sum of all
 * statements is the ledger balance.
 */
import fc from 'fast-check';
import { type Processor, startProcessor } from '../../test/processor.js';
import { SimulatedMerchant } from '../../test/simulated-merchant.js';
import { SealLedger } from '../ledger/seal-ledger.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const amount = fc.integer({ min: 100, max: 1_000_000 });
const actionArbitrary = fc.oneof(
  { arbitrary: amount.map((cents) => (merchant: SimulatedMerchant) => merchant.payOnPage(cents)), weight: 3 },
  fc.tuple(amount, amount).map(
    ([cents, tip]) =>
      (merchant: SimulatedMerchant) =>
        merchant.payWithTip(cents, Math.min(tip, cents)),
  ),
  amount.map((cents) => (merchant: SimulatedMerchant) => merchant.payWithDeclinedCard(cents)),
  amount.map((cents) => (merchant: SimulatedMerchant) => merchant.payWithVouchers(cents)),
  amount.map((cents) => (merchant: SimulatedMerchant) => merchant.payExternally(cents)),
  { arbitrary: amount.map((cents) => (merchant: SimulatedMerchant) => merchant.refund(cents)), weight: 3 },
  amount.map((cents) => (merchant: SimulatedMerchant) => merchant.payWithLateApproval(cents)),
  { arbitrary: amount.map((cents) => (merchant: SimulatedMerchant) => merchant.dispute(cents)), weight: 2 },
  fc.constant((merchant: SimulatedMerchant) => merchant.startNextDay()),
);

test('the statement, the movements and the ledger balance of a merchant are consistent after any payments, refunds and disputes', async () => {
  const counts = { days: 0, withRefunds: 0, withDisputes: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(actionArbitrary, { minLength: 6, maxLength: 18 }), async (actions) => {
      const merchant = await SimulatedMerchant.start(processor);
      for (const action of actions) await action(merchant);
      await merchant.startNextDay();
      await processor.service.app.get(SealLedger).runStep();
      let sumOfNets = 0;
      for (const [day, expected] of merchant.days) {
        const hasEnded = day !== [...merchant.days.keys()].at(-1);
        expect(await merchant.readStatement(day)).toMatchObject({
          ...{ from: day, to: day, status: hasEnded ? 'final' : 'provisional', totals: expected.totals },
        });
        expect(await merchant.readSumOfMovements(day)).toBe(expected.net);
        sumOfNets += expected.net;
        counts.days++;
        if (expected.items.refunds.count > 0) counts.withRefunds++;
        if (expected.items.disputes.count > 0) counts.withDisputes++;
      }
      expect(await merchant.readBalance()).toBe(sumOfNets);
    }),
    { numRuns: 12 },
  );
  // These checks ensure that the random days were not empty.
  expect(counts.days).toBeGreaterThan(24);
  expect(counts.withRefunds).toBeGreaterThan(0);
  expect(counts.withDisputes).toBeGreaterThan(0);
});
