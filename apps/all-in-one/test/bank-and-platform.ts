import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashApiKey, newApiKey } from '@svc/auth';
import { ApiKeyChangedV1, type EventEnvelope, SiteChangedV1, WebhookSecretChangedV1 } from '@svc/contracts';
import { hostedGatewayService } from '@svc/hosted-gateway';
import { EmbeddedBroker } from '@svc/messaging';
import { paymentProcessorService } from '@svc/payment-processor';
import { type ChargeRecord, startSimulatedAcquirer } from '@svc/simulated-acquirer';
import { anEvent, ManualClock, startTestService, type TestService } from '@svc/testing';
import type { JWK } from 'jose';
import { encryptCard } from './encrypt-card.js';
import { type Fault, startUnreliableAcquirer, type UnreliableAcquirer } from './unreliable-acquirer.js';

const SITE = { merchantId: 1001, siteId: 5001 };

/** Hosted-gateway and payment-processor with an unreliable bank and a manual clock. */
export interface BankAndPlatform {
  readonly clock: ManualClock;
  readonly acquirer: UnreliableAcquirer;
  readonly processor: TestService;
  createSession(amount: number): Promise<string>;
  /** The page as a payer loads it. */
  page(sessionId: string): Promise<PageSnapshot>;
  /** Submits the form of a page. */
  pay(page: PageSnapshot): Promise<void>;
  /** Number of charges of this amount in the bank's records that were not reversed. */
  chargeCount(amount: number): number;
  reversalCount(amount: number): number;
  /** Relays the events of both services. */
  relayAllEvents(): Promise<void>;
  stop(): Promise<void>;
}

export interface PageSnapshot {
  readonly sessionId: string;
  readonly state: string;
  readonly html: string;
}

export async function startBankAndPlatform(
  faultOf: (amount: number) => Fault | undefined,
  timeoutMs: number,
): Promise<BankAndPlatform> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bank-'));
  const store = join(folder, 'charges.jsonl');
  const bank = await startSimulatedAcquirer({ SVC_ACQUIRER_STORE: store });
  const acquirer = await startUnreliableAcquirer(bank.url, faultOf);
  const [broker, clock] = [new EmbeddedBroker(), new ManualClock()];
  const adminKey = randomBytes(32).toString('base64url');
  const processor = await startTestService(paymentProcessorService, {
    broker,
    clock,
    env: {
      SVC_SEALING_KEY: randomBytes(32).toString('base64url'),
      SVC_ADMIN_KEY: adminKey,
      SVC_ACQUIRER_URL: acquirer.url,
      SVC_API_URL: 'https://api.example',
      SVC_CODES_URL: 'https://pay.example',
      SVC_ACQUIRER_TIMEOUT_MS: String(timeoutMs),
    },
  });
  const gateway = await startTestService(hostedGatewayService, {
    broker,
    clock,
    env: { SVC_GATEWAY_URL: 'https://pay.example', SVC_CODES_URL: 'https://pay.example', SVC_ADMIN_KEY: adminKey },
  });
  await gateway.deliver(anEvent(SiteChangedV1, '5001', 1, aSite()), ...signingKeys());
  const relayAllEvents = async (): Promise<void> => {
    await processor.relay();
    await gateway.relay();
  };
  await relayAllEvents();
  const call = (method: 'GET' | 'POST', url: string, payload?: object) =>
    gateway.service.app.inject({ method, url, ...(payload ? { payload, headers: headersOf(url) } : {}) });

  return {
    clock,
    acquirer,
    processor,
    relayAllEvents,
    createSession: async (amount) => {
      const answer = await call('POST', '/api/v3.1/sessions', aSession(amount));
      if (answer.statusCode !== 201) throw new Error(answer.body);
      return answer.json<{ sessionId: string }>().sessionId;
    },
    page: async (sessionId) => {
      const html = (await call('GET', `/pay?sessionId=${sessionId}`)).body;
      return { sessionId, state: dataOf(html, 'state') ?? 'no page', html };
    },
    pay: async ({ sessionId, html }) => {
      const nth = Number(dataOf(html, 'try'));
      const encryptedCard = await encrypt(html, sessionId, nth);
      await call('POST', `/pay/${sessionId}/payments`, { reference: randomUUID(), try: nth, encryptedCard });
    },
    chargeCount: (amount) =>
      latest(store).filter((line) => line.amount === amount && line.outcome === 'approved').length,
    reversalCount: (amount) =>
      latest(store).filter((line) => line.amount === amount && line.outcome === 'reversed' && line.charged).length,
    stop: async () => {
      await acquirer.close();
      await gateway.stop();
      await processor.stop();
      await bank.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A `data-` attribute of the page. */
export function dataOf(html: string, name: string): string | undefined {
  return new RegExp(`data-${name}="([^"]*)"`).exec(html)?.[1]?.replaceAll('&quot;', '"');
}

/** An approved card, as the page encrypts it. */
export async function encrypt(html: string, sessionId: string, nth: number): Promise<string> {
  const key = JSON.parse(dataOf(html, 'encryption-key') ?? '') as JWK & { kid: string };
  return encryptCard(key, { sessionId, try: nth, expiresAt: dataOf(html, 'expires-at') });
}

/** The last line of each key counts. */
function latest(store: string): ChargeRecord[] {
  const lines = readFileSync(store, 'utf8').split('\n').filter(Boolean);
  const records = lines.map((line) => JSON.parse(line) as ChargeRecord);
  return [...new Map(records.map((record) => [record.key, record])).values()];
}

const headersOf = (url: string): Record<string, string> =>
  url.startsWith('/api') ? { merchantid: String(SITE.merchantId), merchantsiteid: String(SITE.siteId) } : {};

function aSession(amount: number): object {
  return {
    requestId: randomUUID(),
    merchantOrderId: `order-${amount}`,
    amount,
    currencyISOCode: 'ZAR',
    notificationUrl: 'https://shop.example/hook',
    returnUrl: 'https://shop.example/return',
    cancelUrl: 'https://shop.example/cart',
    origin: 'shop.example',
  };
}

/** Without them the gateway makes no session: nothing could sign its notifications. */
function signingKeys(): EventEnvelope[] {
  const [keyId, secretId] = [randomUUID(), randomUUID()];
  const ofSite = { ...SITE, mode: 'test' as const, revoked: false };
  const hash = hashApiKey(newApiKey('site', 'test'));
  return [
    anEvent(ApiKeyChangedV1, keyId, 1, { ...ofSite, keyId, kind: 'site', hash }),
    anEvent(WebhookSecretChangedV1, secretId, 1, { ...ofSite, secretId }),
  ];
}

function aSite() {
  return {
    ...SITE,
    merchantName: 'Karoo Books',
    siteReference: 'web',
    name: 'Web shop',
    requireApiKey: false,
    allowedHosts: ['shop.example'],
    keylessMode: 'test' as const,
  };
}
