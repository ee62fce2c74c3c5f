/**
 * What only a distributed platform has to show: one trace through every process, services that go on and start without
 * identity, and the same data run in every way there is. Restarts and faults have specs of their own.
 */
import { randomBytes } from 'node:crypto';
import { waitUntil } from '@svc/testing';
import { Books } from './books.js';
import { aSessionRequest, clientOf, createSessions } from './merchant.js';
import { type Answer, MerchantEndpoint } from './merchant-endpoint.js';
import { APPROVED, fillIn, press } from './payer.js';
import { decode, logIn, type PartnerHeaders } from './partner.js';
import { Platform } from './platform.js';
import { anInvoice, newInvoice, till } from './till.js';
import { TraceCollector } from './trace-collector.js';

let collector: TraceCollector;
let platform: Platform;
let endpoint: MerchantEndpoint;
let books: Books;
let answer: Answer;
/** Payments that were made by all tests before. */
let paid = 0;

beforeAll(async () => {
  collector = await TraceCollector.start();
  platform = await Platform.start('distributed', collector.environment, 'distributed');
  endpoint = await MerchantEndpoint.start(platform.site(0, 0).webhookSecret, () => answer);
  books = new Books(platform, endpoint);
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

/** From the merchant's cart to the page's answer. Throws when any call is not answered as documented. */
async function pay(): Promise<string> {
  const [session] = await createSessions(clientOf(platform), 1, endpoint.url);
  const { httpStatus, state } = await press(platform.demo.gatewayUrl, await fillIn(session!.redirectUrl));
  if (httpStatus !== 200 || state !== 'succeeded') throw new Error(`Pay was answered ${httpStatus}, ${state}`);
  const payments = await clientOf(platform).listPayments(session!.sessionId);
  if (payments.length !== 1) throw new Error(`${payments.length} payments are known of a session that was paid`);
  paid++;
  return session!.sessionId;
}

async function expectAllHeardOnce(): Promise<void> {
  endpoint.release();
  await waitUntil('every notification', 30_000, () => Promise.resolve(books.underWay().length === 0));
  await waitUntil('the books to be complete', 10_000, async () => (await books.totals()).transfers === paid);
  await books.expectToAgree(paid);
}

describe('a trace', () => {
  const [merchantsTrace, merchantsSpan] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const followed = ['front', 'hosted-gateway', 'payment-processor', 'webhook-dispatcher'];
  const MERCHANTS_SECRET = 'the-secret-in-the-address';
  let sessionId: string;
  let code: string;

  it('that begins at the merchant goes through every service of a payment, and back to the merchant', async () => {
    const site = platform.site(0, 0);
    const created = await fetch(`${platform.demo.gatewayUrl}/api/v3.1/sessions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        merchantId: String(site.merchant.merchantId),
        merchantSiteId: String(site.siteId),
        'x-api-key': site.apiKey,
        traceparent: `00-${merchantsTrace}-${merchantsSpan}-01`,
      },
      body: JSON.stringify(aSessionRequest(`${endpoint.url}?token=${MERCHANTS_SECRET}`)),
    });
    const session = (await created.json()) as { sessionId: string; redirectUrl: string };
    ({ sessionId } = session);
    expect(await press(platform.demo.gatewayUrl, await fillIn(session.redirectUrl))).toMatchObject({ httpStatus: 200 });
    paid++;
    await expectAllHeardOnce();
    [{ code } = { code: '' }] = await platform.sql<{ code: string }>(
      `SELECT code FROM hosted_gateway.sessions WHERE session_id = $1`,
      [sessionId],
    );
    const scanned = await fetch(`${platform.demo.gatewayUrl}/c/${code}`, {
      headers: { traceparent: `00-${merchantsTrace}-${merchantsSpan}-01` },
    });
    expect(scanned.status).toBe(200);
    expect(endpoint.deliveries.at(-1)!.headers['traceparent']).toMatch(
      new RegExp(`^00-${merchantsTrace}-[0-9a-f]{16}-01$`),
    );

    await waitUntil('the spans of every service', 20_000, () => {
      const services = new Set(collector.of(merchantsTrace).map(({ service }) => service));
      return Promise.resolve(followed.every((service) => services.has(service)));
    });
    // Each span hangs on another of the trace or on the merchant's own.
    const orphans = (): string[] => {
      const spans = collector.of(merchantsTrace);
      const known = new Set([merchantsSpan, ...spans.map(({ spanId }) => spanId)]);
      return spans
        .filter(({ parentSpanId }) => !known.has(parentSpanId ?? ''))
        .map(({ service, name }) => `${service} ${name}`);
    };
    await waitUntil('the last span', 20_000, () => Promise.resolve(orphans().length === 0));
  });

  it('says nothing of the card, nor of what opens the page', () => {
    const spans = JSON.stringify(collector.of(merchantsTrace));
    for (const secret of [APPROVED, sessionId, code, MERCHANTS_SECRET, platform.site(0, 0).apiKey, 'encryptedCard'])
      expect(spans).not.toContain(secret);
    expect(collector.of(merchantsTrace).length).toBeGreaterThan(10);
  });

  it('is named in the log lines of what happened in it', () => {
    const lines = platform
      .log()
      .split('\n')
      .filter((line) => line.includes(merchantsTrace))
      .map((line) => (JSON.parse(line) as { service: string }).service);
    expect(new Set(lines)).toEqual(new Set(['hosted-gateway', 'webhook-dispatcher']));
  });
});

it('each key sees of the payments of merchants what it may, in every look-up and on the stream (A7, M1)', async () => {
  const [site, another, foreign] = [platform.site(0, 0), platform.site(0, 1), platform.site(1, 0)];
  const [payment] = await clientOf(platform).listPayments(await pay());
  const { sessionId, merchantOrderId, paymentReference } = payment!;
  const keys = [site.merchant.apiKey, site.apiKey, another.apiKey, foreign.merchant.apiKey, foreign.apiKey, undefined];
  const ask = async (path: string, key: string | undefined): Promise<string> => {
    const url = `${platform.demo.apiUrl}/business/api/v1/merchants/${site.merchant.merchantId}${path}`;
    const found = await fetch(url, { headers: key === undefined ? {} : { 'x-api-key': key } });
    if (found.status !== 200 || path.endsWith('/stream')) {
      await found.body?.cancel();
      return String(found.status);
    }
    return `200:${((await found.json()) as unknown[]).length}`;
  };
  const lookUps = [
    `/invoices/${sessionId}/payments`,
    `/payments?externalReference=${merchantOrderId}`,
    `/payments/${paymentReference}`,
  ];
  await waitUntil('the payment to be found', 10_000, async () => (await ask(lookUps[2]!, keys[0])) === '200:1');
  const answersTo = (path: string): Promise<string[]> => Promise.all(keys.map((key) => ask(path, key)));
  const ofSite = `/sites/${site.siteId}`;
  for (const path of lookUps) {
    expect([path, await answersTo(path)]).toEqual([path, ['200:1', '200:1', '200:0', '403', '403', '401']]);
    const atSite = `${ofSite}${path}`;
    expect([atSite, await answersTo(atSite)]).toEqual([atSite, ['200:1', '200:1', '403', '403', '403', '401']]);
  }
  expect(await answersTo(`${ofSite}/payments/stream`)).toEqual(['200', '200', '403', '403', '403', '401']);
});

describe('while identity is stopped', () => {
  const stopped: number[] = [];
  const freeze = (app: 'identity' | 'payment-processor'): void => {
    const { pid } = platform.process(app);
    process.kill(pid, 'SIGSTOP');
    stopped.push(pid);
  };
  const goOn = (): void => {
    for (const pid of stopped.splice(0)) process.kill(pid, 'SIGCONT');
  };
  let partner: PartnerHeaders;
  beforeAll(async () => {
    partner = await logIn(platform);
  });
  afterAll(() => goOn());

  it('sessions, payments and webhooks of known merchants go on', async () => {
    freeze('identity');
    await pay();
    await expectAllHeardOnce();
  });

  it('services that start serve from what they have kept', async () => {
    for (const app of ['hosted-gateway', 'payment-processor', 'webhook-dispatcher']) {
      const { code, output } = await platform.svc('restart', app);
      expect([code, output]).toEqual([0, expect.stringContaining(`${app}: ready again`)]);
    }
    await pay();
    await expectAllHeardOnce();
  });

  it('decoding goes on, and starts, without payment-processor too; a till is told to come again', async () => {
    const { code } = await newInvoice(platform);
    freeze('payment-processor');
    expect((await decode(platform, code, partner)).status).toBe(200);

    const { code: exit, output } = await platform.svc('restart', 'code-decoder');
    expect([exit, output]).toEqual([0, expect.stringContaining('code-decoder: ready again')]);
    expect((await decode(platform, code, partner)).status).toBe(200);

    const refused = await till(platform, 'POST', '/invoices', 'application/json', anInvoice());
    expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([503, expect.any(Number)]);
    goOn();
    expect((await decode(platform, (await newInvoice(platform)).code, partner)).status).toBe(200);
  });
});

describe('the same data', () => {
  it.each(['embedded', 'rabbitmq'] as const)('goes on %s, with what was under way', async (mode) => {
    answer = 'hold';
    const sessionId = await pay();
    await waitUntil('the notification on the wire', 10_000, () => Promise.resolve(endpoint.holding === 1));
    await platform.switchTo(mode);
    answer = 200;
    await books.everyoneHasHeard();
    await books.expectToAgree(paid);
    const payments = await clientOf(platform).listPayments(sessionId);
    expect(payments).toMatchObject([{ sessionId, paymentStatus: 'Success' }]);
    await pay();
    await expectAllHeardOnce();
  });
});
