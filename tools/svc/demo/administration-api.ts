import { createAdministration, readList } from '../administration-api/administration.ts';
import { PATIENCE } from '../base/patience.ts';

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

export type NewSite = Omit<ListedSite, 'siteId'>;

/** The members of the response that seeding needs. */
export interface CreatedSite {
  readonly siteId: number;
  readonly webhookSecrets: { readonly test: string; readonly live: string };
}

/** A partner as GET /admin/v1/organisations lists it. */
interface ListedOrganisation {
  readonly organisationId: string;
  readonly name: string;
}

/** The requests to the administration API that seeding the demo data needs. */
export function createAdministrationApi(url: string, adminKey: string) {
  const api = createAdministration(url, adminKey, 'the demo data could not be created', {
    patience: PATIENCE,
    notReadySeconds: 30 * PATIENCE,
  });

  /**
   * Revokes the credentials of mode "test", then creates a new one. Only the response to its creation contains the
   * secret. The function revokes first, because the number of valid credentials is limited, and an old secret would
   * continue to sign webhooks (E3).
   */
  async function replaceCredential<Created>(path: string): Promise<Created> {
    // The response has one member, whose name depends on the path: `keys`, `apiTokens` or `secrets`.
    const [credentials = []] = Object.values((await api.call('GET', path)) as Record<string, ListedCredential[]>);
    for (const { keyId, tokenId, secretId, mode, revoked } of credentials) {
      if (mode === 'test' && !revoked) await api.call('DELETE', `${path}/${keyId ?? tokenId ?? secretId}`);
    }
    return (await api.call('POST', path, { mode: 'test' })) as Created;
  }
  const sitePath = (merchantId: number, siteId: number) => `/merchants/${merchantId}/sites/${siteId}`;

  return {
    listMerchants: async () => (await readList(api, 'merchants', 0)) as ListedMerchant[],
    listSites: async (merchantId: number) =>
      ((await api.call('GET', `/merchants/${merchantId}`)) as { sites: readonly ListedSite[] }).sites,
    createMerchant: async (name: string) => (await api.call('POST', '/merchants', { name })) as ListedMerchant,
    createSite: async (merchantId: number, site: NewSite) =>
      (await api.call('POST', `/merchants/${merchantId}/sites`, site)) as CreatedSite,
    replaceMerchantKey: (merchantId: number) => replaceCredential<{ apiKey: string }>(`/merchants/${merchantId}/keys`),
    replaceSiteKey: (merchantId: number, siteId: number) =>
      replaceCredential<{ apiKey: string }>(`${sitePath(merchantId, siteId)}/keys`),
    replaceWebhookSecret: (merchantId: number, siteId: number) =>
      replaceCredential<{ webhookSecret: string }>(`${sitePath(merchantId, siteId)}/webhook-secrets`),
    // The first page begins after the lowest UUID.
    listOrganisations: async () =>
      (await readList(api, 'organisations', '00000000-0000-0000-0000-000000000000')) as ListedOrganisation[],
    createOrganisation: async (name: string) =>
      (await api.call('POST', '/organisations', { name })) as ListedOrganisation,
    replacePartnerKey: (id: string) => replaceCredential<{ apiKey: string }>(`/organisations/${id}/keys`),
    replaceApiToken: (id: string) => replaceCredential<{ apiToken: string }>(`/organisations/${id}/api-tokens`),
  };
}

type PartnerMethod = 'listOrganisations' | 'createOrganisation' | 'replacePartnerKey' | 'replaceApiToken';
export type PartnerAdministrationApi = Pick<ReturnType<typeof createAdministrationApi>, PartnerMethod>;
export type AdministrationApi = Omit<ReturnType<typeof createAdministrationApi>, PartnerMethod>;

interface ListedCredential {
  readonly keyId?: string;
  readonly tokenId?: string;
  readonly secretId?: string;
  readonly mode: string;
  readonly revoked: boolean;
}
