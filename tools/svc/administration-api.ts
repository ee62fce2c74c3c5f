import { SvcError } from './svc-error.ts';
import { waitUntil } from './wait-until.ts';

/** A merchant as GET /admin/v1/merchants lists it. */
export interface ListedMerchant {
  readonly merchantId: number;
  readonly name: string;
  readonly sites: readonly ListedSite[];
}

export interface ListedSite {
  readonly siteId: number;
  readonly name: string;
  readonly siteReference: string;
  readonly requireApiKey: boolean;
  readonly allowedHosts: readonly string[];
}

/** What a new site is made from. */
export type NewSite = Omit<ListedSite, 'siteId'>;

export interface AdministrationApi {
  listMerchants(): Promise<ListedMerchant[]>;
  createMerchant(name: string): Promise<{ merchantId: number; name: string }>;
  createMerchantKey(merchantId: number): Promise<{ apiKey: string }>;
  createSite(merchantId: number, site: NewSite): Promise<{ siteId: number }>;
  createSiteKey(merchantId: number, siteId: number): Promise<{ apiKey: string }>;
  createWebhookSecret(merchantId: number, siteId: number): Promise<{ webhookSecret: string }>;
}

const REQUEST_MILLISECONDS = 10_000;
/** A service may still wait for what another one sends it right after the start: 503 until then. */
const NOT_READY_SECONDS = 30;

/** The administration API as seeding needs it. */
export function createAdministrationApi(url: string, adminKey: string): AdministrationApi {
  const call = (method: string, path: string, body?: unknown) =>
    request(`${url}/admin/v1${path}`, method, adminKey, body);
  const site = (merchantId: number, siteId: number) => `/merchants/${merchantId}/sites/${siteId}`;
  return {
    listMerchants: async () => ((await call('GET', '/merchants')) as { merchants: ListedMerchant[] }).merchants,
    createMerchant: async (name) =>
      (await call('POST', '/merchants', { name })) as { merchantId: number; name: string },
    createMerchantKey: async (merchantId) =>
      (await call('POST', `/merchants/${merchantId}/keys`, { mode: 'test' })) as { apiKey: string },
    createSite: async (merchantId, newSite) =>
      (await call('POST', `/merchants/${merchantId}/sites`, newSite)) as { siteId: number },
    createSiteKey: async (merchantId, siteId) =>
      (await call('POST', `${site(merchantId, siteId)}/keys`, { mode: 'test' })) as { apiKey: string },
    createWebhookSecret: async (merchantId, siteId) =>
      (await call('POST', `${site(merchantId, siteId)}/webhook-secrets`)) as { webhookSecret: string },
  };
}

async function request(url: string, method: string, adminKey: string, body: unknown): Promise<unknown> {
  let lastAnswer = 'no answer';
  const answer = await waitUntil(
    async () => {
      const response = await fetch(url, {
        method,
        headers: { 'x-admin-key': adminKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(REQUEST_MILLISECONDS),
      });
      const text = await response.text();
      lastAnswer = `${response.status} ${text.slice(0, 300)}`;
      if (response.status === 503) return undefined;
      if (!response.ok)
        throw new SvcError(`the demo merchants could not be made: ${method} ${url} answered ${lastAnswer}`);
      return { content: JSON.parse(text) as unknown };
    },
    { withinSeconds: NOT_READY_SECONDS, everyMilliseconds: 250 },
  );
  if (answer === undefined)
    throw new SvcError(`the demo merchants could not be made: ${method} ${url} still answers ${lastAnswer}`);
  return answer.content;
}
