/**
 * The demo that a new user sees: `./svc up` prints a link to the console of a roastery with a week of trade, whose books
 * agree. A second start adds nothing.
 */
import { PATIENCE, waitUntil } from '@svc/testing';
import { connectForDemo } from '../tools/svc/demo/seed.ts';
import { planWeek } from '../tools/svc/demo/week/plan-week.ts';
import { Platform } from './platform/platform.js';

const TIMEOUT_MS = 400_000 * PATIENCE;
const DAY_MS = 86_400_000;

let platform: Platform;
beforeAll(async () => {
  platform = await Platform.start('console-demo', { SVC_DEMO_WEEK: 'on' });
}, TIMEOUT_MS);
afterAll(() => platform?.stop());

/** The records of the services. Only the roastery trades on this platform. */
function readRecords(): Promise<object[]> {
  return platform.sql(
    `SELECT (SELECT count(*)::int FROM payment_processor.payments) AS payments,
            (SELECT count(*)::int FROM payment_processor.payments WHERE state = 'failed') AS failed,
            (SELECT count(*)::int FROM payment_processor.refunds WHERE state = 'succeeded') AS refunds,
            (SELECT count(*)::int FROM payment_processor.transfers WHERE merchant_id = $1) AS transfers,
            (SELECT count(*)::int FROM console.payments WHERE merchant_id = $1) AS shown,
            (SELECT count(DISTINCT (payment_utc_date AT TIME ZONE 'Africa/Johannesburg')::date)::int
               FROM console.payments WHERE merchant_id = $1) AS days,
            (SELECT count(*)::int FROM webhook_dispatcher.notifications WHERE merchant_id = $1 AND state = 'delivered') AS delivered,
            (SELECT count(*)::int FROM webhook_dispatcher.notifications WHERE merchant_id = $1 AND state = 'exhausted') AS exhausted,
            (SELECT max(payment_utc_date) < now() FROM console.payments WHERE merchant_id = $1) AS "isPast"`,
    [platform.demo.roastery.merchantId],
  );
}

/** Compares the books of these days. One command of `./svc` for each day would take longer than the comparisons. */
async function reconcile(days: readonly string[]): Promise<unknown[]> {
  const { adminUrl, adminKey } = platform.demo;
  const admin = connectForDemo(adminUrl, adminKey);
  const runs = [];
  for (const day of days) {
    const { runId } = (await admin.call('POST', '/reconciliations', { day })) as { runId: string };
    runs.push(
      await waitUntil(`the reconciliation of ${day}`, 60_000, async () => {
        const run = (await admin.call('GET', `/reconciliations/${runId}`)) as { state: string };
        return ['done', 'failed'].includes(run.state) && run;
      }),
    );
  }
  return runs;
}

it(
  'has a week of payments with declines, refunds and webhooks, one of them refused until the platform gave up',
  async () => {
    const planned = planWeek(new Date()).flatMap(({ payments }) => payments);
    const [records] = (await readRecords()) as Record<string, number>[];
    // Some minutes have passed since the start, so a payment of today may be planned by now.
    expect(records!['payments']).toBeGreaterThanOrEqual(planned.length - 6);
    expect(records).toMatchObject({ shown: records!['payments'], isPast: true, exhausted: 1 });
    // A webhook arrives before the platform has recorded its answer.
    await waitUntil('the answer to the last webhook', 20_000, async () => {
      const [{ delivered } = {}] = (await readRecords()) as Record<string, number>[];
      return delivered === records!['payments']! - 1;
    });
    expect(records!['days']).toBeGreaterThanOrEqual(7);
    for (const kind of ['failed', 'refunds']) expect(records![kind]).toBeGreaterThan(5);
  },
  TIMEOUT_MS,
);

it(
  'agrees in all books of every day, and in the ledger',
  async () => {
    const now = Date.now();
    const days = Array.from({ length: 9 }, (_, index) => new Date(now - index * DAY_MS).toISOString().slice(0, 10));
    const balanced = { state: 'done', result: { differences: 0 } };
    expect(await reconcile(days)).toMatchObject(days.map((day) => ({ day, ...balanced })));
    const { code, output: verified } = await platform.svc('admin', 'ledger', 'verify');
    expect([code, code === 0 ? '' : verified]).toEqual([0, '']);
  },
  TIMEOUT_MS,
);

it(
  'is shown by the link of `./svc up`, and a second start changes nothing',
  async () => {
    const before = await readRecords();
    const { demo } = platform;
    expect((await platform.svc('down')).code).toBe(0);
    const { output } = await platform.svc('up', '-d');
    expect(platform.demo).toEqual(demo);
    expect(await readRecords()).toEqual(before);
    const link = /http:\S+\/sign-in\/links\/\S+/.exec(output)?.[0];
    const signedIn = await fetch(link!, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' },
      redirect: 'manual',
    });
    const cookie = signedIn.headers.getSetCookie()[0]!.split(';')[0]!;
    const page = await fetch(`${demo.consoleUrl}/${demo.roastery.merchantId}/test/payments`, { headers: { cookie } });
    const html = await page.text();
    expect(page.status).toBe(200);
    expect(html.match(/class="order"/g)).toHaveLength(50);
    expect(html).toContain('Karoo Coffee Roasters');
  },
  TIMEOUT_MS,
);
