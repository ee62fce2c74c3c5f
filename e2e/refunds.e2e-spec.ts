/**
 * Refunds with the curl commands of the guide; and `kill -9` of all services during refunds at the acquirer: afterwards
 * acquirer, refunds, ledger and the site's webhook agree on each of them.
 */
import { randomUUID } from 'node:crypto';
import { MerchantClient } from '@svc/sdk';
import { waitUntil } from '@svc/testing';
import { CALL_TIMEOUT_MS, payForRefund, refundsAtBank, waitForRefunds } from './books/refund-books.js';
import { BackOffice } from './callers/back-office.js';
import { documentedBlocks } from './platform/documented.js';
import { Platform, run } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

/** Output of a block of a guide, which must succeed. */
async function runGuide(platform: Platform, name: string): Promise<string> {
  const [block] = documentedBlocks(name);
  const { code, output } = await run('bash', ['-euo', 'pipefail', '-c', block!], platform.env());
  expect([code, code === 0 ? '' : output]).toEqual([0, '']);
  return output;
}

it('the curl commands of the guide refund as written, again and again', async () => {
  const platform = await sharedPlatform('embedded');
  for (let times = 0; times < 2; times++) {
    const output = await runGuide(platform, 'refund');
    const lines = output.split('\n').filter((line) => /^[[{]/.test(line));
    const [made, repeated, rest, listed] = lines.map((line) => JSON.parse(line) as { refundReference: string });
    expect(made).toMatchObject({ amount: 2_500, status: 'succeeded' });
    expect(repeated).toEqual(made);
    expect(rest).toMatchObject({ amount: 6_450, status: 'succeeded' });
    expect(listed).toEqual([rest, made]);
    const { code: ok, output: table } = await platform.svc('admin', 'refunds', 'list');
    expect([ok, table.includes(made!.refundReference)]).toEqual([0, true]);
  }
});

it('the guide’s statement of a merchant adds up to the ledger', async () => {
  const platform = await sharedPlatform('embedded');
  await runGuide(platform, 'refund');
  const { merchantId } = platform.demo.merchants[0]!;
  const balance = async (day: string): Promise<number> => {
    const payable = `test:merchant:${merchantId}:payable`;
    const [row] = await platform.sql<{ balance: string }>(
      `SELECT coalesce(sum(CASE WHEN credit_account = $1 THEN amount ELSE -amount END), 0) AS balance
         FROM payment_processor.transfers WHERE $1 IN (credit_account, debit_account) AND created_at >= $2`,
      [payable, new Date(day)],
    );
    return Number(row!.balance);
  };
  // Another test may pay the same merchant meanwhile.
  const isEqual = await waitUntil('a statement between two equal balances', 20_000, async () => {
    const day = new Date().toISOString().slice(0, 10);
    const before = await balance(day);
    await runGuide(platform, 'settlement');
    const output = await runGuide(platform, 'settlement');
    const after = await balance(day);
    const lines = output.split('\n');
    const { totals } = JSON.parse(lines.find((line) => line.startsWith('{')) ?? '{}') as { totals: { net: number }[] };
    const amounts = lines
      .filter((line) => /^\d{4}-\d\d-\d\dT/.test(line))
      .map((line) => Number(line.split(',').at(-1)));
    const net = totals[0]!.net;
    const table = lines.some((line) => line.includes(' ZAR ') && line.endsWith(` ${net}`));
    return before === after && net === before && table && amounts.reduce((sum, amount) => sum + amount, 0) === net;
  });
  expect(isEqual).toBe(true);
});

/** The acquirer refunds at once and answers after this time, so that the process dies in between; below its timeout of 8 s. */
const LATENCY_MS = 7_000;
const PAYMENTS = 6;
const REFUNDS_OF_EACH = 3;
const REFUNDS = PAYMENTS * REFUNDS_OF_EACH;

interface RefundCall {
  readonly payment: string;
  readonly key: string;
  /** Cents. */
  readonly amount: number;
}

describe('kill -9 of all services during refunds', () => {
  let platform: Platform;
  let office: BackOffice;
  let merchant: MerchantClient;

  beforeAll(async () => {
    platform = await Platform.start('refund-kill', { SVC_ACQUIRER_LATENCY_MS: String(LATENCY_MS) });
    office = await BackOffice.start(platform, platform.site(0, 0));
    const { merchantId, apiKey } = platform.site(0, 0).merchant;
    merchant = new MerchantClient({ apiUrl: platform.demo.apiUrl, merchantId, apiKey, timeoutMs: CALL_TIMEOUT_MS });
  });
  afterAll(async () => {
    await platform?.stop();
    office?.stop();
  });

  const states = async (): Promise<string[]> =>
    (await platform.sql<{ state: string }>('SELECT state FROM payment_processor.refunds')).map(({ state }) => state);

  it('loses and duplicates no refund', async () => {
    const payments = await Promise.all(Array.from({ length: PAYMENTS }, () => payForRefund(platform)));
    const calls = payments.flatMap((payment): RefundCall[] =>
      Array.from({ length: REFUNDS_OF_EACH }, (_, nth) => ({ payment, key: randomUUID(), amount: 1_000 + nth })),
    );
    const refund = ({ payment, key, amount }: RefundCall) => merchant.refund(payment, { idempotencyKey: key, amount });
    const called = Promise.allSettled(calls.map(refund));
    // The acquirer has refunded everything, and has not answered yet.
    await waitUntil('the refunds at the bank', 20_000, () =>
      Promise.resolve(refundsAtBank(platform).length === REFUNDS),
    );
    const pending = (await states()).filter((state) => state === 'pending');
    await platform.kill(platform.servicesPid);
    // Nearly all; on a slow machine the job may have queried the first of them by then.
    expect(pending.length).toBeGreaterThan(0);
    await platform.up();
    await called;

    // The client repeats half of the calls, as after a lost answer, and gives up on the others.
    const repeated = await Promise.all(calls.filter((_, nth) => nth % 2 === 0).map(refund));
    expect(new Set(repeated.map(({ status }) => status))).toEqual(new Set(['succeeded']));
    await waitForRefunds(platform, payments);

    const bank = refundsAtBank(platform);
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
      `SELECT refunded_amount AS refunded, refund_pending_amount AS pending FROM payment_processor.payments`,
    );
    expect(sums.map(({ refunded, pending: left }) => [Number(refunded), Number(left)])).toEqual(
      Array(PAYMENTS).fill([3_003, 0]),
    );

    // Each refund has webhooks, all with one id.
    const notifiedRefunds = (): ReturnType<BackOffice['refunds']> => office.refunds();
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
    for (const notice of notifiedRefunds().values())
      expect([notice.id, notice.refund.status]).toEqual([notice.refund.refundReference, 'succeeded']);
  });
});
