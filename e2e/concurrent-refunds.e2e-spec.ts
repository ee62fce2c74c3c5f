/**
 * A thousand refunds of one payment at once, as they are in both ways to run: what the bank gives back never exceeds the payment, and
 * one key is one refund. Distributed, every other call goes to another process of payment-processor.
 */
import { randomUUID } from 'node:crypto';
import { waitUntil } from '@svc/testing';
import type { Platform } from './platform/platform.js';
import { ProcessorReplica } from './platform/processor-replica.js';
import { everyRefundEnds, expectRefundsToAgree, PAID_AMOUNT, payForRefund } from './books/refund-books.js';
import { sharedPlatform } from './platform/shared-platform.js';

const CALLS = 1_000;
/** Of those with keys of their own; 123 of them fit into the payment. */
const AMOUNT = 100;
const FIT = Math.floor(PAID_AMOUNT / AMOUNT);

interface Answered {
  readonly status: number;
  readonly refundReference: string | undefined;
}

describe.each(['embedded', 'distributed'] as const)('%s', (mode) => {
  let platform: Platform;
  let replica: ProcessorReplica | undefined;
  let addresses: readonly string[];
  beforeAll(async () => {
    platform = await sharedPlatform(mode);
    if (mode === 'distributed') replica = await ProcessorReplica.start(platform);
    addresses = [platform.demo.apiUrl, ...(replica ? [replica.url] : [])];
  });
  afterAll(() => replica?.end());

  /** As a client does, it repeats what was not answered, or with a 5xx, or with a 409 that says when. */
  function refund(nth: number, payment: string, amount: number, key: string): Promise<Answered> {
    const { merchantId, apiKey } = platform.site(0, 0).merchant;
    const address = addresses[nth % addresses.length]!;
    return waitUntil('an answer to a refund', 120_000, async () => {
      const answer = await fetch(`${address}/business/api/v1/merchants/${merchantId}/refunds?svcId=${payment}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': apiKey, 'idempotency-key': key },
        body: JSON.stringify({ amount }),
      });
      const { refundReference } = (await answer.json()) as { refundReference?: string };
      if (answer.status >= 500 || (answer.status === 409 && answer.headers.has('retry-after'))) return undefined;
      return { status: answer.status, refundReference };
    });
  }

  const all = (payment: string, amount: number, keyOf: () => string): Promise<Answered[]> =>
    Promise.all(Array.from({ length: CALLS }, (_, nth) => refund(nth, payment, amount, keyOf())));
  /** A refund is made (201) or, by a repeated call, found (200). */
  const isMade = ({ status }: Answered): boolean => status === 200 || status === 201;

  it(`${CALLS} refunds, each with its key: as many as fit, and the bank gives back no more`, async () => {
    const payment = await payForRefund(platform);
    const answers = await all(payment, AMOUNT, randomUUID);
    await everyRefundEnds(platform, [payment]);
    const books = await expectRefundsToAgree(platform, payment);
    expect([books.bankAmount, books.bank.length]).toEqual([FIT * AMOUNT, FIT]);
    const made = answers.filter(isMade).map(({ refundReference }) => refundReference);
    expect(made.sort()).toEqual(books.bank);
    expect(new Set(answers.filter((answer) => !isMade(answer)).map(({ status }) => status))).toEqual(new Set([422]));
  });

  it(`${CALLS} times one refund, with one key: one refund`, async () => {
    const payment = await payForRefund(platform);
    const key = randomUUID();
    const answers = await all(payment, PAID_AMOUNT, () => key);
    await everyRefundEnds(platform, [payment]);
    const books = await expectRefundsToAgree(platform, payment);
    expect([books.bankAmount, books.bank.length]).toEqual([PAID_AMOUNT, 1]);
    expect(answers.filter(isMade)).toHaveLength(CALLS);
    expect(new Set(answers.map(({ refundReference }) => refundReference))).toEqual(new Set(books.bank));
  });
});
