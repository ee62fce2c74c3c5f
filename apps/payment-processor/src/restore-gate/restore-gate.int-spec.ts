import { createOpenAttempt } from '../../test/attempts/open-attempt.js';
import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { createRefundClient } from '../../test/merchant-key.js';
import { type RestoredProcessor, startRestoredProcessor } from '../../test/restored-processor.js';
import { UnfinishedPaymentRepository } from './unfinished-payment.repository.js';

let processor: RestoredProcessor;
beforeEach(async () => {
  processor = await startRestoredProcessor();
});
afterEach(() => processor.stop());

const open = (body: object = {}) => processor.administer('POST', '/open', body);
/** Stores the result of a reconciliation of all merchants that has compared everything until now. */
const storeReconciliation = (differences: number, changes = {}): Promise<unknown> => {
  const run = { merchantId: null, watermark: processor.clock.now(), day: '2026-03-01', ...changes };
  return processor.superuser.query(
    `INSERT INTO reconciliations (run_id, day, merchant_id, state, requested_at, watermark, ended_at, differences, open, is_whole_day, result)
     VALUES (gen_random_uuid(), $1, $2, 'done', $3, $3, $3, $4, 0, false, '{}')`,
    [run.day, run.merchantId, run.watermark, differences],
  );
};

test('payments and refunds are refused until the restore is opened, and then accepted', async () => {
  const client = await createRefundClient(processor, { merchantId: 1001 });
  const payment = await processor.pay(buildPayable());
  await processor.restore();
  const refused = buildPayable();
  await expect(processor.pay(refused)).rejects.toMatchObject({ code: 'service.not-ready' });
  expect(await client.refund(payment.paymentReference)).toMatchObject({ status: 503 });
  await processor.administer('POST', '/repair', {});
  await expect(processor.pay(refused)).rejects.toMatchObject({ code: 'service.not-ready' });
  expect(await open({ acceptsDifferences: true })).toMatchObject({ status: 200, body: { restore: { state: 'open' } } });
  expect(await processor.pay(refused)).toMatchObject({ state: 'success' });
  expect(await client.refund(payment.paymentReference)).toMatchObject({ status: 201 });
  expect(await processor.actions()).toEqual(['restore.repaired', 'restore.opened']);
  expect(await open()).toMatchObject({ status: 404 });
  expect(await processor.administer('POST', '/repair', {})).toMatchObject({ status: 404 });
});

test('a verified payment is not charged while the restore is open', async () => {
  const payable = buildPayable();
  const payment = await processor.pay(payable, { card: CARDS.verificationRequired });
  expect(payment.state).toBe('verificationRequired');
  await processor.answerChallenge(payment, 'confirm');
  await processor.restore();
  processor.clock.advance(1_000);
  expect(await processor.pollPayments(payable)).toMatchObject([{ state: 'verificationRequired' }]);
  expect(processor.chargedReferences()).toEqual([]);
  await processor.administer('POST', '/repair', {});
  await open({ acceptsDifferences: true });
  processor.clock.advance(1_000);
  expect(await processor.pollPayments(payable)).toMatchObject([{ state: 'success' }]);
});

test('the restore is opened only when the newest reconciliations after the repair have found no difference', async () => {
  await processor.restore();
  expect(await open({ acceptsDifferences: true })).toMatchObject({ status: 409 });
  processor.clock.advance(1_000);
  await storeReconciliation(0);
  await processor.administer('POST', '/repair', {});
  const refusal = { status: 409, body: { detail: expect.stringContaining('2026-03-01') as string } };
  expect(await open()).toMatchObject(refusal);
  processor.clock.advance(1_000);
  await storeReconciliation(0, { merchantId: 1001 });
  await storeReconciliation(0, { day: '2026-02-28' });
  expect(await open()).toMatchObject(refusal);
  await storeReconciliation(0);
  processor.clock.advance(1);
  await storeReconciliation(1);
  expect(await open()).toMatchObject(refusal);
  processor.clock.advance(1);
  await storeReconciliation(0);
  expect(await open()).toMatchObject({ status: 200 });
});

test('the restore is not opened while a charge has no outcome', async () => {
  await createOpenAttempt(processor);
  await processor.restore();
  processor.acquirer.getChargeStatus = () => Promise.resolve({ kind: 'unknown' });
  await processor.administer('POST', '/repair', {});
  expect((await processor.administer('GET', '')).body).toMatchObject({ restore: { outcomesMissing: 1 } });
  expect(await open({ acceptsDifferences: true })).toMatchObject({ status: 409 });
});

test('unfinished payments get higher versions and young attempts, once; finished payments keep theirs', async () => {
  const finished = await processor.pay(buildPayable());
  const { payment } = await createOpenAttempt(processor);
  processor.clock.advance(3_600_000);
  const restoreId = await processor.restore();
  await processor.service.app.get(UnfinishedPaymentRepository).prepare(restoreId);
  const rows = await processor.dataSource.query(
    `SELECT p.payment_reference AS reference, p.version, y.version AS "payableVersion", a.started_at AS "startedAt"
       FROM payments p JOIN payables y ON y.payable_id = p.payable_id JOIN attempts a ON a.payment_id = p.payment_id
      ORDER BY p.version`,
  );
  expect(rows).toMatchObject([
    { reference: finished.paymentReference, version: 2 },
    {
      ...{ reference: payment.paymentReference, version: 1_001, payableVersion: payment.payable.version + 1_000 },
      startedAt: processor.clock.now(),
    },
  ]);
});
