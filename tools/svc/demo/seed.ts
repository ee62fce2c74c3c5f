/**
 * Creates the demo's merchants through the administration API, and returns the keys for demo.json. Runs at every start.
 * Existing merchants and keys do not change.
 */
import type { AdministrationApi, ListedMerchant, ListedSite, NewSite } from './administration-api.ts';
import type { DemoCustomer, DemoPartner } from './seed-partner.ts';

interface DemoMerchantPlan {
  readonly name: string;
  readonly sites: readonly NewSite[];
}

const LOOPBACK = ['127.0.0.1', 'localhost'];

/** Every other site accepts keyless requests from this machine. */
export const DEMO_MERCHANTS: readonly DemoMerchantPlan[] = [
  {
    name: 'Karoo Roastery',
    sites: [
      { name: 'Karoo Roastery Online', siteReference: 'KAROO-ONLINE', requireApiKey: true, allowedHosts: [] },
      {
        name: 'Karoo Roastery Market Stall',
        siteReference: 'KAROO-MARKET',
        requireApiKey: false,
        allowedHosts: LOOPBACK,
      },
    ],
  },
  {
    name: 'Kommetjie Surf & Wetsuit',
    sites: [
      { name: 'Kommetjie Surf Online', siteReference: 'SURF-ONLINE', requireApiKey: true, allowedHosts: [] },
      { name: 'Kommetjie Surf Beach Shop', siteReference: 'SURF-BEACH', requireApiKey: false, allowedHosts: LOOPBACK },
    ],
  },
];

/** The content of demo.json. Keys are of mode "test". */
export interface Demo {
  readonly apiUrl: string;
  readonly gatewayUrl: string;
  readonly shopUrl: string;
  readonly adminUrl: string;
  /** The transformer of the demo's till, which serves the sites of the first merchant. */
  readonly transformerUrl: string;
  /** The header x-api-key for the transformer. */
  readonly transformerApiKey: string;
  /** PEM file of the self-signed certificate of the https addresses: for `curl --cacert` and NODE_EXTRA_CA_CERTS. */
  readonly certificateFile?: string;
  readonly adminKey: string;
  readonly merchants: readonly DemoMerchant[];
  readonly partner: DemoPartner;
  readonly customers: readonly DemoCustomer[];
}

export interface DemoMerchant {
  readonly merchantId: number;
  readonly name: string;
  readonly apiKey: string;
  readonly sites: readonly DemoSite[];
}

export interface DemoSite {
  readonly siteId: number;
  readonly siteReference: string;
  readonly apiKey: string;
  /** Signs the webhooks of this site: `whsec_` and base64 (E4). */
  readonly webhookSecret: string;
  readonly requireApiKey: boolean;
}

/**
 * Creates missing merchants and sites, and returns all with their keys. The API returns a key only once. If demo.json
 * does not contain it (the file was lost, or belongs to another database), this function creates a new key. A merchant
 * is identified by its name, a site by its reference.
 */
export async function seed(
  api: AdministrationApi,
  plans: readonly DemoMerchantPlan[],
  stored: readonly DemoMerchant[],
): Promise<DemoMerchant[]> {
  const existing = await api.listMerchants();
  const merchants: DemoMerchant[] = [];
  for (const plan of plans) {
    const found = existing.find(({ name }) => name === plan.name);
    merchants.push(await seedMerchant(api, plan, found, stored));
  }
  return merchants;
}

async function seedMerchant(
  api: AdministrationApi,
  { name, sites: plans }: DemoMerchantPlan,
  found: ListedMerchant | undefined,
  stored: readonly DemoMerchant[],
): Promise<DemoMerchant> {
  const { merchantId } = found ?? (await api.createMerchant(name));
  // The id alone is not enough, because another database assigns the same ids to other merchants.
  const known = found && stored.find((merchant) => merchant.merchantId === merchantId && merchant.name === name);
  const apiKey = known?.apiKey ?? (await api.replaceMerchantKey(merchantId)).apiKey;
  const existingSites = found ? await api.listSites(merchantId) : [];
  const sites: DemoSite[] = [];
  for (const plan of plans) {
    const existing = existingSites.find(({ siteReference }) => siteReference === plan.siteReference);
    sites.push(await seedSite(api, merchantId, plan, existing, known?.sites ?? []));
  }
  return { merchantId, name, apiKey, sites };
}

async function seedSite(
  api: AdministrationApi,
  merchantId: number,
  plan: NewSite,
  found: ListedSite | undefined,
  stored: readonly DemoSite[],
): Promise<DemoSite> {
  const created = found ? undefined : await api.createSite(merchantId, plan);
  const { siteId } = found ?? created!;
  const { siteReference } = plan;
  const known = found && stored.find((site) => site.siteId === siteId && site.siteReference === siteReference);
  return {
    siteId,
    siteReference,
    apiKey: known?.apiKey ?? (await api.replaceSiteKey(merchantId, siteId)).apiKey,
    webhookSecret:
      known?.webhookSecret ??
      created?.webhookSecrets.test ??
      (await api.replaceWebhookSecret(merchantId, siteId)).webhookSecret,
    requireApiKey: found?.requireApiKey ?? plan.requireApiKey,
  };
}
