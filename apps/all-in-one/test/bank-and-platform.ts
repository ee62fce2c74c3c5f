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

/** hosted-gateway and payment-processor with an unreliable bank, and a clock that the test advances. */
export interface BankAndPlatform {
  readonly clock: ManualClock;
  readonly acquirer: UnreliableAcquirer;
  readonly processor: TestService;
  createSession(amount: number): Promise<string>;
  /** Loads the payment page of a session. */
  loadPage(sessionId: string): Promise<PageSnapshot>;
  /** Submits the form of a page with an approved card. */
  pay(page: PageSnapshot): Promise<void>;
  /** Number of charges of this amount in the bank's records, without reversed charges. */
  chargeCount(amount: number): number;
  /** Number of reversed charges of this amount in the bank's records. */
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
  const chargesFile = join(folder, 'charges.jsonl');
  const bank = await startSimulatedAcquirer({ SVC_ACQUIRER_STORE: chargesFile });
  const acquirer = await startUnreliableAcquirer(bank.url, faultOf);
  const [broker, clock] = [new EmbeddedBroker(), new ManualClock()];
  const adminKey = randomBytes(32).toString('base64url');
  const processor = await startTestService(paymentProcessorService, {
    broker,
    clock,
    env: {
      SVC_SEALING_KEY: randomBytes(32).toString('base64url'),
      SVC_CARD_FINGERPRINT_KEYS: randomBytes(32).toString('base64url'),
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
    env: {
      SVC_GATEWAY_URL: 'https://pay.example',
      SVC_CODES_URL: 'https://pay.example',
      SVC_ADMIN_KEY: adminKey,
      SVC_CHALLENGE_KEYS: randomBytes(32).toString('base64url'),
    },
  });
  await gateway.deliver(anEvent(SiteChangedV1, '5001', 1, newSitePayload()), ...signingKeyEvents());
  // A payment needs the names of its merchant and site.
  await processor.superuser.query(
    `INSERT INTO known_merchants (merchant_id, name, features, grants, minimum_amount, fees, version)
     VALUES ($1, 'Karoo Books', '{}', '[]', 100, '{}', 1)`,
    [SITE.merchantId],
  );
  await processor.superuser.query(
    `INSERT INTO known_sites (site_id, merchant_id, site_reference, version) VALUES ($1, $2, 'web', 1)`,
    [SITE.siteId, SITE.merchantId],
  );
  const relayAllEvents = async (): Promise<void> => {
    await processor.relay();
    await gateway.relay();
  };
  await relayAllEvents();
  const request = (method: 'GET' | 'POST', url: string, payload?: object) =>
    gateway.service.app.inject({ method, url, ...(payload ? { payload, headers: requestHeaders(url) } : {}) });

  return {
    clock,
    acquirer,
    processor,
    relayAllEvents,
    createSession: async (amount) => {
      const response = await request('POST', '/api/v3.1/sessions', newSessionRequest(amount));
      if (response.statusCode !== 201) throw new Error(response.body);
      return response.json<{ sessionId: string }>().sessionId;
    },
    loadPage: async (sessionId) => {
      const html = (await request('GET', `/pay?sessionId=${sessionId}`)).body;
      return { sessionId, state: dataAttribute(html, 'state') ?? 'no page', html };
    },
    pay: async ({ sessionId, html }) => {
      const attemptNumber = Number(dataAttribute(html, 'payment-number'));
      const encryptedCard = await encryptForPage(html, sessionId, attemptNumber);
      await request('POST', `/pay/${sessionId}/payments`, {
        reference: randomUUID(),
        paymentNumber: attemptNumber,
        encryptedCard,
      });
    },
    chargeCount: (amount) =>
      readChargeRecords(chargesFile).filter((charge) => charge.amount === amount && charge.outcome === 'approved')
        .length,
    reversalCount: (amount) =>
      readChargeRecords(chargesFile).filter(
        (charge) => charge.amount === amount && charge.outcome === 'reversed' && charge.charged,
      ).length,
    stop: async () => {
      await acquirer.close();
      await gateway.stop();
      await processor.stop();
      await bank.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The value of a `data-` attribute in the page. */
export function dataAttribute(html: string, name: string): string | undefined {
  return new RegExp(`data-${name}="([^"]*)"`).exec(html)?.[1]?.replaceAll('&quot;', '"');
}

/** Encrypts an approved card with the key and for the session of the page, as the script of the page does. */
export async function encryptForPage(html: string, sessionId: string, attemptNumber: number): Promise<string> {
  const key = JSON.parse(dataAttribute(html, 'encryption-key') ?? '') as JWK & { kid: string };
  return encryptCard(key, { sessionId, paymentNumber: attemptNumber, expiresAt: dataAttribute(html, 'expires-at') });
}

/** Reads the bank's records. The last line with an idempotency key is the current state of the charge with that key. */
function readChargeRecords(file: string): ChargeRecord[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const records = lines.map((line) => JSON.parse(line) as ChargeRecord);
  return [...new Map(records.map((record) => [record.key, record])).values()];
}

const requestHeaders = (url: string): Record<string, string> =>
  url.startsWith('/api') ? { merchantid: String(SITE.merchantId), merchantsiteid: String(SITE.siteId) } : {};

function newSessionRequest(amount: number): object {
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

/** Events of an API key and a webhook secret. The gateway refuses a session if no key can sign its notifications. */
function signingKeyEvents(): EventEnvelope[] {
  const [keyId, secretId] = [randomUUID(), randomUUID()];
  const siteFields = { ...SITE, mode: 'test' as const, revoked: false };
  const hash = hashApiKey(newApiKey('site', 'test'));
  return [
    anEvent(ApiKeyChangedV1, keyId, 1, { ...siteFields, keyId, kind: 'site', hash }),
    anEvent(WebhookSecretChangedV1, secretId, 1, { ...siteFields, secretId }),
  ];
}

function newSitePayload() {
  return {
    ...SITE,
    merchantName: 'Karoo Books',
    siteReference: 'web',
    name: 'Web shop',
    requireApiKey: false,
    allowedHosts: ['shop.example'],
    keylessMode: 'test' as const,
    webhookEnabled: false,
    challengePayers: false,
  };
}
