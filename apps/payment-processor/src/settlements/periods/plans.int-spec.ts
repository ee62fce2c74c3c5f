/** Checks that balances and movements on the way are read by indexes, even before the tables are analysed. */
import { planOf } from '@svc/testing';
import { type Processor, startProcessor } from '../../../test/processor.js';
import { SettlementRepository } from '../settlement.repository.js';
import { BalanceRepository } from './balance.repository.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const OWNER = { merchantId: 1001, mode: 'test', siteId: undefined } as const;
const MONTH = { start: new Date('2026-01-31T22:00:00Z'), end: new Date('2026-02-28T22:00:00Z') };
const balances = (): BalanceRepository => processor.service.app.get(BalanceRepository);

test.each<[string, () => Promise<unknown>, string[]]>([
  ['the newest stored balance', () => balances().findStored(OWNER, MONTH.start), ['merchant_balances_pkey']],
  ['the first movement', () => balances().findFirstTime(OWNER), ['transfers_of_merchant']],
  [
    'the movements on the way',
    () => balances().sumUpUnsettled({ ...OWNER, siteId: 5001 }, MONTH, ['adyen']),
    ['transfers_of_merchant', 'settlement_lines_of_movement', 'attempts_one_open', 'payments_pkey', 'payables_pkey'],
  ],
  [
    'the newest closing',
    () => processor.service.app.get(SettlementRepository).findClosedUntil(),
    ['ledger_closings_pkey'],
  ],
])('the statement that reads %s uses indexes', async (_, runQuery, indexes) => {
  const plan = await planOf(processor.dataSource, runQuery);
  expect(plan).not.toMatch(/Seq Scan|hashed SubPlan/);
  for (const index of indexes) expect(plan).toMatch(new RegExp(`(using|on) ${index}\\b`));
});
