import type { PartnerAdministrationApi } from './administration-api.ts';
import { DEMO_CUSTOMERS, DEMO_PARTNER, type PartnerApi, seedPartner } from './seed-partner.ts';

describe('the demo partner', () => {
  it('is created with its own keys, and with customers who have passwords', async () => {
    const { admin, main } = emptyPlatform();
    const { partner, customers } = await seedPartner(admin, main, {});
    expect(partner).toMatchObject({ name: DEMO_PARTNER, apiKey: 'key-2', apiToken: 'token-3' });
    expect(customers.map(({ email }) => email)).toEqual(DEMO_CUSTOMERS.map(({ email }) => email));
    expect(new Set(customers.map(({ password }) => password)).size).toBe(customers.length);
    for (const { password } of customers) expect(password.length).toBeGreaterThanOrEqual(16);
  });

  it('does not change when demo.json is complete', async () => {
    const { admin, main, writes } = emptyPlatform();
    const first = await seedPartner(admin, main, {});
    const before = writes();
    expect(await seedPartner(admin, main, first)).toEqual(first);
    expect(writes()).toBe(before);
  });

  it('gets new keys, and customers with other addresses, when the file was lost', async () => {
    const { admin, main } = emptyPlatform();
    const first = await seedPartner(admin, main, {});
    const second = await seedPartner(admin, main, {});
    expect(second.partner.organisationId).toBe(first.partner.organisationId);
    expect(second.partner.apiKey).not.toBe(first.partner.apiKey);
    for (const { email } of second.customers) expect(email).toMatch(/^\w+\+[0-9a-f]{6}@blue-wallet\.example$/);
  });

  it('is created again in another database', async () => {
    const elsewhere = await seedPartner(emptyPlatform().admin, emptyPlatform().main, {});
    const { admin, main } = emptyPlatform(100);
    const { partner } = await seedPartner(admin, main, elsewhere);
    expect(partner.organisationId).not.toBe(elsewhere.partner.organisationId);
  });
});

/** A platform in memory that records the created objects. */
function emptyPlatform(lastId = 0) {
  const organisations: { organisationId: string; name: string }[] = [];
  const emails = new Set<unknown>();
  let written = 0;
  const next = () => {
    written++;
    return ++lastId;
  };
  const admin: PartnerAdministrationApi = {
    listOrganisations: async () => [...organisations],
    createOrganisation: async (name) => {
      const organisation = { organisationId: `organisation-${next()}`, name };
      organisations.push(organisation);
      return organisation;
    },
    replacePartnerKey: async () => ({ apiKey: `key-${next()}` }),
    replaceApiToken: async () => ({ apiToken: `token-${next()}` }),
  };
  const main: PartnerApi = {
    post: async (path, _headers, body) => {
      if (path.endsWith('/login')) return { identityToken: 'token' };
      if (path.endsWith('/register')) return { customerReference: `customer-${next()}` };
      const { email } = body as { email: string };
      if (emails.has(email)) throw new Error('409');
      emails.add(email);
      return { userId: `user-${next()}` };
    },
  };
  return { admin, main, writes: () => written };
}
