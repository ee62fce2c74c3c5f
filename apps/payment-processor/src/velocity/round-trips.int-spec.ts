/** The limits cost a payment no round trip, and leave no row after an approval (P11). */
import { type Processor, startProcessor } from '../../test/processor.js';
import {
  answerCharges,
  APPROVED,
  DECLINED,
  LIMITS_ON,
  newCardNumber,
  payWith,
  readCounters,
} from '../../test/velocity/tested-cards.js';

async function countStatements({ dataSource }: Processor, run: () => Promise<unknown>): Promise<number> {
  const statements = jest.spyOn(dataSource, 'query');
  await run();
  const { length } = statements.mock.calls;
  statements.mockRestore();
  return length;
}

test.each([
  ['approved', APPROVED, 'success', 0],
  // The level of the site is decided after the payment is settled.
  ['declined', DECLINED, 'failed', 1],
] as const)(
  'an %s payment needs as many statements as without limits, and leaves no counter if it is approved',
  async (_, outcome, state, laterStatements) => {
    const counts: number[] = [];
    for (const limits of [LIMITS_ON, {}]) {
      const processor = await startProcessor(limits);
      try {
        answerCharges(processor, outcome);
        const pay = async () => expect(await payWith(processor, newCardNumber(), { address: '192.0.2.7' })).toBe(state);
        await pay();
        counts.push(await countStatements(processor, pay));
        const counters = await readCounters(processor);
        expect(state === 'success' ? counters : []).toEqual([]);
      } finally {
        await processor.stop();
      }
    }
    const [withLimits, without] = counts;
    expect(withLimits).toBe(without! + laterStatements);
  },
);
