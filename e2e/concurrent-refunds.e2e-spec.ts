/**
 * A thousand concurrent refunds of one payment, on both deployments. The acquirer never refunds more than the payment,
 * and all calls with one key create one refund. In distributed mode, every second call uses another process of
 * payment-processor.
 */
import { randomUUID } from 'node:crypto';
import { waitUntil } from '@svc/testing';
import { expectConsistentRefunds, PAID_AMOUNT, payForRefund, waitForRefunds } from './consistency/refund-records.js';
import type { Platform } from './platform/platform.js';
import { ServiceReplica } from './platform/service-replica.js';
import { sharedPlatform } from './platform/shared-platform.js';

const CALLS = 1_000;
/** Amount of each refund that has its own key; 123 of them fit into the payment. */
const AMOUNT = 100;
const MAX_REFUNDS = Math.floor(PAID_AMOUNT / AMOUNT);

interface RefundAnswer {
  readonly status: number;
  readonly refundReference: string | undefined;
}

describe.each(['embedded', 'distributed'] as const)('concurrent refunds on the %s platform', (mode) => {
  let platform: Platform;
  let replica: ServiceReplica | undefined;
  let addresses: readonly string[];
  beforeAll(async () => {
    platform = await sharedPlatform(mode);
    if (mode === 'distributed') replica = await ServiceReplica.start(platform, 'payment-processor');
    addresses = [platform.demo.apiUrl, ...(replica ? [replica.url] : [])];
  });
  afterAll(() => replica?.end());

  /**
   * Retries like the SDK: without an answer, after a 5xx, after a 409 with Retry-After, and after a 408, which a server
   * with too little CPU sends when it has not read a request within 30 s.
   */
  function refund(nth: number, payment: string, amount: number, key: string): Promise<RefundAnswer> {
    const { merchantId, apiKey } = platform.site(0, 0).merchant;
    const address = addresses[nth % addresses.length]!;
    return waitUntil('an answer to a refund', 120_000, async () => {
      const answer = await fetch(`${address}/business/api/v1/merchants/${merchantId}/refunds?svcId=${payment}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': apiKey, 'idempotency-key': key },
        body: JSON.stringify({ amount }),
      });
      const { refundReference } = (await answer.json()) as { refundReference?: string };
      const isInProgress = answer.status === 409 && answer.headers.has('retry-after');
      if (answer.status >= 500 || answer.status === 408 || isInProgress) return undefined;
      return { status: answer.status, refundReference };
    });
  }

  const refundConcurrently = (payment: string, amount: number, newKey: () => string): Promise<RefundAnswer[]> =>
    Promise.all(Array.from({ length: CALLS }, (_, nth) => refund(nth, payment, amount, newKey())));
  /** 201 for a new refund, 202 for one that was still pending after 20 s, 200 for a repeated call. */
  const isAccepted = ({ status }: RefundAnswer): boolean => status >= 200 && status <= 202;

  it(`succeed only up to the amount of the payment, if ${CALLS} calls have different keys`, async () => {
    const payment = await payForRefund(platform);
    const answers = await refundConcurrently(payment, AMOUNT, randomUUID);
    await waitForRefunds(platform, [payment]);
    const records = await expectConsistentRefunds(platform, payment);
    expect([records.acquirerAmount, records.acquirer.length]).toEqual([MAX_REFUNDS * AMOUNT, MAX_REFUNDS]);
    const accepted = answers.filter(isAccepted).map(({ refundReference }) => refundReference);
    expect(accepted.sort()).toEqual(records.acquirer);
    expect(new Set(answers.filter((answer) => !isAccepted(answer)).map(({ status }) => status))).toEqual(
      new Set([422]),
    );
  });

  it(`are only one refund, if ${CALLS} calls have the same key`, async () => {
    const payment = await payForRefund(platform);
    const key = randomUUID();
    const answers = await refundConcurrently(payment, PAID_AMOUNT, () => key);
    await waitForRefunds(platform, [payment]);
    const records = await expectConsistentRefunds(platform, payment);
    expect([records.acquirerAmount, records.acquirer.length]).toEqual([PAID_AMOUNT, 1]);
    expect(answers.filter(isAccepted)).toHaveLength(CALLS);
    expect(new Set(answers.map(({ refundReference }) => refundReference))).toEqual(new Set(records.acquirer));
  });
});
