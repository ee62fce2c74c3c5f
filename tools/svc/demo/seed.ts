/**
 * The merchants that exist after the first start, made through the public administration API, and demo.json with their keys,
 * for people and scripts. May run at every start: existing merchants and keys are kept.
 */
import type { AdministrationApi, ListedMerchant, ListedSite, NewSite } from './administration-api.ts';
import type { DemoCustomer, DemoPartner } from './seed-partner.ts';

export interface DemoMerchantPlan {
  readonly name: string;
  readonly sites: readonly NewSite[];
}

const LOOPBACK = ['127.0.0.1', 'localhost'];

/** Two merchants with two sites each; each second site works without a key, for calls from this machine. */
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
  /** Of the transformer of the demo's till, which serves the sites of the first merchant. */
  readonly transformerUrl: string;
  /** Opens the transformer: the header x-api-key. */
  readonly transformerApiKey: string;
  /** PEM file of the self-signed certificate that the addresses with https have: `curl --cacert`, NODE_EXTRA_CA_CERTS. */
  readonly certificateFile?: string;
  readonly adminKey: string;
  readonly merchants: readonly DemoMerchant[];
  readonly partner: DemoPartner;
  /** Of the partner; each can log in. */
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
 * Makes what is missing and returns the merchants with their keys. Keys are shown once, when they are made; so where
 * the known file does not have them (it was lost, or belongs to another database), new ones replace those of the
 * merchants and sites that exist. A merchant is recognised by its name, a site by its reference.
 */
export async function seed(
  api: AdministrationApi,
  plan: readonly DemoMerchantPlan[],
  known: readonly DemoMerchant[],
): Promise<DemoMerchant[]> {
  const existing = await api.listMerchants();
  const merchants: DemoMerchant[] = [];
  for (const wanted of plan) {
    const found = existing.find(({ name }) => name === wanted.name);
    merchants.push(await seedMerchant(api, wanted, found, known));
  }
  return merchants;
}

async function seedMerchant(
  api: AdministrationApi,
  wanted: DemoMerchantPlan,
  found: ListedMerchant | undefined,
  known: readonly DemoMerchant[],
): Promise<DemoMerchant> {
  const { merchantId } = found ?? (await api.createMerchant(wanted.name));
  // The number alone is not enough: another database gives the same numbers to other merchants.
  const before = found && known.find((merchant) => merchant.merchantId === merchantId && merchant.name === wanted.name);
  const apiKey = before?.apiKey ?? (await api.replaceMerchantKey(merchantId)).apiKey;
  const listed = found ? await api.listSites(merchantId) : [];
  const sites: DemoSite[] = [];
  for (const site of wanted.sites) {
    const existing = listed.find(({ siteReference }) => siteReference === site.siteReference);
    sites.push(await seedSite(api, merchantId, site, existing, before?.sites ?? []));
  }
  return { merchantId, name: wanted.name, apiKey, sites };
}

async function seedSite(
  api: AdministrationApi,
  merchantId: number,
  wanted: NewSite,
  found: ListedSite | undefined,
  known: readonly DemoSite[],
): Promise<DemoSite> {
  const created = found ? undefined : await api.createSite(merchantId, wanted);
  const { siteId } = found ?? created!;
  const before = found && known.find((site) => site.siteId === siteId && site.siteReference === wanted.siteReference);
  return {
    siteId,
    siteReference: wanted.siteReference,
    apiKey: before?.apiKey ?? (await api.replaceSiteKey(merchantId, siteId)).apiKey,
    webhookSecret:
      before?.webhookSecret ??
      created?.webhookSecrets.test ??
      (await api.replaceWebhookSecret(merchantId, siteId)).webhookSecret,
    requireApiKey: found?.requireApiKey ?? wanted.requireApiKey,
  };
}
