import type { Administration } from '../administration-api/administration.ts';
import {
  createOwnerLink,
  createSignInLink,
  DEMO_CUSTOMERS,
  DEMO_MERCHANTS,
  DEMO_OWNER,
  DEMO_PARTNER,
  DEMO_ROASTERY,
  GUIDE_OWNER,
  type MainApi,
  seed,
} from './seed.ts';

describe('the demo data', () => {
  it('is two merchants with two sites each, whose second site accepts keyless requests from this machine', () => {
    expect(DEMO_MERCHANTS.map(({ sites }) => sites.map(({ requireApiKey }) => requireApiKey))).toEqual([
      [true, false],
      [true, false],
    ]);
    for (const { sites } of DEMO_MERCHANTS) expect(sites[1]?.allowedHosts).toEqual(['127.0.0.1', 'localhost']);
  });

  it('is created with keys, and with customers who have passwords', async () => {
    const { admin, mainApi } = createEmptyPlatform();
    const { merchants, partner, customers } = await seed(admin, mainApi, undefined);
    expect(merchants.map(({ name }) => name)).toEqual(DEMO_MERCHANTS.map(({ name }) => name));
    const keys = [
      partner.apiKey,
      partner.apiToken,
      ...merchants.flatMap(({ apiKey, sites }) => [
        apiKey,
        ...sites.flatMap((site) => [site.apiKey, site.webhookSecret]),
      ]),
    ];
    expect(new Set(keys.filter((key) => typeof key === 'string')).size).toBe(12);
    expect(partner.name).toBe(DEMO_PARTNER);
    expect(customers.map(({ email }) => email)).toEqual(DEMO_CUSTOMERS.map(({ email }) => email));
    for (const { password } of customers) expect(password.length).toBeGreaterThanOrEqual(16);
    expect(new Set(customers.map(({ password }) => password)).size).toBe(customers.length);
  });

  it('has an owner of the roastery and one of the first merchant, who have accepted the invitation', async () => {
    const { admin, mainApi, people } = createEmptyPlatform();
    const { roastery, merchants } = await seed(admin, mainApi, undefined);
    expect(roastery).toMatchObject({ name: DEMO_ROASTERY.name, sites: [{}, {}, {}] });
    expect(people).toEqual([
      { merchantId: roastery.merchantId, email: DEMO_OWNER, role: 'owner' },
      { merchantId: merchants[0]!.merchantId, email: GUIDE_OWNER, role: 'owner' },
    ]);
    expect(await createSignInLink(admin, DEMO_OWNER)).toMatch(/^\/sign-in\/links\/link-\d+$/);
  });

  it('gets its second owner also if it is older than this owner', async () => {
    const { admin, people } = createEmptyPlatform();
    const call: Administration['call'] = (method, path, body) =>
      path === '/people/sign-in-link' && people.length === 0 && !invitations.includes(7)
        ? Promise.reject(new Error('refused (404)'))
        : admin.call(method, path, body).finally(() => path === '/merchants/7/people' && invitations.push(7));
    const invitations: number[] = [];
    expect(await createOwnerLink({ ...admin, call }, 7, GUIDE_OWNER)).toMatch(/^\/sign-in\/links\/link-\d+$/);
    expect(people).toEqual([{ merchantId: 7, email: GUIDE_OWNER, role: 'owner' }]);
  });

  it('does not change when demo.json is complete', async () => {
    const { admin, mainApi, countWrites } = createEmptyPlatform();
    const first = await seed(admin, mainApi, undefined);
    const writesBefore = countWrites();
    expect(await seed(admin, mainApi, first)).toEqual(first);
    expect(countWrites()).toBe(writesBefore);
  });

  it('is created again, with other e-mail addresses, when demo.json was lost', async () => {
    const { admin, mainApi } = createEmptyPlatform();
    const first = await seed(admin, mainApi, undefined);
    const second = await seed(admin, mainApi, undefined);
    expect(second.merchants[0]?.apiKey).not.toBe(first.merchants[0]?.apiKey);
    expect(second.partner.apiKey).not.toBe(first.partner.apiKey);
    for (const { email } of second.customers) expect(email).toMatch(/^\w+\+[0-9a-f]{6}@blue-wallet\.example$/);
  });

  it('is created when demo.json belongs to another database with the same ids', async () => {
    const other = createEmptyPlatform();
    const otherDatabase = await seed(other.admin, other.mainApi, undefined);
    const { admin, mainApi, countWrites } = createEmptyPlatform();
    await admin.call('POST', '/merchants', { name: 'another' });
    await seed(admin, mainApi, otherDatabase);
    expect(countWrites()).toBe(other.countWrites() + 1);
  });
});

/** A platform in memory: ids are sequential, as in a database. */
function createEmptyPlatform() {
  const lists: Record<string, object[]> = { merchants: [], organisations: [] };
  const emails = new Set<unknown>();
  const invited: { merchantId: number; email: unknown; role: unknown }[] = [];
  const people: typeof invited = [];
  let writes = 0;
  const admin: Administration = {
    text: (path) => Promise.reject(new Error(`unexpected request for ${path}`)),
    upload: (_method, path) => Promise.reject(new Error(`unexpected upload to ${path}`)),
    call: async (method, path, body) => {
      const [, list = ''] = /^\/(\w+)(?:\?|$)/.exec(path) ?? [];
      if (method === 'GET') return { [list]: lists[list] };
      const id = ++writes;
      const [, merchantId] = /^\/merchants\/(\d+)\/people$/.exec(path) ?? [];
      if (merchantId !== undefined) {
        const { email, role } = body as { email: unknown; role: unknown };
        invited.push({ merchantId: Number(merchantId), email, role });
        return { path: `/invitations/invitation-${id}` };
      }
      if (path === '/people/sign-in-link') {
        people.push(...invited.splice(0));
        return { path: `/sign-in/links/link-${id}` };
      }
      if (path.endsWith('/sites')) return { siteId: id, webhookSecrets: { test: `whsec_${id}` } };
      if (path.endsWith('/keys')) return { apiKey: `key-${id}` };
      if (path.endsWith('/api-tokens')) return { apiToken: `token-${id}` };
      const created = { ...body, merchantId: id, organisationId: `organisation-${id}` };
      lists[list]!.push(created);
      return created;
    },
  };
  const mainApi = (async (path: string, _headers: object, body: object) => {
    if (path.endsWith('/login')) return { identityToken: 'token' };
    if (path.endsWith('/register')) return { customerReference: `customer-${++writes}` };
    const { email } = body as { email: string };
    if (emails.has(email)) throw new Error('409');
    emails.add(email);
    return { userId: `user-${++writes}` };
  }) as MainApi;
  return { admin, mainApi, people, countWrites: () => writes };
}
