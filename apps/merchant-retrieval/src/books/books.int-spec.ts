import { DigestRetrievalV1, ListRetrievalV1, type Mode, type PaymentSnapshot } from '@svc/contracts';
import { newUuidAt } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { disputeOf, paymentEvent, refundOf } from '@svc/testing';
import { createMerchant, type Merchant, newPaymentAt, type Retrieval, startRetrieval } from '../../test/retrieval.js';

let retrieval: Retrieval;
let commands: Commands;
beforeAll(async () => {
  retrieval = await startRetrieval();
  commands = new Commands(retrieval.broker);
});
afterAll(() => retrieval.stop());

const DAY = { from: '2026-03-01T00:00:00.000Z', until: '2026-03-02T00:00:00.000Z' };
/**
 * A book is a list of the payments of a day, which payment-processor compares with its own payments. `retrieval` has the
 * payments that merchants can retrieve, `stream` the notifications in the event streams of merchants.
 */
const BOOKS = ['retrieval', 'stream'] as const;
const requestDigests = (book: string, merchantId: number) =>
  commands.request(DigestRetrievalV1, { book, merchantId, ...DAY });
const requestLines = async (book: string, merchantId: number, mode: Mode = 'test') =>
  (await commands.request(ListRetrievalV1, { book, merchantId, mode, ...DAY })).lines;

/** Delivers a payment of this merchant, or of a new merchant. */
async function deliverPaymentAt(time: string, overrides: Partial<PaymentSnapshot> = {}, merchant?: Merchant) {
  const payment = newPaymentAt(merchant ?? (await createMerchant(retrieval)), new Date(time), overrides);
  await retrieval.deliver(paymentEvent(payment));
  return payment;
}

test.each(BOOKS)('book %s has a digest and rows for each merchant and mode', async (book) => {
  const merchant = await createMerchant(retrieval);
  const paid = await deliverPaymentAt(DAY.from, {}, merchant);
  await deliverPaymentAt(DAY.from, { mode: 'live', state: 'failed', processedAmount: 0 }, merchant);
  const otherPayment = await deliverPaymentAt(DAY.from);
  const { merchantId } = merchant;
  expect((await requestDigests(book, merchantId)).digests).toMatchObject([
    { merchantId, mode: 'live', count: 1, amount: 0 },
    { merchantId, mode: 'test', count: 1, amount: 13_345 },
  ]);
  expect((await requestDigests(book, otherPayment.merchantId)).digests).toHaveLength(1);
  expect(await requestLines(book, merchantId)).toMatchObject([
    { key: paid.paymentReference, line: { tenderedAmount: 13_345 } },
  ]);
});

test.each(BOOKS)(
  'book %s contains a payment on the day on which the payment was accepted, from the first to the last millisecond',
  async (book) => {
    const merchant = await createMerchant(retrieval);
    for (const time of ['2026-02-28T23:59:59.999Z', DAY.from, '2026-03-01T23:59:59.999Z', DAY.until])
      await deliverPaymentAt(time, {}, merchant);
    const lines = await requestLines(book, merchant.merchantId);
    expect(lines.map(({ line }) => line!['paymentUTCDate']).toSorted()).toEqual([DAY.from, '2026-03-01T23:59:59.999Z']);
  },
);

test('the book of the stream has a separate row for a refund, and contains no names of customers', async () => {
  const payment = await deliverPaymentAt('2026-03-01T09:00:00.000Z');
  const refund = refundOf(payment, { refundReference: '019ca8d7-2d00-7000-8000-000000000001' });
  await retrieval.deliver(refund);
  const lines = await requestLines('stream', payment.merchantId);
  expect(lines.map(({ key }) => key)).toEqual([
    payment.paymentReference,
    `${payment.paymentReference}/${refund.payload.refund.refundReference}`,
  ]);
  expect(lines[1]!.line).toMatchObject({ type: 'refund', rowType: 'refund', refund: { amount: 2_345 } });
  expect(JSON.stringify(lines)).not.toContain('customer');
});

test('the book of the stream has two rows for a refund whose money came back, each on its day', async () => {
  const payment = await deliverPaymentAt('2026-02-27T09:00:00.000Z');
  const refund = { refundReference: newUuidAt(new Date('2026-02-28T09:00:00.000Z')) };
  const deliverReturn = (returnedUTCDate: string) =>
    retrieval.deliver(refundOf(payment, { ...refund, status: 'failed', returnedUTCDate }));
  await retrieval.deliver(refundOf(payment, refund));
  await deliverReturn('2026-03-01T09:00:00.000Z');
  const [returned, ...others] = await requestLines('stream', payment.merchantId);
  expect(others).toEqual([]);
  expect(returned!.line).toMatchObject({ type: 'refund', refund: { ...refund, status: 'failed' } });
  expect(returned!.key).not.toContain(refund.refundReference);
});

test('the book of the stream has a row for each change of a dispute, on the day of the change', async () => {
  const payment = await deliverPaymentAt('2026-02-28T09:00:00.000Z');
  const changeReferences: string[] = [];
  for (const time of ['2026-02-28T23:59:59.999Z', DAY.from, '2026-03-01T23:59:59.999Z', DAY.until]) {
    changeReferences.push(newUuidAt(new Date(time)));
    const change = { changeReference: changeReferences.at(-1)!, changedUTCDate: time };
    await retrieval.deliver(
      disputeOf(payment, { disputeReference: payment.reference, ...change }, changeReferences.length),
    );
  }
  const lines = await requestLines('stream', payment.merchantId);
  expect(lines.map(({ key }) => key)).toEqual(
    changeReferences.slice(1, 3).map((changeReference) => `${payment.paymentReference}/${changeReference}`),
  );
  expect(lines[0]!.line).toMatchObject({ type: 'dispute', rowType: 'dispute', dispute: { amount: 2_345 } });
});

test('the digests of a book contain the time since which the book is complete', async () => {
  const [retrievalDigests, streamDigests] = await Promise.all(BOOKS.map((book) => requestDigests(book, 1)));
  // Three months and four days before the time of the test (1 March, 10:00), plus five minutes for clock skew.
  expect([retrievalDigests!.keptSince, streamDigests!.keptSince]).toEqual([
    '2025-12-01T10:05:00.000Z',
    '2026-02-25T10:05:00.000Z',
  ]);
});

test('a request for the digests of an unknown book is rejected', async () => {
  await expect(requestDigests('history', 1)).rejects.toMatchObject({ code: 'request.invalid' });
});

test.each([
  { generation: 'the generation of the read model that is being built', difference: 1 },
  { generation: 'a retired generation of the read model', difference: -1 },
])('a digest does not include $generation', async ({ difference }) => {
  const { merchantId } = await deliverPaymentAt(DAY.from);
  await retrieval.dataSource.query(`UPDATE payments SET generation = generation + $2 WHERE merchant_id = $1`, [
    merchantId,
    difference,
  ]);
  expect((await requestDigests('retrieval', merchantId)).digests).toEqual([]);
});

test('a digest includes the serving generation of the read model while a retired generation still exists', async () => {
  const { merchantId } = await deliverPaymentAt(DAY.from);
  await retrieval.dataSource.query(
    `INSERT INTO generations (generation, state, begun_at, retired_at) VALUES (0, 'retired', $1, $1)`,
    [retrieval.clock.now()],
  );
  expect((await requestDigests('retrieval', merchantId)).digests).toMatchObject([{ merchantId, count: 1 }]);
  await retrieval.dataSource.query(`DELETE FROM generations WHERE state = 'retired'`);
});
