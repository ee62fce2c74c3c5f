/**
 * `./svc restart` restarts every service, one after the other, under load. Each request is sent once and never retried
 * (steady-load.ts), and must get the documented success. The merchant's server answers slowly, so some notifications
 * are always unanswered when the dispatcher has to stop. The dispatcher repeats a POST only if it had to abort the POST
 * before the server answered.
 *
 * The reverse proxy (`front`) is not restarted, because meanwhile no process would listen on its ports (production has
 * several proxies). The simulated acquirer is not restarted, because a real acquirer belongs to a third party.
 */
import { letTimePass, waitUntil } from '@svc/testing';
import { SERVICES } from '../tools/svc/settings/settings.ts';
import { MerchantEndpoint } from './callers/merchant-endpoint.js';
import { ConsistencyCheck } from './consistency/consistency-check.js';
import type { Interruption } from './consistency/repeated-posts.js';
import { failuresOf, SteadyLoad } from './faults/steady-load.js';
import { Platform } from './platform/platform.js';

const PAYERS = 8;
/** Delay of the merchant's server before it acknowledges. */
const MERCHANT_MS = 200;
/** Delay of the acquirer, so that there are always unfinished charges too. */
const ACQUIRER_MS = 500;
const UNANSWERED_NOTIFICATIONS = 3;
/** Minimum number of requests during one restart; fewer would prove nothing. */
const MIN_REQUESTS = 20;
/** The reverse proxy holds a request for an app that restarts for at most this time. */
const MAX_WAIT_MS = 20_000;
/** SVC_DELIVERY_DRAIN_MS of webhook-dispatcher. */
const DRAIN_MS = 5_000;

type App = (typeof SERVICES)[number];

interface RestartResult {
  readonly restarted: string;
  readonly seconds: number;
  readonly requests: number;
  readonly failed: number;
  readonly slowestMs: number;
  readonly unansweredPosts: number;
}

describe('a rolling restart under load', () => {
  let platform: Platform;
  let endpoint: MerchantEndpoint;
  let load: SteadyLoad;
  const results: RestartResult[] = [];
  /** Interruptions of the dispatcher. */
  const interruptions: Interruption[] = [];
  /** Each notification, from its arrival to its acknowledgement, in milliseconds since 1970. */
  const posts: { readonly from: number; to: number; readonly heldBy: Promise<unknown> }[] = [];
  /** The merchant acknowledges nothing until this promise settles. */
  let hold: Promise<unknown> = Promise.resolve();

  async function acknowledge(): Promise<number> {
    const heldBy = hold;
    const post = { from: Date.now(), to: Infinity, heldBy };
    posts.push(post);
    await heldBy;
    await letTimePass(MERCHANT_MS);
    post.to = Date.now();
    return 200;
  }

  beforeAll(async () => {
    platform = await Platform.start('rolling-restart', { SVC_ACQUIRER_LATENCY_MS: String(ACQUIRER_MS) }, 'distributed');
    endpoint = await MerchantEndpoint.start(platform.site(0, 0).webhookSecret, acknowledge);
    load = new SteadyLoad(platform, endpoint.url);
    load.start(PAYERS);
    await waitUntil('every payer to be paying', 60_000, () => Promise.resolve(load.paid >= 2 * PAYERS));
  });
  afterAll(async () => {
    if (results.length > 0) process.stdout.write(`${formatTable(results)}\n`);
    await load?.stop();
    await platform?.stop();
    await endpoint?.stop();
  });

  /** Time at which the restart began, from the supervisor's log. */
  function begunAt(app: string, from: number): number | undefined {
    for (const line of platform.log(from).split('\n'))
      if (line.includes('"supervisor"') && line.includes(`"app":"${app}","msg":"restarting"`))
        return Date.parse((JSON.parse(line) as { time: string }).time);
    return undefined;
  }

  async function expectNoFailureDuringRestart(app: App): Promise<void> {
    const log = platform.log().length;
    const { restarts } = platform.processes()[app]!;
    const begun = Promise.withResolvers<unknown>();
    hold = begun.promise;
    const unansweredPosts = (at: number): number => posts.filter(({ from, to }) => from <= at && at < to).length;
    // Earlier notifications do not count, because the merchant may acknowledge them before the restart begins.
    const held = (): number => posts.filter(({ heldBy }) => heldBy === hold).length;
    await waitUntil('held notifications', 10_000, () => Promise.resolve(held() >= UNANSWERED_NOTIFICATIONS));

    const from = Date.now();
    const restarted = platform.svc('restart', app);
    let firstAt: number;
    try {
      firstAt = await waitUntil('the restart to begin', 30_000, () => Promise.resolve(begunAt(app, log)));
    } finally {
      begun.resolve(undefined);
    }
    const { code, output } = await restarted;
    const to = Date.now();
    if (app === 'webhook-dispatcher')
      interruptions.push({ from: new Date(firstAt), to: new Date(to), drainMs: DRAIN_MS });
    // Requests that were sent just before the end of the restart must be answered too.
    await waitUntil('requests that waited to be answered', 30_000, () => {
      const answered = load.sent.filter((one) => one.from > to && one.failure === undefined).length;
      return Promise.resolve(answered >= PAYERS);
    });

    const meanwhile = load.sent.filter((one) => one.from < to && one.to > from);
    const failures = failuresOf(meanwhile);
    const result: RestartResult = {
      restarted: app,
      seconds: (to - from) / 1000,
      requests: meanwhile.length,
      failed: failures.length,
      slowestMs: Math.max(0, ...meanwhile.map((one) => one.to - one.from)),
      unansweredPosts: unansweredPosts(firstAt),
    };
    results.push(result);
    expect([code, output]).toEqual([0, expect.stringContaining(`${app}: ready again`)]);
    expect(platform.processes()[app]!.restarts).toBe(restarts + 1);
    expect(new Set(failures)).toEqual(new Set());
    expect(result.requests).toBeGreaterThanOrEqual(MIN_REQUESTS);
    expect(result.unansweredPosts).toBeGreaterThanOrEqual(UNANSWERED_NOTIFICATIONS);
    expect(result.slowestMs).toBeLessThan(MAX_WAIT_MS);
  }

  it.each(SERVICES)('no request fails during a restart of %s', (app) => expectNoFailureDuringRestart(app));

  it('a rolling restart leaves consistent records, and repeats no POST that was answered in time', async () => {
    await load.stop();
    expect(new Set(failuresOf(load.sent))).toEqual(new Set());
    const consistency = new ConsistencyCheck(platform, endpoint);
    await consistency.waitUntilAcknowledged();
    const { paid } = load;
    const { posts: postCount, ...totals } = await consistency.readTotals();
    process.stdout.write(`${paid} payments: ${JSON.stringify({ ...totals, posts: postCount })}\n`);
    expect(totals).toEqual({ charges: paid, payments: paid, transfers: paid, notifications: paid });
    await consistency.expectConsistent(paid);
    await consistency.expectPostsToBeJustified(interruptions);
    // The supervisor killed no slow process, and no process ended by itself.
    expect(platform.log()).not.toMatch(/"msg":"process (did not end in time|ended unexpectedly)/);
  });
});

function formatTable(results: readonly RestartResult[]): string {
  const rows = [
    ['restarted', 'seconds', 'requests', 'failed', 'slowest', 'unanswered POSTs'],
    ...results.map(({ restarted, seconds, requests, failed, slowestMs, unansweredPosts }) => [
      restarted,
      seconds.toFixed(1),
      String(requests),
      String(failed),
      `${(slowestMs / 1000).toFixed(1)} s`,
      String(unansweredPosts),
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')).join('\n');
}
