/**
 * Checks the query plans of the statements that seal the ledger. A connection plans a statement only once, possibly
 * before the tables were analysed. Therefore the tables of this test are never analysed.
 */
import { planOf } from '@svc/testing';
import { createTransferWriter } from '../../test/books/ledger.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { SealRepository } from './seal.repository.js';

let processor: Processor;
let seals: SealRepository;
beforeAll(async () => {
  processor = await startProcessor();
  seals = processor.service.app.get(SealRepository);
});
afterAll(() => processor.stop());

async function fillLedger(): Promise<void> {
  const writeTransfers = await createTransferWriter(processor);
  // Each statement is small, because the service limits the duration of a statement.
  for (let batch = 0; batch < 20; batch++) await writeTransfers(5_000);
}

describe.each([
  ['an empty ledger', () => Promise.resolve()],
  ['100 000 transfers', fillLedger],
])('with %s', (_, fillTable) => {
  beforeAll(fillTable);
  const INDEX_SCAN_IN_LEDGER_ORDER =
    /Limit .*\n(.*InitPlan.*\n(.*\n){2})*\s+->  Index Scan using transfers_order on transfers \w .*\n\s+Index Cond: \(+ROW\(txid, "position"\) > ROW\(/;

  test('the sealing statement reads only the transfers after the last seal, in order, up to its limit', async () => {
    const plan = await planOf(processor.dataSource, () => seals.sealNext(1));
    expect(plan).toMatch(INDEX_SCAN_IN_LEDGER_ORDER);
    expect(plan).toContain('Index Scan Backward using ledger_seals_pkey on ledger_seals');
  });

  test('the search for the oldest unsealed transfer starts after the last seal', async () => {
    expect(await planOf(processor.dataSource, () => seals.findOldestUnsealed())).toMatch(INDEX_SCAN_IN_LEDGER_ORDER);
  });
});
