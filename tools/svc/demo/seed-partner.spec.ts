import type { PartnerAdministrationApi } from './administration-api.ts';
import { DEMO_CUSTOMERS, DEMO_PARTNER, type PartnerApi, seedPartner } from './seed-partner.ts';

describe('the demo partner', () => {
  it('is created with its own keys, and with customers who have passwords', async () => {
    const { admin, mainApi } = createEmptyPlatform();
    const { partner, customers } = await seedPartner(admin, mainApi, {});
    expect(partner).toMatchObject({ name: DEMO_PARTNER, apiKey: 'key-2', apiToken: 'token-3' });
    expect(customers.map(({ email }) => email)).toEqual(DEMO_CUSTOMERS.map(({ email }) => email));
    expect(new Set(customers.map(({ password }) => password)).size).toBe(customers.length);
    for (const { password } of customers) expect(password.length).toBeGreaterThanOrEqual(16);
  });

  it('does not change when demo.json is complete', async () => {
    const { admin, mainApi, countWrites } = createEmptyPlatform();
    const first = await seedPartner(admin, mainApi, {});
    const writesBefore = countWrites();
    expect(await seedPartner(admin, mainApi, first)).toEqual(first);
    expect(countWrites()).toBe(writesBefore);
  });

  it('gets new keys, and customers with other e-mail addresses, when demo.json was lost', async () => {
    const { admin, mainApi } = createEmptyPlatform();
    const first = await seedPartner(admin, mainApi, {});
    const second = await seedPartner(admin, mainApi, {});
    expect(second.partner.organisationId).toBe(first.partner.organisationId);
    expect(second.partner.apiKey).not.toBe(first.partner.apiKey);
    for (const { email } of second.customers) expect(email).toMatch(/^\w+\+[0-9a-f]{6}@blue-wallet\.example$/);
  });

  it('is created when demo.json belongs to another database', async () => {
    const platform = createEmptyPlatform();
    const otherDatabase = await seedPartner(platform.admin, platform.mainApi, {});
    const { admin, mainApi } = createEmptyPlatform(100);
    const { partner } = await seedPartner(admin, mainApi, otherDatabase);
    expect(partner.organisationId).not.toBe(otherDatabase.partner.organisationId);
  });
});

/** A platform in memory that stores the created objects. Its first id is `lastId` + 1. */
function createEmptyPlatform(lastId = 0) {
  const organisations: { organisationId: string; name: string }[] = [];
  const emails = new Set<unknown>();
  let writes = 0;
  const nextId = () => {
    writes++;
    return ++lastId;
  };
  const admin: PartnerAdministrationApi = {
    listOrganisations: async () => [...organisations],
    createOrganisation: async (name) => {
      const organisation = { organisationId: `organisation-${nextId()}`, name };
      organisations.push(organisation);
      return organisation;
    },
    replacePartnerKey: async () => ({ apiKey: `key-${nextId()}` }),
    replaceApiToken: async () => ({ apiToken: `token-${nextId()}` }),
  };
  const mainApi: PartnerApi = {
    post: async (path, _headers, body) => {
      if (path.endsWith('/login')) return { identityToken: 'token' };
      if (path.endsWith('/register')) return { customerReference: `customer-${nextId()}` };
      const { email } = body as { email: string };
      if (emails.has(email)) throw new Error('409');
      emails.add(email);
      return { userId: `user-${nextId()}` };
    },
  };
  return { admin, mainApi, countWrites: () => writes };
}
