import { PATIENCE } from '../base/patience.ts';
import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';

/** A merchant as GET /admin/v1/merchants lists it. */
export interface ListedMerchant {
  readonly merchantId: number;
  readonly name: string;
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

/** What making a site answers, of what seeding needs. */
export interface CreatedSite {
  readonly siteId: number;
  readonly webhookSecrets: { readonly test: string; readonly live: string };
}

export interface AdministrationApi {
  listMerchants(): Promise<ListedMerchant[]>;
  /** All sites of a merchant. */
  listSites(merchantId: number): Promise<readonly ListedSite[]>;
  createMerchant(name: string): Promise<{ merchantId: number; name: string }>;
  /** The webhook secrets are shown this once. */
  createSite(merchantId: number, site: NewSite): Promise<CreatedSite>;
  /** Revokes the merchant's keys of mode "test" and makes a new one; it is shown this once. */
  replaceMerchantKey(merchantId: number): Promise<{ apiKey: string }>;
  replaceSiteKey(merchantId: number, siteId: number): Promise<{ apiKey: string }>;
  replaceWebhookSecret(merchantId: number, siteId: number): Promise<{ webhookSecret: string }>;
}

/** The same of partners. */
export interface PartnerAdministrationApi {
  listOrganisations(): Promise<ListedOrganisation[]>;
  createOrganisation(name: string): Promise<ListedOrganisation>;
  /** Revokes the partner's keys of mode "test" and makes a new one; it is shown this once. */
  replacePartnerKey(organisationId: string): Promise<{ apiKey: string }>;
  replaceApiToken(organisationId: string): Promise<{ apiToken: string }>;
}

/** A partner as GET /admin/v1/organisations lists it. */
export interface ListedOrganisation {
  readonly organisationId: string;
  readonly name: string;
}

const REQUEST_MILLISECONDS = 10_000 * PATIENCE;
/** A service may still wait for what another one sends it right after the start: 503 until then. */
const NOT_READY_SECONDS = 30 * PATIENCE;

/** Lists come in pages; a local platform with more pages than this is not one that needs a demo. */
const PAGES = 200;

/** The administration API as seeding needs it. */
export function createAdministrationApi(url: string, adminKey: string): AdministrationApi & PartnerAdministrationApi {
  const call = (method: string, path: string, body?: unknown) =>
    request(`${url}/admin/v1${path}`, method, adminKey, body);
  const siteOf = (merchantId: number, siteId: number) => `/merchants/${merchantId}/sites/${siteId}`;

  async function listAll<Listed>(list: 'merchants' | 'organisations', first: number | string): Promise<Listed[]> {
    const all: Listed[] = [];
    let after: string | number | undefined = first;
    for (let page = 0; page < PAGES && after !== undefined; page++) {
      const answer = (await call('GET', `/${list}?after=${after}`)) as Record<string, unknown>;
      all.push(...(answer[list] as Listed[]));
      after = answer['nextAfter'] as typeof after;
    }
    return all;
  }

  /** The old ones go first: only so many may be valid at a time, and the oldest of them would go on signing webhooks (E3). */
  async function replace(path: string): Promise<unknown> {
    // `keys`, `apiTokens` or `secrets`.
    const [listed = []] = Object.values((await call('GET', path)) as Record<string, ListedCredential[]>);
    for (const { keyId, tokenId, secretId, mode, revoked } of listed) {
      if (mode === 'test' && !revoked) await call('DELETE', `${path}/${keyId ?? tokenId ?? secretId}`);
    }
    return call('POST', path, { mode: 'test' });
  }

  return {
    listMerchants: () => listAll('merchants', 0),
    listSites: async (merchantId) =>
      ((await call('GET', `/merchants/${merchantId}`)) as { sites: readonly ListedSite[] }).sites,
    createMerchant: async (name) =>
      (await call('POST', '/merchants', { name })) as { merchantId: number; name: string },
    createSite: async (merchantId, newSite) =>
      (await call('POST', `/merchants/${merchantId}/sites`, newSite)) as CreatedSite,
    replaceMerchantKey: async (merchantId) => (await replace(`/merchants/${merchantId}/keys`)) as { apiKey: string },
    replaceSiteKey: async (merchantId, siteId) =>
      (await replace(`${siteOf(merchantId, siteId)}/keys`)) as { apiKey: string },
    replaceWebhookSecret: async (merchantId, siteId) =>
      (await replace(`${siteOf(merchantId, siteId)}/webhook-secrets`)) as { webhookSecret: string },
    listOrganisations: () => listAll('organisations', '00000000-0000-0000-0000-000000000000'),
    createOrganisation: async (name) => (await call('POST', '/organisations', { name })) as ListedOrganisation,
    replacePartnerKey: async (id) => (await replace(`/organisations/${id}/keys`)) as { apiKey: string },
    replaceApiToken: async (id) => (await replace(`/organisations/${id}/api-tokens`)) as { apiToken: string },
  };
}

interface ListedCredential {
  readonly keyId?: string;
  readonly tokenId?: string;
  readonly secretId?: string;
  readonly mode: string;
  readonly revoked: boolean;
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
      if (!response.ok) throw new SvcError(`the demo could not be made: ${method} ${url} answered ${lastAnswer}`);
      return { content: text === '' ? undefined : (JSON.parse(text) as unknown) };
    },
    { withinSeconds: NOT_READY_SECONDS, everyMilliseconds: 250 },
  );
  if (answer === undefined)
    throw new SvcError(`the demo could not be made: ${method} ${url} still answers ${lastAnswer}`);
  return answer.content;
}
