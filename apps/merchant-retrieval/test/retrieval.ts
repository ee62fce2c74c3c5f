import { randomInt, randomUUID } from 'node:crypto';
import { hashApiKey, newApiKey } from '@svc/auth';
import {
  ApiKeyChangedV1,
  type EventEnvelope,
  type MerchantPayment,
  type Mode,
  type PaymentSnapshot,
  SiteChangedV1,
} from '@svc/contracts';
import { newPaymentReference } from '@svc/kernel';
import { anAnonymousPayment, anEvent, startTestService, type TestService } from '@svc/testing';
import { merchantRetrievalService } from '../src/index.js';

export const ADMIN_KEY = 'an administration key for tests 1';
const PATH = '/business/api/v1/merchants';

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export interface Retrieval extends TestService {
  /** @param path the part of the path after `/business/api/v1/merchants` */
  get(path: string, headers?: Record<string, string>): Promise<HttpResponse>;
  /** Returns the payments in the response. Throws if the status is not 200. */
  list(path: string, apiKey: string): Promise<MerchantPayment[]>;
}

/** Starts the service. The call rate of keys is not limited unless `env` sets a limit. */
export async function startRetrieval(env: Record<string, string> = {}): Promise<Retrieval> {
  const test = await startTestService(merchantRetrievalService, {
    env: { SVC_ADMIN_KEY: ADMIN_KEY, SVC_RETRIEVAL_BURST: '100000', ...env },
  });
  const get: Retrieval['get'] = async (path, headers = {}) => {
    const response = await test.service.app.inject({ method: 'GET', url: `${PATH}${path}`, headers });
    return { status: response.statusCode, headers: response.headers, text: response.body };
  };
  return {
    ...test,
    get,
    list: async (path, apiKey) => {
      const { status, text } = await get(path, { 'x-api-key': apiKey });
      if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
      return JSON.parse(text) as MerchantPayment[];
    },
  };
}

/** A merchant with two sites and several keys. */
export interface Merchant {
  readonly merchantId: number;
  /** The ids of the merchant’s two sites. */
  readonly sites: readonly [number, number];
  readonly keys: Readonly<Record<'merchant' | 'live' | 'site 1' | 'site 2' | 'revoked', string>>;
}

let lastId = randomInt(1_000_000);

/** Creates a merchant by delivering the events that identity would publish. */
export async function createMerchant(service: {
  deliver(...events: EventEnvelope[]): Promise<void>;
}): Promise<Merchant> {
  const merchantId = 1_000_000 + ++lastId;
  const sites = [5_000_000 + ++lastId, 5_000_000 + ++lastId] as const;
  const keys = {
    merchant: newApiKey('merchant', 'test'),
    live: newApiKey('merchant', 'live'),
    'site 1': newApiKey('site', 'test'),
    'site 2': newApiKey('site', 'test'),
    revoked: newApiKey('merchant', 'test'),
  };
  const keyEvent = (apiKey: string, mode: Mode, siteId?: number, revoked = false) => {
    const keyId = randomUUID();
    const kind = siteId === undefined ? ('merchant' as const) : ('site' as const);
    const owner = { merchantId, ...(siteId === undefined ? {} : { siteId }) };
    return anEvent(ApiKeyChangedV1, keyId, 1, { keyId, kind, mode, ...owner, hash: hashApiKey(apiKey), revoked });
  };
  await service.deliver(
    ...sites.map((siteId, index) =>
      anEvent(SiteChangedV1, String(siteId), 1, {
        merchantId,
        siteId,
        merchantName: 'Karoo Books',
        siteReference: `SITE-${index + 1}`,
        name: `Site ${index + 1}`,
        requireApiKey: true,
        allowedHosts: [],
        keylessMode: 'test',
        webhookEnabled: false,
        challengePayers: false,
      }),
    ),
    keyEvent(keys.merchant, 'test'),
    keyEvent(keys.live, 'live'),
    keyEvent(keys['site 1'], 'test', sites[0]),
    keyEvent(keys['site 2'], 'test', sites[1]),
    keyEvent(keys.revoked, 'test', undefined, true),
  );
  return { merchantId, sites, keys };
}

/** Returns the id under which the service has stored a key. */
export async function getKeyId({ dataSource }: TestService, apiKey: string): Promise<string> {
  const [row] = await dataSource.query<[{ keyId: string }]>(
    `SELECT key_id AS "keyId" FROM known_api_keys WHERE hash = $1`,
    [hashApiKey(apiKey)],
  );
  return row.keyId;
}

/** Creates a hosted payment at this time, by default at the merchant's first site. */
export function newPaymentAt(
  { merchantId, sites }: Merchant,
  at: Date,
  overrides: Partial<PaymentSnapshot> = {},
): PaymentSnapshot {
  return {
    ...anAnonymousPayment(),
    paymentReference: newPaymentReference(at),
    paymentUTCDate: at.toISOString(),
    merchantId,
    siteId: sites[0],
    siteReference: 'SITE-1',
    ...overrides,
  };
}

/** Returns the paths of the three queries that find a payment, without the path of its merchant or site. */
export function queryPathsOf(payment: PaymentSnapshot): readonly string[] {
  if (payment.source.kind !== 'session') throw new Error('The payment is not hosted.');
  const { sessionId, merchantOrderId } = payment.source;
  return [
    `/invoices/${sessionId}/payments`,
    `/payments?externalReference=${encodeURIComponent(merchantOrderId)}`,
    `/payments/${payment.paymentReference}`,
  ];
}
