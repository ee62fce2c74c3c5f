import { randomUUID } from 'node:crypto';
import { DigestSessionsV1, ListSessionsV1, type Mode, type PaymentSnapshot, SessionCreatedV1 } from '@svc/contracts';
import { newPaymentReference } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { anAnonymousPayment, paymentEvent } from '@svc/testing';
import { type Gateway, startGateway } from '../../test/gateway.js';

let gateway: Gateway;
let commands: Commands;
beforeAll(async () => {
  gateway = await startGateway();
  commands = new Commands(gateway.broker);
  expect(await gateway.published(SessionCreatedV1)).toEqual([]);
});
afterAll(() => gateway.stop());

const DAY = { from: '2026-03-01T00:00:00.000Z', until: '2026-03-02T00:00:00.000Z' };
let merchantId = 0;

async function pay(over: Partial<PaymentSnapshot>): Promise<PaymentSnapshot> {
  const paymentReference = newPaymentReference(new Date());
  const payment = { ...anAnonymousPayment(), reference: randomUUID(), paymentReference, ...over };
  await gateway.deliver(paymentEvent(payment));
  return payment;
}
const digestsOf = async (merchant: number) =>
  (await commands.request(DigestSessionsV1, { book: 'sessions', merchantId: merchant, ...DAY })).digests;
const linesOf = async (merchant: number, mode: Mode = 'test') =>
  (await commands.request(ListSessionsV1, { book: 'sessions', merchantId: merchant, mode, ...DAY })).lines;

test('the books contain the final payments of sessions, for each merchant and mode', async () => {
  const [one, other] = [++merchantId, ++merchantId];
  const { paymentReference } = await pay({ merchantId: one });
  await pay({ merchantId: one, mode: 'live', processedAmount: 5 });
  await pay({ merchantId: one, state: 'processing', processedAmount: 0 });
  await pay({
    merchantId: other,
    state: 'failed',
    processedAmount: 0,
    errors: [{ errorReference: '10', message: 'no' }],
  });
  expect(await digestsOf(one)).toMatchObject([
    { merchantId: one, mode: 'live', count: 1, amount: 5 },
    { merchantId: one, mode: 'test', count: 1, amount: 13_345 },
  ]);
  expect(await digestsOf(other)).toMatchObject([{ merchantId: other, mode: 'test', count: 1, amount: 0 }]);
  expect(await linesOf(one)).toMatchObject([
    { key: paymentReference, open: false, line: { state: 'success', amount: 12_345 } },
  ]);
});

test('a payment belongs to the day on which it was accepted, from its first millisecond to its last', async () => {
  const merchant = ++merchantId;
  for (const paymentUTCDate of ['2026-02-28T23:59:59.999Z', DAY.from, '2026-03-01T23:59:59.999Z', DAY.until])
    await pay({ merchantId: merchant, paymentUTCDate });
  expect((await linesOf(merchant)).map(({ line }) => line!['paymentUTCDate']).toSorted()).toEqual([
    DAY.from,
    '2026-03-01T23:59:59.999Z',
  ]);
});

test('a payment with an invalid merchantId belongs to no merchant and causes no error', async () => {
  const { paymentReference } = await pay({ merchantId: ++merchantId });
  await gateway.dataSource.query(
    `UPDATE hosted_payments SET snapshot = jsonb_set(snapshot, '{merchantId}', '"x"') WHERE payment_reference = $1`,
    [paymentReference],
  );
  expect(await digestsOf(0)).toMatchObject([{ merchantId: 0, count: 1 }]);
  expect(await digestsOf(merchantId)).toEqual([]);
});
