import { type HostedPaymentSnapshot, PaymentSucceededV1, RefundSucceededV1 } from '@svc/contracts';
import { buildPayable } from '../../test/builders.js';
import { createRefundClient } from '../../test/merchant-key.js';
import { reportOf, type RestoredProcessor, startRestoredProcessor } from '../../test/restored-processor.js';

let processor: RestoredProcessor;
beforeEach(async () => {
  processor = await startRestoredProcessor();
});
afterEach(() => processor.stop());

async function payAndForget(): Promise<HostedPaymentSnapshot> {
  const payment = await processor.pay(buildPayable());
  expect(payment.state).toBe('success');
  await processor.forget(payment);
  return payment;
}
const repair = async (body: object = {}) => (await processor.administer('POST', '/repair', body)).body;
const readTransfers = (): Promise<object[]> =>
  processor.dataSource.query(
    `SELECT kind, debit_account AS debit, credit_account AS credit, amount FROM transfers ORDER BY txid, position`,
  );
const RECORDED = { chargesRecorded: 1, chargesReversed: 0, refundsRecorded: 0, unresolved: 0 };
const REVERSED = { chargesRecorded: 0, chargesReversed: 1, refundsRecorded: 0, unresolved: 0 };

test('a forgotten charge that was reported as a success is recorded with its key, its reference and the ledger', async () => {
  const payment = await payAndForget();
  const before = await readTransfers();
  processor.reports.push(reportOf(payment));
  await processor.restore();
  processor.clock.advance(3_600_000);
  expect(await repair()).toMatchObject(RECORDED);
  const [recorded] = await processor.pollPayments({ ...buildPayable(), payableId: payment.payable.payableId });
  const { modifiedUTCDate: _, payable: __, ...same } = payment;
  expect(recorded).toMatchObject({ ...same, payable: { state: 'paid', paymentCount: 1 } });
  expect(before).toEqual([]);
  expect(await readTransfers()).toEqual([
    {
      kind: 'capture',
      debit: 'test:acquirer:simulated:receivable',
      credit: 'test:merchant:1001:payable',
      amount: 12_345,
    },
  ]);
  // Other services keep the newest version of a payment and of a payable.
  const [event] = await processor.published(PaymentSucceededV1);
  expect(event!.aggregateVersion).toBeGreaterThan(1_000);
  expect(event!.payload.payable.version).toBeGreaterThan(payment.payable.version);
  expect(processor.chargedReferences()).toEqual([payment.paymentReference]);
  expect(await processor.actions()).toEqual(['restore.charge-recorded', 'restore.repaired']);
  expect(await repair()).toMatchObject({ ...RECORDED, chargesRecorded: 0 });
});

test('a forgotten charge that no service has reported is reversed, with both movements in the ledger', async () => {
  await payAndForget();
  await processor.restore();
  expect(await repair()).toMatchObject(REVERSED);
  const [receivable, reversals] = ['test:acquirer:simulated:receivable', 'test:acquirer:simulated:reversals'];
  expect(await readTransfers()).toEqual([
    { kind: 'lateApproval', debit: receivable, credit: reversals, amount: 12_345 },
    { kind: 'reversal', debit: reversals, credit: receivable, amount: 12_345 },
  ]);
  expect(processor.chargedReferences()).toEqual([]);
  expect(await processor.actions()).toEqual(['restore.charge-reversed', 'restore.repaired']);
  expect(await repair()).toMatchObject({ ...REVERSED, chargesReversed: 0 });
  expect(await readTransfers()).toHaveLength(2);
});

test('a reversal that the bank does not confirm keeps the restore closed, and is requested again', async () => {
  await payAndForget();
  await processor.restore();
  const { acquirer } = processor;
  const reverse = acquirer.reverse.bind(acquirer);
  acquirer.reverse = () => Promise.resolve({ kind: 'unconfirmed' });
  expect(await repair()).toMatchObject(REVERSED);
  expect(await readTransfers()).toMatchObject([{ kind: 'lateApproval' }]);
  expect((await processor.administer('GET', '')).body).toMatchObject({ restore: { reversalsOpen: 1 } });
  expect(await processor.administer('POST', '/open', { acceptsDifferences: true })).toMatchObject({ status: 409 });
  acquirer.reverse = reverse;
  processor.clock.advance(30_000);
  await repair();
  expect(await readTransfers()).toMatchObject([{ kind: 'lateApproval' }, { kind: 'reversal' }]);
});

test('a charge that only the merchant has received as a success waits for the decision of an administrator', async () => {
  const payment = await payAndForget();
  processor.readByMerchant.add(payment.paymentReference);
  await processor.restore();
  const { paymentReference: svcId } = payment;
  expect(await repair()).toMatchObject({
    ...{ ...REVERSED, chargesReversed: 0, unresolved: 1 },
    listedUnresolved: [{ reason: 'reported-as-success', kind: 'charge', svcId, amount: 12_345 }],
  });
  expect(processor.chargedReferences()).toEqual([svcId]);
  expect(await repair({ reversesReported: true })).toMatchObject(REVERSED);
  expect(processor.chargedReferences()).toEqual([]);
});

test('a reported charge is not recorded for a payable that is not open, or that has other terms', async () => {
  const payment = await payAndForget();
  processor.reports.push(reportOf(payment));
  await processor.restore();
  const refuse = async (changes: string, undo: string) => {
    const where = `WHERE payable_id = '${payment.payable.payableId}'`;
    await processor.superuser.query(`UPDATE payables SET ${changes} ${where}`);
    expect(await repair()).toMatchObject({
      ...{ chargesRecorded: 0, chargesReversed: 0, unresolved: 1 },
      listedUnresolved: [{ reason: 'report-does-not-match' }],
    });
    await processor.superuser.query(`UPDATE payables SET ${undo} ${where}`);
  };
  await refuse(`state = 'closed'`, `state = 'open'`);
  await refuse(`mode = 'live'`, `mode = 'test'`);
  await refuse('merchant_id = 1002', 'merchant_id = 1001');
  await refuse('site_id = 5002', 'site_id = 5001');
  await refuse('amount = 12346', 'amount = 12345');
  await refuse(`currency = 'USD'`, `currency = 'ZAR'`);
  await refuse('payment_count = 1', 'payment_count = 0');
  expect(await repair()).toMatchObject(RECORDED);
});

test('a reported charge over the last allowed payment of the payable is not recorded', async () => {
  const payment = await payAndForget();
  processor.reports.push({ ...reportOf(payment), paymentCount: 6 });
  await processor.restore();
  expect(await repair()).toMatchObject({ unresolved: 1 });
});

test('a forgotten refund is recorded under its key, also when its payment was forgotten with it', async () => {
  const payments: HostedPaymentSnapshot[] = [];
  const client = await createRefundClient(processor, { merchantId: 1001 });
  for (let times = 0; times < 2; times++) {
    const payment = await processor.pay(buildPayable());
    expect(await client.refund(payment.paymentReference, { amount: 100 })).toMatchObject({ status: 201 });
    payments.push(payment);
  }
  const ids = (
    await processor.dataSource.query<{ id: string }[]>(`SELECT refund_id AS id FROM refunds ORDER BY 1`)
  ).map(({ id }) => id);
  const events = (await processor.published(RefundSucceededV1)).length;
  await processor.forgetRefunds(payments[0]!);
  await processor.forget(payments[1]!);
  processor.reports.push(reportOf(payments[1]!));
  await processor.restore();
  expect(await repair()).toMatchObject({ ...RECORDED, refundsRecorded: 2 });
  expect(await processor.dataSource.query(`SELECT refund_id AS id, state, amount FROM refunds ORDER BY 1`)).toEqual(
    ids.map((id) => ({ id, state: 'succeeded', amount: 100 })),
  );
  const refunded = (await readTransfers()).filter((row) => (row as { kind: string }).kind === 'refund');
  expect(refunded).toHaveLength(2);
  expect((await processor.published(RefundSucceededV1)).length).toBeGreaterThan(events - 1);
  expect(await processor.actions()).toEqual([
    ...['restore.charge-recorded', 'restore.refund-recorded', 'restore.refund-recorded', 'restore.repaired'],
  ]);
});

test('a refund of more than is left, and a refund of a payment that was not recorded, are unresolved', async () => {
  const client = await createRefundClient(processor, { merchantId: 1001 });
  const [known, unknown] = [await processor.pay(buildPayable()), await processor.pay(buildPayable())];
  for (const { paymentReference } of [known, unknown])
    expect(await client.refund(paymentReference, { amount: 10_000 })).toMatchObject({ status: 201 });
  await processor.forgetRefunds(known);
  await processor.superuser.query(`UPDATE payments SET refunded_amount = 2346 WHERE payment_reference = $1`, [
    known.paymentReference,
  ]);
  await processor.forget(unknown);
  await processor.restore();
  expect(await repair()).toMatchObject({
    ...{ chargesRecorded: 0, chargesReversed: 0, refundsRecorded: 0, unresolved: 3 },
    listedUnresolved: [
      { reason: 'charge-with-refunds', svcId: unknown.paymentReference },
      { reason: 'refund-without-payment', svcId: known.paymentReference },
      { reason: 'refund-without-payment', svcId: unknown.paymentReference },
    ],
  });
  await processor.superuser.query(`UPDATE payments SET refunded_amount = 2345 WHERE payment_reference = $1`, [
    known.paymentReference,
  ]);
  expect(await repair()).toMatchObject({ refundsRecorded: 1, unresolved: 2 });
});

test('nothing is decided while the bank does not answer, or while events of other services are missing', async () => {
  await payAndForget();
  const restoreId = await processor.restore({ isReplayed: false });
  expect(await processor.administer('POST', '/repair', {})).toMatchObject({ status: 503 });
  await processor.superuser.query(`UPDATE restores SET replayed_at = now() WHERE restore_id = $1`, [restoreId]);
  processor.acquirer.readStatement = () => Promise.resolve(undefined);
  expect((await processor.administer('POST', '/repair', {})).status).toBe(503);
  expect(await processor.actions()).toEqual([]);
  expect(await readTransfers()).toEqual([]);
});
