import { randomUUID } from 'node:crypto';
import {
  DigestSessionsV1,
  ListReportedPaymentsV1,
  ListSessionsV1,
  type Mode,
  type PaymentSnapshot,
  SessionCreatedV1,
} from '@svc/contracts';
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

/** The day that the tests reconcile. The book `sessions` contains the final payments of sessions of one day. */
const DAY = { from: '2026-03-01T00:00:00.000Z', until: '2026-03-02T00:00:00.000Z' };
let merchantId = 0;

async function pay(overrides: Partial<PaymentSnapshot>): Promise<PaymentSnapshot> {
  const paymentReference = newPaymentReference(new Date());
  const payment = { ...anAnonymousPayment(), reference: randomUUID(), paymentReference, ...overrides };
  await gateway.deliver(paymentEvent(payment));
  return payment;
}
const requestDigests = async (merchant: number) =>
  (await commands.request(DigestSessionsV1, { book: 'sessions', merchantId: merchant, ...DAY })).digests;
const requestLines = async (merchant: number, mode: Mode = 'test') =>
  (await commands.request(ListSessionsV1, { book: 'sessions', merchantId: merchant, mode, ...DAY })).lines;

test('the responses to reconciliation contain the final payments of sessions, by merchant and mode', async () => {
  const [firstMerchant, secondMerchant] = [++merchantId, ++merchantId];
  const { paymentReference } = await pay({ merchantId: firstMerchant });
  await pay({ merchantId: firstMerchant, mode: 'live', processedAmount: 5 });
  await pay({ merchantId: firstMerchant, state: 'processing', processedAmount: 0 });
  await pay({
    merchantId: secondMerchant,
    state: 'failed',
    processedAmount: 0,
    errors: [{ errorReference: '10', message: 'no' }],
  });
  expect(await requestDigests(firstMerchant)).toMatchObject([
    { merchantId: firstMerchant, mode: 'live', count: 1, amount: 5 },
    { merchantId: firstMerchant, mode: 'test', count: 1, amount: 13_345 },
  ]);
  expect(await requestDigests(secondMerchant)).toMatchObject([
    { merchantId: secondMerchant, mode: 'test', count: 1, amount: 0 },
  ]);
  expect(await requestLines(firstMerchant)).toMatchObject([
    { key: paymentReference, open: false, line: { state: 'success', amount: 12_345 } },
  ]);
});

test('a payment belongs to the day of its acceptance: from 00:00:00.000Z until the millisecond before the next day', async () => {
  const merchant = ++merchantId;
  for (const paymentUTCDate of ['2026-02-28T23:59:59.999Z', DAY.from, '2026-03-01T23:59:59.999Z', DAY.until])
    await pay({ merchantId: merchant, paymentUTCDate });
  expect((await requestLines(merchant)).map(({ line }) => line!['paymentUTCDate']).toSorted()).toEqual([
    DAY.from,
    '2026-03-01T23:59:59.999Z',
  ]);
});

test('a payment with an invalid merchantId is counted for merchant 0 and causes no error', async () => {
  const { paymentReference } = await pay({ merchantId: ++merchantId });
  await gateway.dataSource.query(
    `UPDATE hosted_payments SET snapshot = jsonb_set(snapshot::jsonb, '{merchantId}', '"x"')::json WHERE payment_reference = $1`,
    [paymentReference],
  );
  expect(await requestDigests(0)).toMatchObject([{ merchantId: 0, count: 1 }]);
  expect(await requestDigests(merchantId)).toEqual([]);
});

test('after a restore, payment-processor reads the successful payments among its references, and no others', async () => {
  const success = await pay({ merchantId: ++merchantId });
  const failed = await pay({
    ...{ merchantId, state: 'failed', processedAmount: 0, errors: [{ errorReference: '10', message: 'no' }] },
  });
  const processing = await pay({ merchantId, state: 'processing', processedAmount: 0 });
  const ofPartner = await pay({
    merchantId,
    partner: { organisationId: randomUUID(), customer: { id: randomUUID() } } as unknown as NonNullable<
      PaymentSnapshot['partner']
    >,
  });
  const unlisted = await pay({ merchantId });
  const request = {
    paymentReferences: [success, failed, processing, ofPartner].map(({ paymentReference }) => paymentReference),
  };
  const { payments } = await commands.request(ListReportedPaymentsV1, request);
  const { paymentReference, reference, mode, siteId, amount, tipAmount, invoicedAmount, payable } = success;
  expect(payments).toEqual([
    {
      ...{ paymentReference, reference, mode, merchantId, siteId, amount, tipAmount, invoicedAmount },
      ...{ currencyISOCode: success.currencyISOCode, paymentMethodLabel: success.paymentMethodLabel },
      ...{ payableId: payable.payableId, payableVersion: payable.version, paymentCount: payable.paymentCount },
      paymentUTCDate: success.paymentUTCDate,
    },
  ]);
  expect(payments.map((payment) => payment.paymentReference)).not.toContain(unlisted.paymentReference);
});
