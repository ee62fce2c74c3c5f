/**
 * Refunds as the README shows them with curl; and `kill -9` of all services while the bank gives money back: afterwards
 * bank, refunds, ledger and the site's webhook agree on each of them.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { MerchantClient, PartnerClient, type PaymentNotice, verifySiteWebhook } from '@svc/sdk';
import { PATIENCE, waitUntil } from '@svc/testing';
import { Platform, ROOT, run } from './platform.js';
import { sharedPlatform } from './shared-platform.js';
import { newInvoice } from './till.js';

it('gives money back as the README says with curl, word for word, again and again', async () => {
  const platform = await sharedPlatform('embedded');
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const [, block] = /<!-- tested: refund -->\s*```bash\n([\s\S]*?)```/.exec(readme) ?? [];
  for (let times = 0; times < 2; times++) {
    const { code, output } = await run('bash', ['-euo', 'pipefail', '-c', block ?? 'exit 1'], platform.env());
    expect([code, code === 0 ? '' : output]).toEqual([0, '']);
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

/** The bank refunds at once and answers this late, so that the process dies in between; below its time limit of 8 s. */
const LATENCY_MS = 7_000;
/** No more than the SDK allows. */
const TIMEOUT_MS = Math.min(25_000 * PATIENCE, 120_000);
const PAYMENTS = 6;
const REFUNDS_OF_EACH = 3;
const REFUNDS = PAYMENTS * REFUNDS_OF_EACH;

interface RefundCall {
  readonly payment: string;
  readonly key: string;
  /** Cents. */
  readonly amount: number;
}

/** The back office of a merchant, which the site's webhook tells of payments and refunds. */
class BackOffice {
  readonly notices: PaymentNotice[] = [];
  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(secret: string): Promise<BackOffice> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const office = new BackOffice(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/notices`);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const notice = verifySiteWebhook({ headers: request.headers, rawBody: Buffer.concat(chunks), secret });
        if (notice) office.notices.push(notice);
        response.writeHead(200).end();
      });
    });
    return office;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

describe('kill -9 of all services while the bank gives money back', () => {
  let platform: Platform;
  let office: BackOffice;
  let merchant: MerchantClient;

  beforeAll(async () => {
    platform = await Platform.start('refund-kill', { SVC_ACQUIRER_LATENCY_MS: String(LATENCY_MS) });
    const site = platform.site(0, 0);
    office = await BackOffice.start(site.webhookSecret);
    const { code, output } = await platform.svc(
      ...['admin', 'sites', 'webhook', `${site.merchant.merchantId}/${site.siteId}`, office.url],
    );
    expect([code, code === 0 ? '' : output]).toEqual([0, '']);
    const { merchantId, apiKey } = site.merchant;
    merchant = new MerchantClient({ apiUrl: platform.demo.apiUrl, merchantId, apiKey, timeoutMs: TIMEOUT_MS });
  });
  afterAll(async () => {
    await platform?.stop();
    office?.stop();
  });

  async function pay(): Promise<string> {
    const { apiUrl, partner } = platform.demo;
    const { service } = new PartnerClient({ apiUrl, ...partner, timeoutMs: TIMEOUT_MS });
    const card = {
      cardNumber: '4242424242424242',
      cvv: '123',
      holderName: 'T Payer',
      expiryMonth: 12,
      expiryYear: 2035,
    };
    const { code } = await newInvoice(platform, { amount: 12_345 });
    const paid = await service.pay({ code, amount: 12_345, customer: { id: randomUUID() }, card });
    expect(paid.status).toBe('success');
    return paid.paymentReference;
  }

  /** Refunds in the bank's books; the last line of each key counts. */
  function refundsAtBank(): { refundKey: string; paymentReference: string; amount: number }[] {
    const lines = readFileSync(join(platform.dataDir, 'acquirer', 'charges.jsonl'), 'utf8')
      .split('\n')
      .slice(0, -1);
    const refunds = lines
      .map((line) => JSON.parse(line) as { refundKey: string; paymentReference: string; amount: number })
      .filter(({ refundKey }) => refundKey !== undefined);
    return [...new Map(refunds.map((refund) => [refund.refundKey, refund])).values()];
  }

  const states = async (): Promise<string[]> =>
    (await platform.sql<{ state: string }>('SELECT state FROM payment_processor.refunds')).map(({ state }) => state);

  it('loses none and doubles none', async () => {
    const payments = await Promise.all(Array.from({ length: PAYMENTS }, pay));
    const calls = payments.flatMap((payment): RefundCall[] =>
      Array.from({ length: REFUNDS_OF_EACH }, (_, nth) => ({ payment, key: randomUUID(), amount: 1_000 + nth })),
    );
    const refund = ({ payment, key, amount }: RefundCall) => merchant.refund(payment, { idempotencyKey: key, amount });
    const called = Promise.allSettled(calls.map(refund));
    // The bank has given all of it back, and its answers are on their way.
    await waitUntil('the refunds at the bank', 20_000, () => Promise.resolve(refundsAtBank().length === REFUNDS));
    const pending = (await states()).filter((state) => state === 'pending');
    await platform.kill(platform.servicesPid);
    // Nearly all; on a slow machine the job may have asked about the first of them by then.
    expect(pending.length).toBeGreaterThan(0);
    await platform.up();
    await called;

    // Half of the calls are repeated, as a client does that was not answered; of the others nobody asks.
    const repeated = await Promise.all(calls.filter((_, nth) => nth % 2 === 0).map(refund));
    expect(new Set(repeated.map(({ status }) => status))).toEqual(new Set(['succeeded']));
    await waitUntil('every refund to end', 60_000, async () => {
      if (!(await states()).includes('pending')) return true;
      await platform.sql(`UPDATE payment_processor.refunds SET next_ask_at = $1 WHERE next_ask_at > $1`, [new Date()]);
      return false;
    });

    const bank = refundsAtBank();
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

    // Each is told at least once, under one id.
    const told = (): Map<string, PaymentNotice & { type: 'refund' }> =>
      new Map(
        office.notices.flatMap((notice) => (notice.type === 'refund' ? [[notice.refund.refundReference, notice]] : [])),
      );
    await waitUntil('the webhook of every refund', 60_000, () => Promise.resolve(told().size === REFUNDS));
    expect(
      sorted(
        [...told().values()].map(({ payment, refund: { refundReference, amount } }) => ({
          refundReference,
          amount,
          paymentReference: payment.paymentReference,
        })),
      ),
    ).toEqual(expected);
    for (const notice of told().values())
      expect([notice.id, notice.refund.status]).toEqual([notice.refund.refundReference, 'succeeded']);
  });
});
