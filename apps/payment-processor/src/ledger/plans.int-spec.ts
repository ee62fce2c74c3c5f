/** Plans of the statements that seal the ledger, for tables that were never analysed, because a connection plans them once. */
import { planOf } from '@svc/testing';
import { transferWriter } from '../../test/ledger.js';
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
  await processor.superuser.query(`ALTER TABLE transfers SET (autovacuum_enabled = false)`);
  await (
    await transferWriter(processor)
  )(100_000);
}

describe.each([
  ['an empty ledger', () => Promise.resolve()],
  ['100 000 transfers', fillLedger],
])('the plans for %s', (_, fill) => {
  beforeAll(fill);
  const inOrder =
    /Limit .*\n(.*InitPlan.*\n(.*\n){2})*\s+->  Index Scan using transfers_order on transfers \w .*\n\s+Index Cond: \(+ROW\(txid, "position"\) > ROW\(/;

  test('a seal reads transfers after the last seal, in order, up to its limit', async () => {
    const plan = await planOf(processor.dataSource, () => seals.sealNext(1));
    expect(plan).toMatch(inOrder);
    expect(plan).toContain('Index Scan Backward using ledger_seals_pkey on ledger_seals');
  });

  test('the oldest unsealed transfer is searched after the last seal', async () => {
    expect(await planOf(processor.dataSource, () => seals.oldestUnsealed())).toMatch(inOrder);
  });
});
