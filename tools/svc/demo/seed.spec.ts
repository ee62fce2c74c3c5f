import type { AdministrationApi, ListedMerchant, ListedSite } from './administration-api.ts';
import { DEMO_MERCHANTS, seed } from './seed.ts';

describe('the demo merchants', () => {
  it('are two merchants with two sites each, whose second site accepts keyless requests from this machine', () => {
    expect(DEMO_MERCHANTS.map(({ sites }) => sites.map(({ requireApiKey }) => requireApiKey))).toEqual([
      [true, false],
      [true, false],
    ]);
    for (const { sites } of DEMO_MERCHANTS) expect(sites[1]?.allowedHosts).toEqual(['127.0.0.1', 'localhost']);
  });

  it('are created with their own keys', async () => {
    const platform = createEmptyPlatform();
    const merchants = await seed(platform.api, DEMO_MERCHANTS, []);
    expect(merchants.map(({ name }) => name)).toEqual(DEMO_MERCHANTS.map(({ name }) => name));
    const keys = merchants.flatMap(({ apiKey, sites }) => [
      apiKey,
      ...sites.flatMap((site) => [site.apiKey, site.webhookSecret]),
    ]);
    expect(keys).toHaveLength(10);
    expect(new Set(keys).size).toBe(10);
    // Seeding uses the secret that the creation of the site returned. With a second secret, two secrets
    // would sign each webhook.
    for (const { sites } of merchants)
      for (const { siteId, webhookSecret } of sites) expect(webhookSecret).toBe(`whsec_${siteId + 1}`);
  });

  it('do not change when demo.json is complete', async () => {
    const platform = createEmptyPlatform();
    const first = await seed(platform.api, DEMO_MERCHANTS, []);
    const writesBefore = platform.countWrites();
    expect(await seed(platform.api, DEMO_MERCHANTS, first)).toEqual(first);
    expect(platform.countWrites()).toBe(writesBefore);
  });

  it('get new keys, and are not created twice, when demo.json was lost', async () => {
    const platform = createEmptyPlatform();
    const first = await seed(platform.api, DEMO_MERCHANTS, []);
    const second = await seed(platform.api, DEMO_MERCHANTS, []);
    expect(platform.merchants).toHaveLength(2);
    expect(platform.merchants.map(({ sites }) => sites.length)).toEqual([2, 2]);
    expect(second.map(({ merchantId }) => merchantId)).toEqual(first.map(({ merchantId }) => merchantId));
    expect(second[0]?.apiKey).not.toBe(first[0]?.apiKey);
    expect(second[0]?.sites[0]?.webhookSecret).not.toBe(first[0]?.sites[0]?.webhookSecret);
  });

  it('get new keys when demo.json belongs to another database with the same ids', async () => {
    const otherDatabase = (await seed(createEmptyPlatform().api, DEMO_MERCHANTS, [])).map((merchant) => ({
      ...merchant,
      apiKey: 'of another database',
    }));
    const platform = createEmptyPlatform();
    const merchants = await seed(platform.api, DEMO_MERCHANTS, otherDatabase);
    expect(merchants.map(({ merchantId }) => merchantId)).toEqual(otherDatabase.map(({ merchantId }) => merchantId));
    expect(merchants.map(({ apiKey }) => apiKey)).not.toContain('of another database');
  });

  it('are completed when a start was interrupted after the first merchant', async () => {
    const platform = createEmptyPlatform();
    await platform.api.createMerchant(DEMO_MERCHANTS[0]?.name ?? '');
    const merchants = await seed(platform.api, DEMO_MERCHANTS, []);
    expect(platform.merchants).toHaveLength(2);
    expect(merchants.map(({ sites }) => sites.length)).toEqual([2, 2]);
  });
});

/** The administration API of a platform in memory: ids are sequential, as in a database. */
function createEmptyPlatform() {
  const merchants: (ListedMerchant & { sites: ListedSite[] })[] = [];
  let lastId = 0;
  let writes = 0;
  const nextId = () => {
    writes++;
    return ++lastId;
  };
  const api: AdministrationApi = {
    listMerchants: async () => merchants.map(({ merchantId, name }) => ({ merchantId, name })),
    listSites: async (merchantId) =>
      structuredClone(merchants.find((merchant) => merchant.merchantId === merchantId)?.sites ?? []),
    createMerchant: async (name) => {
      const merchant = { merchantId: nextId(), name, sites: [] };
      merchants.push(merchant);
      return merchant;
    },
    replaceMerchantKey: async () => ({ apiKey: `merchant-key-${nextId()}` }),
    createSite: async (merchantId, site) => {
      const created = { siteId: nextId(), ...site };
      merchants.find((merchant) => merchant.merchantId === merchantId)?.sites.push(created);
      return { ...created, webhookSecrets: { test: `whsec_${nextId()}`, live: `whsec_live_${nextId()}` } };
    },
    replaceSiteKey: async () => ({ apiKey: `site-key-${nextId()}` }),
    replaceWebhookSecret: async () => ({ webhookSecret: `whsec_${nextId()}` }),
  };
  return { api, merchants, countWrites: () => writes };
}
