import { DigestRetrievalV1, ListRetrievalV1, type Mode, type PaymentSnapshot } from '@svc/contracts';
import { Commands } from '@svc/messaging';
import { paymentEvent, refundOf } from '@svc/testing';
import { createMerchant, newPaymentAt, type Retrieval, startRetrieval } from '../../test/retrieval.js';

let retrieval: Retrieval;
let commands: Commands;
beforeAll(async () => {
  retrieval = await startRetrieval();
  commands = new Commands(retrieval.broker);
});
afterAll(() => retrieval.stop());

const DAY = { from: '2026-03-01T00:00:00.000Z', until: '2026-03-02T00:00:00.000Z' };
const BOOKS = ['retrieval', 'stream'] as const;
const digestOf = (book: string, merchantId: number) =>
  commands.request(DigestRetrievalV1, { book, merchantId, ...DAY });
const linesOf = async (book: string, merchantId: number, mode: Mode = 'test') =>
  (await commands.request(ListRetrievalV1, { book, merchantId, mode, ...DAY })).lines;

async function payAt(time: string, over: Partial<PaymentSnapshot> = {}, merchant = createMerchant(retrieval)) {
  const payment = newPaymentAt(await merchant, new Date(time), over);
  await retrieval.deliver(paymentEvent(payment));
  return payment;
}

test.each(BOOKS)('%s: what there is of each merchant and mode', async (book) => {
  const merchant = await createMerchant(retrieval);
  const paid = await payAt(DAY.from, {}, Promise.resolve(merchant));
  await payAt(DAY.from, { mode: 'live', state: 'failed', processedAmount: 0 }, Promise.resolve(merchant));
  const other = await payAt(DAY.from);
  const { merchantId } = merchant;
  expect((await digestOf(book, merchantId)).digests).toMatchObject([
    { merchantId, mode: 'live', count: 1, amount: 0 },
    { merchantId, mode: 'test', count: 1, amount: 13_345 },
  ]);
  expect((await digestOf(book, other.merchantId)).digests).toHaveLength(1);
  expect(await linesOf(book, merchantId)).toMatchObject([
    { key: paid.paymentReference, line: { tenderedAmount: 13_345 } },
  ]);
});

test.each(BOOKS)('%s: a row belongs to its day from the first millisecond to the last', async (book) => {
  const merchant = await createMerchant(retrieval);
  for (const time of ['2026-02-28T23:59:59.999Z', DAY.from, '2026-03-01T23:59:59.999Z', DAY.until])
    await payAt(time, {}, Promise.resolve(merchant));
  const lines = await linesOf(book, merchant.merchantId);
  expect(lines.map(({ line }) => line!['paymentUTCDate']).toSorted()).toEqual([DAY.from, '2026-03-01T23:59:59.999Z']);
});

test('the stream book has a separate row for a refund, and no names', async () => {
  const payment = await payAt('2026-03-01T09:00:00.000Z');
  const refund = refundOf(payment, { refundReference: '019ca8d7-2d00-7000-8000-000000000001' });
  await retrieval.deliver(refund);
  const lines = await linesOf('stream', payment.merchantId);
  expect(lines.map(({ key }) => key)).toEqual([
    payment.paymentReference,
    `${payment.paymentReference}/${refund.payload.refund.refundReference}`,
  ]);
  expect(lines[1]!.line).toMatchObject({ type: 'refund', rowType: 'refund', refund: { amount: 2_345 } });
  expect(JSON.stringify(lines)).not.toContain('customer');
});

test('each book has its start time, from which it keeps rows', async () => {
  const [retrieved, stream] = await Promise.all(BOOKS.map((book) => digestOf(book, 1)));
  expect([retrieved!.keptSince, stream!.keptSince]).toEqual(['2025-12-01T10:05:00.000Z', '2026-02-25T10:05:00.000Z']);
});

test('an unknown book is rejected', async () => {
  await expect(digestOf('history', 1)).rejects.toMatchObject({ code: 'request.invalid' });
});

test('a generation that is being built is not compared', async () => {
  const { merchantId } = await payAt(DAY.from);
  await retrieval.dataSource.query(`UPDATE payments SET generation = generation + 1 WHERE merchant_id = $1`, [
    merchantId,
  ]);
  expect((await digestOf('retrieval', merchantId)).digests).toEqual([]);
});
