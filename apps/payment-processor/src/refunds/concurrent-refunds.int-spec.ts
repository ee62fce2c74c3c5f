import { randomUUID } from 'node:crypto';
import { type RunningService, startService } from '@svc/service';
import { httpClient, type HttpResponse } from '@svc/testing';
import { aPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { aRefundClient, type RefundClient } from '../../test/merchant-key.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { expectToAgree } from '../../test/refund-books.js';
import { PaymentProcessorConfig } from '../config.js';
import { paymentProcessorService } from '../index.js';

let processor: Processor;
let replica: RunningService;
let office: RefundClient;
const merchantId = 95_000;
beforeAll(async () => {
  processor = await startProcessor();
  office = await aRefundClient(processor, { merchantId });
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

const aPaid = async (card: string = CARDS.approved): Promise<string> =>
  (await processor.pay(aPayable({ merchantId }), { card })).paymentReference;
/**
 * Alternates between two replicas. Retries after a 5xx, or a 409 with Retry-After, as a client does: with so many concurrent calls
 * some may wait too long for a database connection.
 */
async function refundAt(nth: number, svcId: string, amount: number, key: string): Promise<HttpResponse> {
  const headers = { 'x-api-key': office.apiKey, 'idempotency-key': key };
  const client = httpClient(nth % 2 === 0 ? processor.service : replica, headers);
  for (let tries = 1; ; tries++) {
    const answer = await client('POST', `/business/api/v1/merchants/${merchantId}/refunds?svcId=${svcId}`, { amount });
    const isFinal = answer.status < 500 && !(answer.status === 409 && 'retry-after' in answer.headers);
    if (isFinal || tries === 20) return answer;
  }
}
/** A call creates a refund or returns an existing one: `made` counts both. */
const count = (answers: readonly HttpResponse[]): Record<number | 'made', number> =>
  answers.reduce<Record<number | 'made', number>>(
    (of, { status }) => {
      const name = status === 200 || status === 201 ? 'made' : status;
      return { ...of, [name]: (of[name] ?? 0) + 1 };
    },
    { made: 0 },
  );
const all = (times: number, call: (nth: number) => Promise<HttpResponse>): Promise<HttpResponse[]> =>
  Promise.all(Array.from({ length: times }, (_, nth) => call(nth)));

/** Many concurrent calls at two replicas. */
const CALLS = 1_000;

test(`${CALLS} refunds of one payment at once, each with its key: the bank gives back what was processed, and no more`, async () => {
  const payment = await aPaid();
  const answers = await all(CALLS, (nth) => refundAt(nth, payment, 100, randomUUID()));
  // 123 × R 1.00 of R 123.45.
  expect(count(answers)).toEqual({ made: 123, 422: CALLS - 123 });
  const books = await expectToAgree(processor, payment);
  expect([books.refunded, books.bank.length]).toEqual([12_300, 123]);
});

test(`${CALLS} times one refund, with one key: one refund`, async () => {
  const payment = await aPaid();
  const answers = await all(CALLS, (nth) => refundAt(nth, payment, 12_345, 'one and the same'));
  expect(count(answers)).toEqual({ made: CALLS });
  expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === undefined).length).toBeLessThanOrEqual(1);
  expect(new Set(answers.map(({ body }) => body.refundReference)).size).toBe(1);
  expect((await expectToAgree(processor, payment)).bank).toHaveLength(1);
});

test('100 refunds at once, of which the bank declines every one: all of them are tried, because each frees its amount', async () => {
  const payment = await aPaid(CARDS.refundDeclined);
  const answers = await all(100, (nth) => refundAt(nth, payment, 100, randomUUID()));
  expect(count(answers)).toEqual({ made: 100 });
  expect(await expectToAgree(processor, payment)).toMatchObject({ refunded: 0, bank: [] });
});

test('one key for two payments at once: one of them is refunded, the other is a conflict', async () => {
  const payments = [await aPaid(), await aPaid()];
  const key = randomUUID();
  const answers = await all(20, (nth) => refundAt(nth, payments[(nth >> 1) % 2]!, 100, key));
  expect(count(answers)).toEqual({ made: 10, 409: 10 });
  const made = await Promise.all(payments.map((payment) => expectToAgree(processor, payment)));
  expect(made.reduce((sum, { bank }) => sum + bank.length, 0)).toBe(1);
});
