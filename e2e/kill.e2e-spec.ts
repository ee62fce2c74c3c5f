/**
 * `kill -9` between a charge and its webhook, first of the services' process, then of PostgreSQL. Another test kills
 * the services' process during refunds. Afterwards every charge and refund has its payment, its ledger entries and its
 * webhook.
 */
import { randomUUID } from 'node:crypto';
import { type CreatedSession, MerchantClient } from '@svc/sdk';
import { waitUntil } from '@svc/testing';
import { BackOffice } from './callers/back-office.js';
import { createSessions, gatewayClient } from './callers/merchant.js';
import { type Answer, MerchantEndpoint } from './callers/merchant-endpoint.js';
import { type PayRequest, preparePayRequest, resendPayRequests, sendPayRequest } from './callers/payer.js';
import { ConsistencyCheck } from './consistency/consistency-check.js';
import { CALL_TIMEOUT_MS, payForRefund, readAcquirerRefunds, waitForRefunds } from './consistency/refund-records.js';
import type { Interruption } from './consistency/repeated-posts.js';
import { Platform } from './platform/platform.js';

/**
 * The acquirer charges at once and answers after this time, so that the process is killed before the answer. The time
 * is below payment-processor's timeout of 8 s.
 */
const LATENCY_MS = 7_000;
/** Payments whose charge the acquirer has not answered at the kill. */
const KILLED_BEFORE_RESPONSE = 30;
/** Payments whose webhook the merchant has not answered at the kill. */
const KILLED_BEFORE_WEBHOOK = 12;
const MIN_UNFINISHED = 20;

let platform: Platform;
beforeAll(async () => {
  platform = await Platform.start('kill', { SVC_ACQUIRER_LATENCY_MS: String(LATENCY_MS) });
});
afterAll(() => platform?.stop());

describe('payments', () => {
  let endpoint: MerchantEndpoint;
  let consistency: ConsistencyCheck;
  let answer: Answer;
  /** All interruptions of the dispatcher so far. */
  const interruptions: Interruption[] = [];

  beforeAll(async () => {
    endpoint = await MerchantEndpoint.start(platform.site(0, 0).webhookSecret, () => answer);
    consistency = new ConsistencyCheck(platform, endpoint);
  });
  afterAll(() => endpoint?.stop());

  const preparePayRequests = (sessions: readonly CreatedSession[]): Promise<PayRequest[]> =>
    Promise.all(sessions.map(({ redirectUrl }) => preparePayRequest(redirectUrl)));
  const sendAll = (payRequests: readonly PayRequest[]): Promise<unknown> =>
    Promise.allSettled(payRequests.map((one) => sendPayRequest(platform.demo.gatewayUrl, one)));

  it('a kill of all services between charge and webhook loses and duplicates nothing', async () => {
    const client = gatewayClient(platform);
    const sessions = await createSessions(client, KILLED_BEFORE_WEBHOOK + KILLED_BEFORE_RESPONSE, endpoint.url);
    const payRequests = await preparePayRequests(sessions);

    // Some payments succeed, and their notifications are sent but unanswered.
    answer = 'hold';
    const paid = payRequests.slice(0, KILLED_BEFORE_WEBHOOK);
    await sendAll(paid);
    expect(consistency.approvedCharges()).toHaveLength(KILLED_BEFORE_WEBHOOK);
    await waitUntil('an unanswered notification', 20_000, () => Promise.resolve(endpoint.deliveries.length > 0));

    // The other payments are charged, and the acquirer has not answered yet.
    const unanswered = sendAll(payRequests.slice(KILLED_BEFORE_WEBHOOK));
    await waitUntil('the charges', 20_000, () =>
      Promise.resolve(consistency.approvedCharges().length === payRequests.length),
    );
    const processing = await consistency.countProcessing();
    const unfinished = consistency.unacknowledgedCharges().length;
    await platform.kill(platform.servicesPid);
    const killedAt = new Date();
    await unanswered;

    expect(unfinished).toBeGreaterThanOrEqual(MIN_UNFINISHED);
    // Nearly all payments are processing. On a slow machine the recovery job may have queried the first of them by
    // then.
    expect(processing).toBeGreaterThan(0);
    expect((await platform.svc('status')).code).not.toBe(0);

    answer = 200;
    await platform.up();
    // Half of the payers repeat their request, as the page's script does. The other payers never come back.
    const again = payRequests.filter((_, index) => index % 2 === 0);
    await resendPayRequests(platform.demo.gatewayUrl, again, () => consistency.makeStatusQueriesDue());
    await consistency.waitUntilAcknowledged(killedAt);
    await consistency.expectConsistent(payRequests.length);
    interruptions.push({ from: killedAt, to: killedAt, drainMs: 0 });
    await consistency.expectPostsToBeJustified(interruptions);
  });

  it('a kill of PostgreSQL under running services loses nothing', async () => {
    const before = consistency.approvedCharges().length;
    const payRequests = await preparePayRequests(
      await createSessions(gatewayClient(platform), MIN_UNFINISHED, endpoint.url),
    );
    const answers = sendAll(payRequests);
    await waitUntil('the charges', 20_000, () =>
      Promise.resolve(consistency.approvedCharges().length === before + payRequests.length),
    );
    await platform.kill(platform.postgresPid);
    const killedAt = new Date();
    await answers;

    await platform.up();
    interruptions.push({ from: killedAt, to: new Date(), drainMs: 0 });
    await consistency.waitUntilAcknowledged(killedAt);
    await consistency.expectConsistent(before + payRequests.length);
    await consistency.expectPostsToBeJustified(interruptions);
  });
});

const PAYMENTS = 6;
const REFUNDS_OF_EACH = 3;
const REFUNDS = PAYMENTS * REFUNDS_OF_EACH;

interface RefundCall {
  readonly payment: string;
  readonly key: string;
  /** Cents. */
  readonly amount: number;
}

describe('refunds', () => {
  let backOffice: BackOffice;
  let merchant: MerchantClient;

  beforeAll(async () => {
    backOffice = await BackOffice.start(platform, platform.site(0, 0));
    const { merchantId, apiKey } = platform.site(0, 0).merchant;
    merchant = new MerchantClient({ apiUrl: platform.demo.apiUrl, merchantId, apiKey, timeoutMs: CALL_TIMEOUT_MS });
  });
  afterAll(() => backOffice?.stop());

  const states = async (): Promise<string[]> =>
    (await platform.sql<{ state: string }>('SELECT state FROM payment_processor.refunds')).map(({ state }) => state);

  it('a kill of all services during refunds loses and duplicates no refund', async () => {
    const payments = await Promise.all(Array.from({ length: PAYMENTS }, () => payForRefund(platform)));
    const calls = payments.flatMap((payment): RefundCall[] =>
      Array.from({ length: REFUNDS_OF_EACH }, (_, nth) => ({ payment, key: randomUUID(), amount: 1_000 + nth })),
    );
    const refund = ({ payment, key, amount }: RefundCall) => merchant.refund(payment, { idempotencyKey: key, amount });
    const called = Promise.allSettled(calls.map(refund));
    // The acquirer has refunded everything, but has not answered yet.
    await waitUntil('the refunds at the acquirer', 20_000, () =>
      Promise.resolve(readAcquirerRefunds(platform).length === REFUNDS),
    );
    const pending = (await states()).filter((state) => state === 'pending');
    await platform.kill(platform.servicesPid);
    // Nearly all refunds are pending. On a slow machine the job may have queried the first of them by then.
    expect(pending.length).toBeGreaterThan(0);
    await platform.up();
    await called;

    // The client repeats half of the calls, as after a lost answer, and gives up on the others.
    const repeated = await Promise.all(calls.filter((_, nth) => nth % 2 === 0).map(refund));
    expect(new Set(repeated.map(({ status }) => status))).toEqual(new Set(['succeeded']));
    await waitForRefunds(platform, payments);

    const bank = readAcquirerRefunds(platform);
    const sorted = <T extends { refundReference: string }>(rows: T[]): T[] =>
      rows.sort((one, other) => (one.refundReference < other.refundReference ? -1 : 1));
    const expected = sorted(
      bank.map(({ refundKey, ...rest }) => ({
        refundReference: refundKey,
        amount: rest.amount,
        paymentReference: rest.paymentReference,
      })),
    );
    expect(expected.map(({ amount }) => amount).sort()).toEqual(calls.map(({ amount }) => amount).sort());
    /** The refunds that succeeded, with the amount of `refunds` (`r`) or of the ledger's `transfers` (`t`). */
    const rows = async (table: string): Promise<typeof expected> =>
      sorted(
        (
          await platform.sql<(typeof expected)[number]>(
            `SELECT r.refund_id AS "refundReference", ${table}.amount, p.payment_reference AS "paymentReference"
               FROM payment_processor.refunds r JOIN payment_processor.payments p USING (payment_id)
               JOIN payment_processor.${table === 'r' ? 'refunds x' : `transfers ${table}`} ON ${table === 'r' ? 'x' : table}.refund_id = r.refund_id
              WHERE r.state = 'succeeded'`,
          )
        ).map((row) => ({ ...row, amount: Number(row.amount) })),
      );
    expect(await rows('r')).toEqual(expected);
    expect(await rows('t')).toEqual(expected);
    const sums = await platform.sql<{ refunded: string; pending: string }>(
      `SELECT refunded_amount AS refunded, refund_pending_amount AS pending
         FROM payment_processor.payments WHERE payment_reference = ANY ($1)`,
      [payments],
    );
    // 1 000 + 1 001 + 1 002 cents of each payment are refunded.
    expect(sums.map(({ refunded, pending: left }) => [Number(refunded), Number(left)])).toEqual(
      Array(PAYMENTS).fill([3_003, 0]),
    );

    // Each refund has webhooks, and all webhooks of a refund have one id.
    const notifiedRefunds = (): ReturnType<BackOffice['refunds']> => backOffice.refunds();
    await waitUntil('the webhook of every refund', 60_000, () => Promise.resolve(notifiedRefunds().size === REFUNDS));
    expect(
      sorted(
        [...notifiedRefunds().values()].map(({ payment, refund: { refundReference, amount } }) => ({
          refundReference,
          amount,
          paymentReference: payment.paymentReference,
        })),
      ),
    ).toEqual(expected);
    for (const notification of notifiedRefunds().values())
      expect([notification.id, notification.refund.status]).toEqual([notification.refund.refundReference, 'succeeded']);
  });
});
