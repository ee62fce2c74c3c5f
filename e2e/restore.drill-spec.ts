/**
 * Restores of the database to three points in time, of one service and of all: before a payment, between the charge of a
 * payment and its record, and after everything. After each restore the bank is compared, and the books must agree before
 * the platform accepts a payment again.
 *
 * This drill takes many minutes and needs PostgreSQL 15 of Debian, so `./svc test` does not run it. Run it with
 * `./svc npm run drill -- restore`. It prints a table for docs/backup.md.
 */
import { randomUUID } from 'node:crypto';
import { type CreatedSession, MerchantClient } from '@svc/sdk';
import { letTimePass, waitUntil } from '@svc/testing';
import { gatewayClient, newSessionRequest } from './callers/merchant.js';
import { APPROVED, preparePayRequest, sendPayRequest } from './callers/payer.js';
import { PointInTime, POSTGRES_BIN } from './faults/point-in-time.js';
import { Platform } from './platform/platform.js';

/** The bank charges the card, and its response is lost. The recovery job asks the bank two seconds later. */
const RESPONSE_LOST = '4000000000004087';
const POINTS = ['before the payment', 'between charge and record', 'after the refund'] as const;
type Point = (typeof POINTS)[number];
const SCOPES = ['payment-processor', 'all services'] as const;
type Scope = (typeof SCOPES)[number];

interface Result {
  readonly scope: Scope;
  readonly point: Point;
  /** Seconds from the restored time to the end of the traffic. */
  readonly forgottenSeconds: number;
  /** Seconds until the server was restored. */
  readonly serverSeconds: number;
  /** Seconds until the platform accepted a payment again. */
  readonly openSeconds: number;
  readonly repaired: string;
}

interface Traffic {
  readonly times: Readonly<Record<Point, Date>>;
  readonly endedAt: Date;
}

let platform: Platform;
let points: PointInTime;
const results: Result[] = [];

beforeAll(async () => {
  platform = await Platform.start('restore', { SVC_RECONCILIATION_GRACE_MS: '500', SVC_POSTGRES_BIN: POSTGRES_BIN });
  await stopPlatform();
  points = await PointInTime.configure(platform);
  await platform.up();
});
afterAll(async () => {
  if (results.length > 0) process.stdout.write(`${formatTable()}\n`);
  await platform?.stop();
});

async function stopPlatform(): Promise<void> {
  const { code, output } = await platform.svc('down');
  if (code !== 0) throw new Error(output);
}

const createSession = (): Promise<CreatedSession> =>
  gatewayClient(platform).createSession(newSessionRequest('http://127.0.0.1:9/notify'));

async function pay({ redirectUrl }: CreatedSession, card = APPROVED): Promise<string | undefined> {
  return (await sendPayRequest(platform.demo.gatewayUrl, await preparePayRequest(redirectUrl, card))).state;
}

const countPayments = async (condition: string): Promise<number> => {
  const [row] = await platform.sql<{ count: number }>(
    `SELECT count(*)::int AS count FROM payment_processor.payments WHERE ${condition}`,
  );
  return row!.count;
};

/**
 * Two sessions are created and one payment is made before the first point. Then a payment succeeds, a payment loses the
 * bank's response, and the first payment is refunded.
 */
async function makeTraffic(): Promise<Traffic> {
  const { merchant } = platform.site(0, 0);
  const refunded = await createSession();
  expect(await pay(refunded)).toBe('succeeded');
  const [paid, lost] = [await createSession(), await createSession()];
  await letTimePass(1_000);
  const beforePayment = new Date();
  await letTimePass(200);
  expect(await pay(paid)).toBe('succeeded');
  const chargesBefore = platform.charges().length;
  const lostPayment = pay(lost, RESPONSE_LOST);
  await waitUntil(
    'the charge without a record',
    30_000,
    async () => (await countPayments(`state = 'processing'`)) === 1,
  );
  await waitUntil('the charge at the bank', 30_000, () => Promise.resolve(platform.charges().length > chargesBefore));
  await letTimePass(300);
  const betweenChargeAndRecord = new Date();
  expect(await countPayments(`state = 'processing'`)).toBe(1);
  await lostPayment;
  await waitUntil('the record of the charge', 60_000, async () => (await countPayments(`state = 'processing'`)) === 0);
  const client = new MerchantClient({
    apiUrl: platform.demo.apiUrl,
    ...{ merchantId: merchant.merchantId, apiKey: merchant.apiKey },
  });
  const [payment] = await gatewayClient(platform).listPayments(refunded.sessionId);
  await client.refund(payment!.paymentReference, { amount: 500, idempotencyKey: randomUUID() });
  await letTimePass(200);
  const afterRefund = new Date();
  await letTimePass(200);
  // PostgreSQL ends the recovery at the first commit after the time.
  await createSession();
  await letTimePass(1_000);
  return {
    times: {
      'before the payment': beforePayment,
      'between charge and record': betweenChargeAndRecord,
      'after the refund': afterRefund,
    },
    endedAt: new Date(),
  };
}

const seconds = (from: number): number => Math.round((Date.now() - from) / 100) / 10;

test.each(SCOPES.flatMap((scope) => POINTS.map((point) => [scope, point] as const)))(
  'restore of %s to the time %s',
  async (scope, point) => {
    const backup = await points.backUp();
    const { times, endedAt } = await makeTraffic();
    await points.archiveAll();
    await stopPlatform();

    const restoreBegan = Date.now();
    if (scope === 'all services') await points.restoreServer(backup, times[point]);
    else await points.restoreService(backup, times[point], 'payment_processor');
    const serverSeconds = seconds(restoreBegan);
    await platform.up();

    // The platform refuses payments until the bank was compared and the books agree.
    expect(await platform.isReady()).toBe(false);
    const session = await createSession();
    expect(await pay(session)).toBeUndefined();
    expect((await platform.svc('admin', 'restore', 'open')).code).not.toBe(0);
    const repaired = await repair();
    await reconcile();
    const opened = await platform.svc('admin', 'restore', 'open');
    if (opened.code !== 0) throw new Error(opened.output);
    expect(await pay(session)).toBe('succeeded');
    results.push({
      ...{ scope, point, serverSeconds, openSeconds: seconds(restoreBegan), repaired: describeRepair(repaired) },
      forgottenSeconds: Math.round((endedAt.getTime() - times[point].getTime()) / 100) / 10,
    });

    expect(repaired).toMatchObject({ ...EXPECTED[scope][point], unresolved: 0 });
    await waitUntil('the platform to be ready', 60_000, () => platform.isReady());
    const verified = await platform.svc('admin', 'ledger', 'verify');
    expect([verified.code, verified.output]).toEqual([0, expect.any(String)]);
  },
  900_000,
);

interface Repaired {
  readonly chargesRecorded: number;
  readonly chargesReversed: number;
  readonly refundsRecorded: number;
}

const NOTHING: Repaired = { chargesRecorded: 0, chargesReversed: 0, refundsRecorded: 0 };
/**
 * If only payment-processor was restored, hosted-gateway still has the payments. If all services were restored, no service
 * knows about a payment after the restored time, and the payer gets the money back.
 */
const EXPECTED: Readonly<Record<Scope, Readonly<Record<Point, Repaired>>>> = {
  'payment-processor': {
    'before the payment': { chargesRecorded: 2, chargesReversed: 0, refundsRecorded: 1 },
    'between charge and record': { ...NOTHING, refundsRecorded: 1 },
    'after the refund': NOTHING,
  },
  'all services': {
    'before the payment': { chargesRecorded: 0, chargesReversed: 2, refundsRecorded: 1 },
    'between charge and record': { ...NOTHING, refundsRecorded: 1 },
    'after the refund': NOTHING,
  },
};

/** The repair is refused until the events of the other services have arrived. */
function repair(): Promise<Repaired> {
  return waitUntil('the repair', 120_000, async () => {
    const { code, output } = await platform.svc('admin', 'restore', 'repair', '--json');
    if (code !== 0) return undefined;
    return JSON.parse(output.slice(output.indexOf('{'))) as Repaired;
  });
}

interface Status {
  readonly outcomesMissing: number;
  readonly reversalsOpen: number;
  readonly daysToReconcile: readonly string[];
}

async function readStatus(): Promise<Status> {
  const { output } = await platform.svc('admin', 'restore', 'status', '--json');
  return JSON.parse(output.slice(output.indexOf('{'))) as Status;
}

/** Reconciles each day that the status names, after the bank has confirmed every repaired charge and refund. */
async function reconcile(): Promise<void> {
  await waitUntil('the outcomes of the repaired charges and refunds', 120_000, async () => {
    const { outcomesMissing, reversalsOpen } = await readStatus();
    return outcomesMissing === 0 && reversalsOpen === 0;
  });
  await waitUntil('equal books', 120_000, async () => {
    const { daysToReconcile } = await readStatus();
    for (const day of daysToReconcile) {
      const { code, output } = await platform.svc('admin', 'reconcile', '--day', day);
      if (code !== 0) throw new Error(output);
    }
    return daysToReconcile.length === 0;
  });
}

function describeRepair({ chargesRecorded, chargesReversed, refundsRecorded }: Repaired): string {
  const parts = [
    chargesRecorded > 0 ? `${chargesRecorded} charges recorded` : '',
    chargesReversed > 0 ? `${chargesReversed} charges reversed` : '',
    refundsRecorded > 0 ? `${refundsRecorded} refund recorded` : '',
  ];
  return parts.filter(Boolean).join(', ') || 'nothing';
}

function formatTable(): string {
  const rows = results.map(
    ({ scope, point, forgottenSeconds, serverSeconds, openSeconds, repaired }) =>
      `| ${scope} | ${point} | ${forgottenSeconds} s | ${serverSeconds} s | ${openSeconds} s | ${repaired} |`,
  );
  return [
    '| Restored | To the time | Forgotten | Database restored after | Open after | Repaired |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}
