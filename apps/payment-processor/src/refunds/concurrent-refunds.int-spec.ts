import { randomUUID } from 'node:crypto';
import { type RunningService, startService } from '@svc/service';
import { httpClient, type HttpResponse } from '@svc/testing';
import { expectConsistentRecords } from '../../test/books/refund-books.js';
import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { createRefundClient, type RefundClient } from '../../test/merchant-key.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { PaymentProcessorConfig } from '../config.js';
import { paymentProcessorService } from '../index.js';

let processor: Processor;
let replica: RunningService;
let backOffice: RefundClient;
const merchantId = 95_000;
beforeAll(async () => {
  processor = await startProcessor();
  backOffice = await createRefundClient(processor, { merchantId });
  const config = processor.service.app.get(PaymentProcessorConfig);
  const env = Object.fromEntries(
    Object.entries(config).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
  replica = await startService(paymentProcessorService, { env: { ...env, SVC_PORT: '0' }, clock: processor.clock });
});
afterAll(async () => {
  await replica.close();
  await processor.stop();
});

const createPaidPayment = async (card: string = CARDS.approved): Promise<string> =>
  (await processor.pay(buildPayable({ merchantId }), { card })).paymentReference;
/**
 * Refunds at one of two replicas, alternately. Retries after a 5xx or a 409 with Retry-After, as a client does, because
 * with so many concurrent calls some calls may wait too long for a database connection.
 */
async function refundWithRetries(nth: number, svcId: string, amount: number, key: string): Promise<HttpResponse> {
  const headers = { 'x-api-key': backOffice.apiKey, 'idempotency-key': key };
  const client = httpClient(nth % 2 === 0 ? processor.service : replica, headers);
  for (let tries = 1; ; tries++) {
    const response = await client('POST', `/business/api/v1/merchants/${merchantId}/refunds?svcId=${svcId}`, {
      amount,
    });
    const isFinal = response.status < 500 && !(response.status === 409 && 'retry-after' in response.headers);
    if (isFinal || tries === 20) return response;
  }
}
/**
 * Counts responses by status. `refunded` counts the calls that created a refund (201) or returned an existing refund
 * (200).
 */
const countResults = (responses: readonly HttpResponse[]): Record<number | 'refunded', number> =>
  responses.reduce<Record<number | 'refunded', number>>(
    (counts, { status }) => {
      const name = status === 200 || status === 201 ? 'refunded' : status;
      return { ...counts, [name]: (counts[name] ?? 0) + 1 };
    },
    { refunded: 0 },
  );
const callConcurrently = (times: number, call: (nth: number) => Promise<HttpResponse>): Promise<HttpResponse[]> =>
  Promise.all(Array.from({ length: times }, (_, nth) => call(nth)));

/** Number of concurrent calls at two replicas. */
const CALLS = 1_000;

test(`of ${CALLS} concurrent refunds of one payment with different keys, only refunds up to the processed amount are created`, async () => {
  const payment = await createPaidPayment();
  const responses = await callConcurrently(CALLS, (nth) => refundWithRetries(nth, payment, 100, randomUUID()));
  // The payment of R 123.45 allows 123 refunds of R 1.00.
  expect(countResults(responses)).toEqual({ refunded: 123, 422: CALLS - 123 });
  // Also a refund that lost the race gets the amount that is really left.
  const details = responses.filter(({ status }) => status === 422).map(({ body }) => body.detail as string);
  for (const detail of details)
    expect(detail).toMatch(/^The refund is more than what is left of this payment: 45 cents \(R 0[.]45\)[.]/);
  const records = await expectConsistentRecords(processor, payment);
  expect([records.refunded, records.bank.length]).toEqual([12_300, 123]);
});

test(`${CALLS} concurrent calls with the same key create one refund`, async () => {
  const payment = await createPaidPayment();
  const responses = await callConcurrently(CALLS, (nth) => refundWithRetries(nth, payment, 12_345, 'the same key'));
  expect(countResults(responses)).toEqual({ refunded: CALLS });
  expect(responses.filter(({ headers }) => headers['idempotency-replayed'] === undefined).length).toBeLessThanOrEqual(
    1,
  );
  expect(new Set(responses.map(({ body }) => body.refundReference)).size).toBe(1);
  expect((await expectConsistentRecords(processor, payment)).bank).toHaveLength(1);
});

test('100 concurrent refunds that the bank declines are all sent to the bank, because each declined refund releases its amount', async () => {
  const payment = await createPaidPayment(CARDS.refundDeclined);
  const responses = await callConcurrently(100, (nth) => refundWithRetries(nth, payment, 100, randomUUID()));
  expect(countResults(responses)).toEqual({ refunded: 100 });
  expect(await expectConsistentRecords(processor, payment)).toMatchObject({ refunded: 0, bank: [] });
});

test('if concurrent refunds of two payments have the same key, one payment is refunded, and calls for the other payment are rejected as conflicts', async () => {
  const payments = [await createPaidPayment(), await createPaidPayment()];
  const key = randomUUID();
  const responses = await callConcurrently(20, (nth) =>
    refundWithRetries(nth, payments[Math.floor(nth / 2) % 2]!, 100, key),
  );
  expect(countResults(responses)).toEqual({ refunded: 10, 409: 10 });
  const records = await Promise.all(payments.map((payment) => expectConsistentRecords(processor, payment)));
  expect(records.reduce((sum, { bank }) => sum + bank.length, 0)).toBe(1);
});
