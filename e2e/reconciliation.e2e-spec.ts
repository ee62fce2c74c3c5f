/**
 * `./svc admin reconcile` on both deployments: it finds no difference after some payments. It reports a row that a
 * superuser changes, deletes or inserts, and finds no difference after the row is restored.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync, copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MerchantClient } from '@svc/sdk';
import { PATIENCE, waitUntil } from '@svc/testing';
import { gatewayClient, newSessionRequest, onboardMerchant } from './callers/merchant.js';
import { preparePayRequest, sendPayRequest } from './callers/payer.js';
import { Platform } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

/** Default of SVC_RECONCILIATION_GRACE_MS: younger payments are not compared yet. */
const GRACE_MS = 60_000;

/**
 * Runs `pay` until it begins and ends on one day (UTC), and returns this day: midnight may pass during the test. All
 * reconciliations of the test are of this day.
 */
async function payOnOneDay(pay: () => Promise<void>): Promise<string> {
  const today = (): string => new Date().toISOString().slice(0, 10);
  for (;;) {
    const day = today();
    await pay();
    if (today() === day) return day;
  }
}

async function payOverRabbitMq() {
  const platform = await sharedPlatform('distributed');
  const site = await onboardMerchant(platform, 'Reconciled Books');
  const day = await payOnOneDay(async () => {
    const { redirectUrl } = await gatewayClient(platform, site).createSession(
      newSessionRequest('http://127.0.0.1:9/notify'),
    );
    await sendPayRequest(platform.demo.gatewayUrl, await preparePayRequest(redirectUrl));
  });
  return { platform, merchantId: site.merchant.merchantId, day, paidAt: Date.now() };
}

/** The payment of the last test begins with the first test, because it is compared only after a minute. */
let paidOverRabbitMq: ReturnType<typeof payOverRabbitMq>;
beforeAll(() => {
  paidOverRabbitMq = payOverRabbitMq();
  paidOverRabbitMq.catch(() => undefined); // the last test throws it
});

describe('the reconciliation, on a separate platform', () => {
  let platform: Platform;
  let merchantId: number;
  let day: string;
  let paidAt: Date;
  const [approved, declined] = ['4242424242424242', '4000000000000002'];

  beforeAll(async () => {
    platform = await Platform.start('reconciliation', { SVC_RECONCILIATION_GRACE_MS: '500' });
    const site = platform.site(0, 0);
    ({ merchantId } = site.merchant);
    const { apiKey } = site.merchant;
    const client = new MerchantClient({
      apiUrl: platform.demo.apiUrl,
      merchantId,
      apiKey,
      timeoutMs: Math.min(60_000 * PATIENCE, 120_000),
    });
    day = await payOnOneDay(async () => {
      const sessions: string[] = [];
      for (const card of [approved, declined, approved]) {
        const session = await gatewayClient(platform, site).createSession(
          newSessionRequest('http://127.0.0.1:9/notify'),
        );
        await sendPayRequest(platform.demo.gatewayUrl, await preparePayRequest(session.redirectUrl, card));
        sessions.push(session.sessionId);
      }
      const [payment] = await gatewayClient(platform, site).listPayments(sessions[0]!);
      await client.refund(payment!.paymentReference, { amount: 500, idempotencyKey: randomUUID() });
    });
    paidAt = new Date();
  });
  afterAll(() => platform?.stop());

  /**
   * The output has the rows of the table and the messages. While an event waits for the relay, such as a heartbeat on a
   * busy machine, a reconciliation compares only what is older than the event by some seconds: then it is repeated.
   */
  const reconcile = (): Promise<{ code: number | null; output: string }> =>
    waitUntil('a reconciliation of all payments', 60_000, async () => {
      const result = await platform.svc('admin', 'reconcile', '--day', day);
      const watermark = / until (\S+Z): /.exec(result.output)?.[1];
      return watermark !== undefined && new Date(watermark) < paidAt ? undefined : result;
    });

  async function waitUntilConsistent(): Promise<string> {
    // A payment or refund that has just become final is compared a moment later.
    return waitUntil('a reconciliation without a difference', 60_000, async () => {
      const { code, output } = await reconcile();
      // Two payments of 12 345 cents each, and one refund of 500 cents.
      return code === 0 && / = +2 +R 246\.90 .* 1 +R 5\.00 /.test(output) ? output : undefined;
    });
  }

  it('finds no difference, and prints a row for the merchant', async () => {
    const output = await waitUntilConsistent();
    expect(output).toMatch(
      /merchant +mode +differs +payments +processed +failed +pending +unknown +refunds +refunded +notes/,
    );
    expect(output).toMatch(new RegExp(String.raw`^${merchantId} +test +\S+ +2 +R 246\.90 +1 +0 +0 +1 +R 5\.00 `, 'm'));
  });

  /** Runs a statement as a superuser, without triggers and foreign keys. */
  async function changeByHand(statement: string): Promise<void> {
    const client = await platform.sqlClient();
    try {
      await client.query('BEGIN');
      await client.query('SET LOCAL session_replication_role = replica');
      const { rowCount } = await client.query(statement);
      await client.query('COMMIT');
      if (rowCount === 0) throw new Error(`Nothing was changed: ${statement}`);
    } finally {
      await client.end();
    }
  }

  // apps/all-in-one/src/reconciliation.int-spec.ts changes rows of each table.
  it.each([
    [
      'payments',
      'payment_processor.payments',
      `state = 'success'`,
      'amount = amount + 1, processed_amount = processed_amount + 1',
    ],
    ['sessions', 'hosted_gateway.hosted_payments', 'true', `snapshot = (snapshot::jsonb || '{"amount": 7}')::json`],
  ])(
    'reports a changed and a deleted row of %s, and finds no difference after the row is restored',
    async (recordName, table, where, set) => {
      // The newest row, because the rows of a repeated payOnOneDay are of two days.
      const row = `ctid = (SELECT ctid FROM ${table} WHERE ${where} ORDER BY ctid DESC LIMIT 1)`;
      await changeByHand(`CREATE TABLE public.copy_of_rows AS TABLE ${table}`);
      for (const statement of [`UPDATE ${table} SET ${set} WHERE ${row}`, `DELETE FROM ${table} WHERE ${row}`]) {
        await changeByHand(statement);
        const { code, output } = await reconcile();
        expect([code, output]).toEqual([
          1,
          expect.stringMatching(new RegExp(`^svc: ${recordName} has .*docs/reconciliation.md`, 'm')),
        ]);
        await changeByHand(`DELETE FROM ${table}`);
        const columns = await listStoredColumns(table);
        await changeByHand(
          `INSERT INTO ${table} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM public.copy_of_rows`,
        );
      }
      await changeByHand('DROP TABLE public.copy_of_rows').catch(() => undefined);
      await platform.sql('DROP TABLE IF EXISTS public.copy_of_rows');
      await waitUntilConsistent();
    },
  );

  /** The columns of a table that are not generated from others. */
  async function listStoredColumns(table: string): Promise<string> {
    const [row] = await platform.sql<{ columns: string }>(
      `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS columns FROM pg_attribute
        WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
      [table],
    );
    return row!.columns;
  }

  it('reports a line that was added to the acquirer’s file, and finds no difference after the line is removed', async () => {
    const file = join(platform.dataDir, 'acquirer', 'charges.jsonl');
    const line = readFileSync(file, 'utf8')
      .split('\n')
      .findLast((text) => text.includes('"approved"'));
    const restart = async (change: () => void): Promise<void> => {
      expect((await platform.svc('down')).code).toBe(0);
      change();
      await platform.up();
    };
    await restart(() => {
      copyFileSync(file, `${file}.copy`);
      appendFileSync(file, `${JSON.stringify({ ...(JSON.parse(line!) as object), key: 'by hand' })}\n`);
    });
    const { code, output } = await reconcile();
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/^svc: acquirer has [0-9A-Z]{18} charge by hand of merchant/m),
    ]);
    await restart(() => copyFileSync(`${file}.copy`, file));
    await waitUntilConsistent();
  });

  it('explains wrong arguments', async () => {
    expect((await platform.svc('admin', 'reconcile', '--day', 'yesterday')).code).toBe(2);
    const { code, output } = await platform.svc('admin', 'reconcile', '--day', '2999-01-01');
    expect([code, output]).toEqual([2, expect.stringMatching(/not a day that has begun/)]);
  });
});

it('the reconciliation of one merchant queries the other services over RabbitMQ', async () => {
  const { platform, merchantId, day, paidAt } = await paidOverRabbitMq;
  await waitUntil('the payment to be older than a minute', 120_000, () =>
    Promise.resolve(Date.now() - paidAt > GRACE_MS),
  );
  const output = await waitUntil('a reconciliation with the payment', 60_000, async () => {
    const ran = await platform.svc('admin', 'reconcile', '--day', day, '--merchant', String(merchantId));
    return ran.code === 0 && /R 123\.45/.test(ran.output) ? ran.output : undefined;
  });
  expect(output).toMatch(new RegExp(String.raw`^${merchantId} +test += +1 +R 123\.45 +0 `, 'm'));
});
