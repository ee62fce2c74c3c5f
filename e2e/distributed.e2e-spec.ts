/**
 * Tests what only a distributed platform does: one trace through every process, services that run and start without
 * identity, and the same data on every deployment. Restarts and faults have their own specs.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { waitUntil } from '@svc/testing';
import { createSessions, gatewayClient, newSessionRequest } from './callers/merchant.js';
import { type Answer, MerchantEndpoint } from './callers/merchant-endpoint.js';
import { decodeCode, logIn, type PartnerHeaders } from './callers/partner.js';
import { APPROVED, preparePayRequest, sendPayRequest } from './callers/payer.js';
import { callTillApi, createInvoice, newInvoiceRequest } from './callers/till.js';
import { ConsistencyCheck } from './consistency/consistency-check.js';
import { Platform } from './platform/platform.js';
import { type Span, TraceCollector } from './platform/trace-collector.js';

let collector: TraceCollector;
let platform: Platform;
let endpoint: MerchantEndpoint;
let consistency: ConsistencyCheck;
let answer: Answer;
/** Number of payments so far. */
let paid = 0;

beforeAll(async () => {
  collector = await TraceCollector.start();
  platform = await Platform.start('distributed', collector.environment, 'distributed');
  endpoint = await MerchantEndpoint.start(platform.site(0, 0).webhookSecret, () => answer);
  consistency = new ConsistencyCheck(platform, endpoint);
});
afterAll(async () => {
  endpoint?.release();
  await platform?.stop();
  await endpoint?.stop();
  await collector?.stop();
});
beforeEach(() => {
  answer = 200;
});

/**
 * Pays a session, from the merchant's cart to the page's answer. Throws when an answer differs from the documentation.
 */
async function pay(): Promise<string> {
  const [session] = await createSessions(gatewayClient(platform), 1, endpoint.url);
  const { httpStatus, state } = await sendPayRequest(
    platform.demo.gatewayUrl,
    await preparePayRequest(session!.redirectUrl),
  );
  if (httpStatus !== 200 || state !== 'succeeded') throw new Error(`Pay was answered ${httpStatus}, ${state}`);
  const payments = await gatewayClient(platform).listPayments(session!.sessionId);
  if (payments.length !== 1) throw new Error(`${payments.length} payments of a paid session`);
  paid++;
  return session!.sessionId;
}

async function expectAllNotifiedOnce(): Promise<void> {
  endpoint.release();
  await waitUntil('every notification', 30_000, () =>
    Promise.resolve(consistency.unacknowledgedCharges().length === 0),
  );
  await waitUntil('the ledger entries', 10_000, async () => (await consistency.readTotals()).transfers === paid);
  await consistency.expectConsistent(paid);
}

/** Id of the caller's span, the root of each trace. */
const CALLER_SPAN_ID = randomBytes(8).toString('hex');
const newTraceId = (): string => randomBytes(16).toString('hex');
const traceparentOf = (trace: string): string => `00-${trace}-${CALLER_SPAN_ID}-01`;

async function createSessionIn(
  trace: string,
  notificationUrl = endpoint.url,
): Promise<{ sessionId: string; redirectUrl: string }> {
  const site = platform.site(0, 0);
  const created = await fetch(`${platform.demo.gatewayUrl}/api/v3.1/sessions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      merchantId: String(site.merchant.merchantId),
      merchantSiteId: String(site.siteId),
      'x-api-key': site.apiKey,
      traceparent: traceparentOf(trace),
    },
    body: JSON.stringify(newSessionRequest(notificationUrl)),
  });
  return (await created.json()) as { sessionId: string; redirectUrl: string };
}

/** Spans whose parent is neither in the trace nor the caller's span. */
function orphansOf(trace: string): Span[] {
  const spans = collector.of(trace);
  const known = new Set([CALLER_SPAN_ID, ...spans.map(({ spanId }) => spanId)]);
  return spans.filter(({ parentSpanId }) => !known.has(parentSpanId ?? ''));
}

/** On a busy machine, equal calls reach a service at different times. */
const MAX_ARRIVAL_MS = 2_000;

/**
 * Locks the table against writers until `count` statements have waited for the table, and the other calls had time to
 * arrive. Calls after the waiting statements share one statement.
 */
async function whileLocked<T>(table: string, count: number, work: () => Promise<T>): Promise<T> {
  const client = await platform.sqlClient();
  try {
    await client.query(`BEGIN; LOCK TABLE ${table} IN SHARE MODE`);
    const result = work();
    let waitingSince: number | undefined;
    await waitUntil(`${count} statements to wait for ${table}`, 10_000, async () => {
      const waiting = await platform.sql(`SELECT FROM pg_locks WHERE relation = $1::regclass AND NOT granted`, [table]);
      if (waiting.length >= count) waitingSince ??= performance.now();
      return waitingSince !== undefined && performance.now() - waitingSince >= MAX_ARRIVAL_MS;
    });
    await client.query('ROLLBACK');
    return await result;
  } finally {
    await client.end();
  }
}

/** An event as stored in the log. */
interface EventRow {
  readonly id: string;
  readonly type: string;
  /** The transaction's id. Each statement is a transaction of its own. */
  readonly txid: string;
  readonly trace: string;
  readonly sessionId: string;
}

describe('traces', () => {
  const merchantsTrace = newTraceId();
  const servicesOfPayment = ['front', 'hosted-gateway', 'payment-processor', 'webhook-dispatcher'];
  const MERCHANTS_SECRET = 'the-secret-in-the-address';
  let sessionId: string;
  let code: string;

  it('the trace of a merchant’s request continues through every service of a payment, up to the webhook', async () => {
    const session = await createSessionIn(merchantsTrace, `${endpoint.url}?token=${MERCHANTS_SECRET}`);
    ({ sessionId } = session);
    expect(await sendPayRequest(platform.demo.gatewayUrl, await preparePayRequest(session.redirectUrl))).toMatchObject({
      httpStatus: 200,
    });
    paid++;
    await expectAllNotifiedOnce();
    [{ code } = { code: '' }] = await platform.sql<{ code: string }>(
      `SELECT code FROM hosted_gateway.sessions WHERE session_id = $1`,
      [sessionId],
    );
    const scanned = await fetch(`${platform.demo.gatewayUrl}/c/${code}`, {
      headers: { traceparent: traceparentOf(merchantsTrace) },
    });
    expect(scanned.status).toBe(200);
    expect(endpoint.deliveries.at(-1)!.headers['traceparent']).toMatch(
      new RegExp(`^00-${merchantsTrace}-[0-9a-f]{16}-01$`),
    );

    await waitUntil('the spans of every service', 20_000, () => {
      const services = new Set(collector.of(merchantsTrace).map(({ service }) => service));
      return Promise.resolve(servicesOfPayment.every((service) => services.has(service)));
    });
    await waitUntil('the last span', 20_000, () => Promise.resolve(orphansOf(merchantsTrace).length === 0));
  });

  it('a trace contains neither the card nor the secrets that open the page', () => {
    const spans = JSON.stringify(collector.of(merchantsTrace));
    for (const secret of [APPROVED, sessionId, code, MERCHANTS_SECRET, platform.site(0, 0).apiKey, 'encryptedCard'])
      expect(spans).not.toContain(secret);
    expect(collector.of(merchantsTrace).length).toBeGreaterThan(10);
  });

  it('the log lines of a request contain its trace id', () => {
    const lines = platform
      .log()
      .split('\n')
      .filter((line) => line.includes(merchantsTrace))
      .map((line) => (JSON.parse(line) as { service: string }).service);
    expect(new Set(lines)).toEqual(new Set(['hosted-gateway', 'payment-processor', 'webhook-dispatcher']));
  });
});

it('each payment has its own complete trace, although one statement wrote rows of several payments', async () => {
  const before = endpoint.deliveries.length;
  const traces = Array.from({ length: 12 }, newTraceId);
  const payers = traces.map(newTraceId);
  const sessions = await whileLocked('hosted_gateway.sessions', 1, () =>
    Promise.all(traces.map((trace) => createSessionIn(trace))),
  );
  const payRequests = await Promise.all(sessions.map(({ redirectUrl }) => preparePayRequest(redirectUrl)));
  const { gatewayUrl } = platform.demo;
  // While the tables are locked, the twelve requests wait and then share statements.
  const answers = await whileLocked('payment_processor.transfers', 1, () =>
    whileLocked('payment_processor.payables', 2, () =>
      Promise.all(
        payRequests.map((payRequest, nth) =>
          sendPayRequest(gatewayUrl, payRequest, { traceparent: traceparentOf(payers[nth]!) }),
        ),
      ),
    ),
  );
  expect(answers).toEqual(traces.map(() => ({ httpStatus: 200, state: 'succeeded' })));
  paid += traces.length;
  await expectAllNotifiedOnce();

  const events = await platform.sql<EventRow>(
    `SELECT id, type, txid::text, substr(traceparent, 4, 32) AS trace,
            coalesce(payload -> 'payable' ->> 'payableId', aggregate_id) AS "sessionId"
       FROM (TABLE hosted_gateway.event_log UNION ALL TABLE payment_processor.event_log) AS event_log
      WHERE substr(traceparent, 4, 32) = ANY ($1) OR payload -> 'payable' ->> 'payableId' = ANY ($2)`,
    [[...traces, ...payers], sessions.map(({ sessionId }) => sessionId)],
  );
  const types = ['payment.processing.v1', 'payment.succeeded.v1', 'session.created.v1'];
  const eventKeys = events.map(({ sessionId, trace, type }) => `${sessionId} ${trace} ${type}`);
  expect(eventKeys.sort()).toEqual(
    sessions.flatMap(({ sessionId }, nth) => types.map((type) => `${sessionId} ${traces[nth]} ${type}`)).sort(),
  );
  for (const type of types)
    expect(new Set(events.filter((event) => event.type === type).map(({ txid }) => txid)).size).toBeLessThan(12);

  const webhooks = endpoint.deliveries.slice(before).map(({ payment, headers }) => {
    return `${payment.sessionId} ${String(headers['traceparent']).slice(3, 35)}`;
  });
  expect(webhooks.sort()).toEqual(sessions.map(({ sessionId }, nth) => `${sessionId} ${traces[nth]}`).sort());

  await expectSpansOf(traces, payers, events);
});

/**
 * The spans of the simulated acquirer and of statements are left out. A shared statement has one span, in the trace of
 * the call that waited longest for it.
 */
const SPANS_OF_A_PAYMENT = [
  'code-decoder: process payment.succeeded.v1',
  'code-decoder: process session.created.v1',
  'console: process payment.succeeded.v1',
  'front: POST',
  'front: POST',
  'hosted-gateway: POST /api/v3.1/sessions',
  'hosted-gateway: pay session',
  'hosted-gateway: process payment.processing.v1',
  'hosted-gateway: process payment.succeeded.v1',
  'merchant-retrieval: process payment.succeeded.v1',
  'payment-processor: POST',
  'payment-processor: process session.created.v1',
  'webhook-dispatcher: POST',
  'webhook-dispatcher: notify merchant',
  'webhook-dispatcher: process payment.succeeded.v1',
];

/** Waits for the spans of equal payments. Each payment has its own trace, which is linked to its payer's request. */
async function expectSpansOf(
  traces: readonly string[],
  payers: readonly string[],
  events: readonly EventRow[],
): Promise<void> {
  const isExpected = ({ service, attributes }: Span): boolean =>
    service !== 'simulated-acquirer' && !attributes.some(({ key }) => key.startsWith('db.'));
  const spanNames = (): string[][] =>
    traces.map((trace) =>
      collector
        .of(trace)
        .filter(isExpected)
        .map(({ service, name }) => `${service}: ${name}`)
        .sort(),
    );
  const expected = traces.map(() => SPANS_OF_A_PAYMENT);
  // If the spans never match, the comparison below shows the missing or superfluous spans.
  await waitUntil('the spans of every payment', 20_000, () =>
    Promise.resolve(isDeepStrictEqual(spanNames(), expected)),
  ).catch(() => undefined);
  expect(spanNames()).toEqual(expected);
  expect(traces.flatMap(orphansOf)).toEqual([]);

  const processed = collector.spans.map(({ traceId, attributes }) => ({
    traceId,
    id: attributes.find(({ key }) => key === 'messaging.message.id')?.value.stringValue,
  }));
  for (const { id, type, trace } of events) {
    const traceIds = processed.filter((span) => span.id === id).map(({ traceId }) => traceId);
    expect([type, ...new Set(traceIds)]).toEqual([type, trace]);
  }
  traces.forEach((trace, nth) => {
    const { links = [] } = collector.of(trace).find(({ name }) => name === 'pay session')!;
    expect(links.map(({ traceId }) => traceId)).toEqual([payers[nth]]);
  });
}

it('each key reads only its own payments, in every look-up and on the stream (A7, M1)', async () => {
  const [site, another, foreign] = [platform.site(0, 0), platform.site(0, 1), platform.site(1, 0)];
  const [payment] = await gatewayClient(platform).listPayments(await pay());
  const { sessionId, merchantOrderId, paymentReference } = payment!;
  const keys = [site.merchant.apiKey, site.apiKey, another.apiKey, foreign.merchant.apiKey, foreign.apiKey, undefined];
  const countPayments = async (path: string, key: string | undefined): Promise<string> => {
    const url = `${platform.demo.apiUrl}/business/api/v1/merchants/${site.merchant.merchantId}${path}`;
    const headers: Record<string, string> = key === undefined ? {} : { 'x-api-key': key };
    if (path.endsWith('/stream')) return statusOfStream(url, headers);
    const found = await fetch(url, { headers });
    const body = await found.text();
    return found.status === 200 ? `200:${(JSON.parse(body) as unknown[]).length}` : String(found.status);
  };
  const lookUps = [
    `/invoices/${sessionId}/payments`,
    `/payments?externalReference=${merchantOrderId}`,
    `/payments/${paymentReference}`,
  ];
  await waitUntil(
    'the payment to be found',
    10_000,
    async () => (await countPayments(lookUps[2]!, keys[0])) === '200:1',
  );
  const answersTo = (path: string): Promise<string[]> => Promise.all(keys.map((key) => countPayments(path, key)));
  const ofSite = `/sites/${site.siteId}`;
  for (const path of lookUps) {
    expect([path, await answersTo(path)]).toEqual([path, ['200:1', '200:1', '200:0', '403', '403', '401']]);
    const atSite = `${ofSite}${path}`;
    expect([atSite, await answersTo(atSite)]).toEqual([atSite, ['200:1', '200:1', '403', '403', '403', '401']]);
  }
  expect(await answersTo(`${ofSite}/payments/stream`)).toEqual(['200', '200', '403', '403', '403', '401']);
});

/**
 * Not with `fetch`: after a cancelled stream, it keeps a connection without a request, to which the server sends a 408
 * after its timeout. A later call on this connection may get this 408 as its answer.
 */
async function statusOfStream(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const [answer] = (await once(get(url, { headers }), 'response')) as [IncomingMessage];
  answer.destroy();
  return String(answer.statusCode);
}

describe('while identity is stopped', () => {
  const stopped: number[] = [];
  const freeze = (app: 'identity' | 'payment-processor'): void => {
    const { pid } = platform.process(app);
    process.kill(pid, 'SIGSTOP');
    stopped.push(pid);
  };
  const resume = (): void => {
    for (const pid of stopped.splice(0)) process.kill(pid, 'SIGCONT');
  };
  let partner: PartnerHeaders;
  beforeAll(async () => {
    partner = await logIn(platform);
  });
  afterAll(() => resume());

  it('known merchants can still create sessions, accept payments and receive webhooks', async () => {
    freeze('identity');
    await pay();
    await expectAllNotifiedOnce();
  });

  it('services that start meanwhile use their stored data', async () => {
    for (const app of ['hosted-gateway', 'payment-processor', 'webhook-dispatcher']) {
      const { code, output } = await platform.svc('restart', app);
      expect([code, output]).toEqual([0, expect.stringContaining(`${app}: ready again`)]);
    }
    await pay();
    await expectAllNotifiedOnce();
  });

  it('code-decoder runs and starts even without payment-processor, and then returns a 503 to a till', async () => {
    const { code } = await createInvoice(platform);
    freeze('payment-processor');
    expect((await decodeCode(platform, code, partner)).status).toBe(200);

    const { code: exit, output } = await platform.svc('restart', 'code-decoder');
    expect([exit, output]).toEqual([0, expect.stringContaining('code-decoder: ready again')]);
    expect((await decodeCode(platform, code, partner)).status).toBe(200);

    const refused = await callTillApi(platform, 'POST', '/invoices', 'application/json', newInvoiceRequest());
    expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([503, expect.any(Number)]);
    resume();
    expect((await decodeCode(platform, (await createInvoice(platform)).code, partner)).status).toBe(200);
  });
});

describe('a switch to another deployment', () => {
  it.each(['embedded', 'rabbitmq'] as const)(
    'the deployment %s can use the data of a distributed platform, also its unfinished payments',
    async (mode) => {
      answer = 'hold';
      const sessionId = await pay();
      await waitUntil('the unanswered notification', 10_000, () => Promise.resolve(endpoint.heldCount === 1));
      await platform.switchTo(mode);
      answer = 200;
      await consistency.waitUntilAcknowledged();
      await consistency.expectConsistent(paid);
      const payments = await gatewayClient(platform).listPayments(sessionId);
      expect(payments).toMatchObject([{ sessionId, paymentStatus: 'Success' }]);
      await pay();
      await expectAllNotifiedOnce();
    },
  );
});
