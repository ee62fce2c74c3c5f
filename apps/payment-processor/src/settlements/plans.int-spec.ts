/**
 * Checks the query plans of statements: a day or a month is read through the index of the merchant's transfers by time,
 * in its order, whatever else the ledger contains.
 */
import { planOf } from '@svc/testing';
import { createTransferWriter } from '../../test/books/ledger.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { type SettlementOwner, SettlementRepository } from './settlement.repository.js';

let processor: Processor;
let settlements: SettlementRepository;
beforeAll(async () => {
  processor = await startProcessor();
  settlements = processor.service.app.get(SettlementRepository);
});
afterAll(() => processor.stop());

const MERCHANT: SettlementOwner = { merchantId: 1001, mode: 'test', siteId: undefined };
const SITE: SettlementOwner = { ...MERCHANT, siteId: 5001 };
const DAY = { start: new Date('2026-02-10T22:00:00Z'), end: new Date('2026-02-11T22:00:00Z') };
const MONTH = { start: new Date('2026-01-31T22:00:00Z'), end: new Date('2026-02-28T22:00:00Z') };
const RANGE_OF_TIME =
  /using transfers_of_merchant on transfers .*\n\s+Index Cond: \(\(merchant_id = .*\(mode = .*\(created_at >= .*\(created_at < /;

async function readFirstPage(owner: SettlementOwner, range: typeof DAY): Promise<void> {
  const days = { from: '', to: '', ...range };
  await settlements.readPages(owner, days, '1').next();
}

/** 100 000 transfers of one merchant in two months. */
async function fillLedger(): Promise<void> {
  const writeTransfers = await createTransferWriter(processor);
  for (let day = 0; day < 50; day++)
    await writeTransfers(2_000, { createdAt: new Date(Date.parse('2026-01-11T10:00:00Z') + day * 86_400_000) });
}

describe.each([
  ['an empty ledger', () => Promise.resolve()],
  ['100 000 transfers', fillLedger],
])('with %s', (_, fillTable) => {
  beforeAll(fillTable);

  test.each([
    ['a merchant’s day', MERCHANT, DAY],
    ['a site’s day', SITE, DAY],
    ['a merchant’s month', MERCHANT, MONTH],
    ['a site’s month', SITE, MONTH],
  ])(
    'the pages of %s are read in the order of the index, and only up to the end of the page',
    async (__, owner, range) => {
      const plan = await planOf(processor.dataSource, () => readFirstPage(owner, range));
      expect(plan).toMatch(
        /using transfers_of_merchant on transfers .*\n\s+Index Cond: \(\(merchant_id = .*created_at/,
      );
      expect(plan).toMatch(/^(.*\n)?Limit /);
      expect(plan).not.toMatch(/Seq Scan|Hash|->  Sort /);
    },
  );

  test.each([
    ['a merchant’s day', MERCHANT, DAY],
    ['a site’s day', SITE, DAY],
    ['a merchant’s month', MERCHANT, MONTH],
    ['a site’s month', SITE, MONTH],
  ])('the sums of %s read only the transfers of that time', async (__, owner, range) => {
    const plan = await planOf(processor.dataSource, () => settlements.sumUp(owner, range));
    expect(plan).toMatch(RANGE_OF_TIME);
    expect(plan).toMatch(/SubPlan[^]*using payments_pkey on payments p[^]*using payables_pkey on payables y/);
    expect(plan).not.toMatch(/Seq Scan|hashed SubPlan/);
  });

  test('the seal of a statement is found by the primary key of the closings', async () => {
    const plan = await planOf(processor.dataSource, () => settlements.findSeal(DAY.end));
    expect(plan).toMatch(/Limit .*\n\s+->  Index Scan using ledger_closings_pkey on ledger_closings/);
  });
});
