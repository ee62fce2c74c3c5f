/** Random days of trade: each statement is correct, and their sum is the balance of the ledger. */
import fc from 'fast-check';
import { type Processor, startProcessor } from '../../test/processor.js';
import { Trade } from '../../test/trade.js';
import { SealLedger } from '../ledger/seal-ledger.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const amount = fc.integer({ min: 100, max: 1_000_000 });
const deed = fc.oneof(
  { arbitrary: amount.map((of) => (trade: Trade) => trade.onPage(of)), weight: 3 },
  fc.tuple(amount, amount).map(
    ([of, tip]) =>
      (trade: Trade) =>
        trade.withTip(of, Math.min(tip, of)),
  ),
  amount.map((of) => (trade: Trade) => trade.declined(of)),
  amount.map((of) => (trade: Trade) => trade.withVouchers(of)),
  amount.map((of) => (trade: Trade) => trade.madeElsewhere(of)),
  { arbitrary: amount.map((of) => (trade: Trade) => trade.refund(of)), weight: 3 },
  amount.map((of) => (trade: Trade) => trade.approvedTooLate(of)),
  fc.constant((trade: Trade) => trade.nextDay()),
);

test('each day: statement, movements and ledger agree after any trade', async () => {
  const seen = { days: 0, withRefunds: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { minLength: 6, maxLength: 18 }), async (deeds) => {
      const trade = await Trade.start(processor);
      for (const deed of deeds) await deed(trade);
      await trade.nextDay();
      await processor.service.app.get(SealLedger).runOnce();
      let nets = 0;
      for (const [day, expected] of trade.days) {
        const isOver = day !== [...trade.days.keys()].at(-1);
        expect(await trade.statement(day)).toMatchObject({ day, closed: isOver, totals: expected.totals });
        expect(await trade.sumOfMovements(day)).toBe(expected.net);
        nets += expected.net;
        seen.days++;
        if (expected.items.refunds.count > 0) seen.withRefunds++;
      }
      expect(await trade.balance()).toBe(nets);
    }),
    { numRuns: 12 },
  );
  // The days were not empty.
  expect(seen.days).toBeGreaterThan(24);
  expect(seen.withRefunds).toBeGreaterThan(0);
});
