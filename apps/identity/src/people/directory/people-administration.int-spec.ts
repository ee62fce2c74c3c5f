import { FinishLinkSignInV1, INVITATION_PATH, ListPeopleV1, ReadInvitationV1, SIGN_IN_LINK_PATH } from '@svc/contracts';
import { httpClient } from '@svc/testing';
import { CONSOLE_URL } from '../../../test/identity.js';
import { actorOf, BROWSER, newEmail, PeopleUnderTest, sha256, type TestPerson } from '../../../test/people.js';

const LINK_MS = 24 * 60 * 60_000;
const ACTOR = /^admin:[0-9a-f]{16}$/;

let people: PeopleUnderTest;
let merchantId: number;
let path: string;
beforeAll(async () => {
  people = await PeopleUnderTest.start();
});
afterAll(() => people.stop());
beforeEach(async () => {
  merchantId = await people.newMerchant();
  path = `/admin/v1/merchants/${merchantId}/people`;
});

describe('the administration of people', () => {
  test('invites the first owner with a link of the console', async () => {
    const email = newEmail('owner');
    const { status, body, headers } = await people.admin('POST', path, { email, role: 'owner' });
    expect([status, headers['cache-control']]).toEqual([201, 'no-store']);
    const expiresUTCDate = new Date(people.identity.clock.now().getTime() + LINK_MS).toISOString();
    expect(body).toEqual({ invitationId: expect.any(String), path: expect.any(String), expiresUTCDate });
    const invitationToken = (body.path as string).slice(INVITATION_PATH.length);
    expect(body.path).toBe(`${INVITATION_PATH}${invitationToken}`);
    expect(await people.send(ReadInvitationV1, { invitationToken })).toMatchObject({
      merchantId,
      email,
      role: 'owner',
    });
    expect((await people.readAuditLog(merchantId)).at(-1)).toMatchObject({
      action: 'invitation.created',
      actor: expect.stringMatching(ACTOR),
      requestId: headers['x-request-id'],
      after: { email, role: 'owner' },
    });
  });

  test('lists people and invitations', async () => {
    const owner = await people.newPerson(merchantId, 'owner');
    const email = newEmail('support');
    await people.inviteByAdministrator(merchantId, email, 'support');
    const { status, body } = await people.admin('GET', path);
    expect(status).toBe(200);
    expect(body).toEqual(await people.send(ListPeopleV1, { actor: actorOf(owner), merchantId }));
    expect(body.people).toHaveLength(1);
    expect(body.invitations).toMatchObject([{ email, role: 'support' }]);
  });

  test('removes a person, also the last owner, and withdraws an invitation', async () => {
    const owner = await people.newPerson(merchantId, 'owner');
    await people.inviteByAdministrator(merchantId, newEmail('support'), 'support');
    const [{ invitationId }] = (await people.admin('GET', path)).body.invitations;
    for (const id of [owner.personId, invitationId]) {
      expect((await people.admin('DELETE', `${path}/${id}`)).status).toBe(204);
      expect((await people.admin('DELETE', `${path}/${id}`)).status).toBe(404);
    }
    expect((await people.admin('GET', path)).body).toEqual({ people: [], invitations: [] });
    expect(await people.readSession(owner)).toBeUndefined();
  });

  test('of another merchant removes nothing', async () => {
    const owner = await people.newPerson(merchantId, 'owner');
    await people.inviteByAdministrator(merchantId, newEmail('support'), 'support');
    const before = (await people.admin('GET', path)).body;
    const other = `/admin/v1/merchants/${await people.newMerchant()}/people`;
    for (const id of [owner.personId, before.invitations[0].invitationId])
      expect((await people.admin('DELETE', `${other}/${id}`)).status).toBe(404);
    expect((await people.admin('GET', path)).body).toEqual(before);
  });

  test('refuses an unknown merchant, and a site of another merchant', async () => {
    const unknown = '/admin/v1/merchants/999999/people';
    const body = { email: newEmail('owner'), role: 'owner' };
    expect((await people.admin('POST', unknown, body)).status).toBe(404);
    expect((await people.admin('GET', unknown)).status).toBe(404);
    const siteId = await people.newSite(await people.newMerchant());
    expect((await people.admin('POST', path, { ...body, siteId })).status).toBe(404);
  });

  test.each([
    ['email', { email: 'no address', role: 'owner' }],
    ['email', { email: 'x'.repeat(255), role: 'owner' }],
    ['role', { email: 'a@b.example', role: 'admin' }],
    ['siteId', { email: 'a@b.example', role: 'owner', siteId: 'x' }],
    ['siteId', { email: 'a@b.example', role: 'owner', siteId: 0 }],
  ])('refuses an invalid %s: %j', async (field, body) => {
    expect(await people.admin('POST', path, body)).toMatchObject({ status: 400, body: { errors: [{ field }] } });
  });

  test('requires the administration key', async () => {
    const client = httpClient(people.identity.service, { 'x-admin-key': 'x'.repeat(32) });
    const statuses = [
      await client('POST', path, { email: 'a@b.example', role: 'owner' }),
      await client('GET', path),
      await client('DELETE', `${path}/00000000-0000-7000-8000-000000000000`),
      await client('POST', '/admin/v1/people/sign-in-link', { email: 'a@b.example' }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([401, 401, 401, 401]);
  });
});

describe('a sign-in link', () => {
  const createLink = (email: string) => people.admin('POST', '/admin/v1/people/sign-in-link', { email });
  const tokenOf = (link: { body: { path: string } }): string => link.body.path.slice(SIGN_IN_LINK_PATH.length);
  const signIn = async (linkToken: string, person: Omit<TestPerson, 'session'>): Promise<TestPerson> => ({
    ...person,
    session: await people.send(FinishLinkSignInV1, { linkToken, browser: BROWSER }),
  });

  test('signs a person in once, with all roles', async () => {
    const owner = await people.newPerson(merchantId, 'owner');
    const link = await createLink(owner.email);
    expect([link.status, link.headers['cache-control']]).toEqual([201, 'no-store']);
    const person = await signIn(tokenOf(link), owner);
    expect(person.session.setUpRequired).toBe(false);
    expect(await people.readSession(person)).toMatchObject({
      personId: owner.personId,
      roles: [{ merchantId, role: 'owner' }],
    });
    const again = { linkToken: tokenOf(link), browser: BROWSER };
    expect((await people.refusal(FinishLinkSignInV1, again)).code).toBe('resource.not-found');
    expect((await people.readAuditLog(null)).at(-1)).toMatchObject({
      action: 'person.sign-in-link-created',
      actor: expect.stringMatching(ACTOR),
      after: { personId: owner.personId },
    });
  });

  test('adds the role of an open invitation to a person who exists', async () => {
    const owner = await people.newPerson(merchantId, 'owner');
    const otherMerchantId = await people.newMerchant();
    await people.inviteByAdministrator(otherMerchantId, owner.email, 'support');
    await signIn(tokenOf(await createLink(owner.email)), owner);
    expect(await people.readSession(owner)).toMatchObject({
      roles: [
        { merchantId, role: 'owner' },
        { merchantId: otherMerchantId, role: 'support' },
      ],
    });
    expect((await people.readAuditLog(otherMerchantId)).at(-1)).toMatchObject({
      action: 'invitation.accepted',
      actor: expect.stringMatching(ACTOR),
      after: { personId: owner.personId, email: owner.email, role: 'support' },
    });
  });

  test('accepts the open invitations of an email that no person has', async () => {
    const email = newEmail('owner');
    const otherMerchantId = await people.newMerchant();
    await people.inviteByAdministrator(merchantId, email, 'owner');
    await people.inviteByAdministrator(otherMerchantId, email, 'developer');
    const person = await signIn(tokenOf(await createLink(email)), { personId: '', email, totpSecret: '' });
    expect(await people.readSession(person)).toMatchObject({
      email,
      roles: [
        { merchantId, role: 'owner' },
        { merchantId: otherMerchantId, role: 'developer' },
      ],
    });
    expect((await people.admin('GET', path)).body.invitations).toEqual([]);
  });

  test('is refused for an email without person and invitation, and for an expired invitation', async () => {
    const email = newEmail('owner');
    expect((await createLink(email)).status).toBe(404);
    await people.inviteByAdministrator(merchantId, email, 'owner');
    people.identity.clock.advance(LINK_MS);
    expect((await createLink(email)).status).toBe(404);
  });

  test('expires after 24 hours', async () => {
    const owner = await people.newPerson(merchantId, 'owner');
    const linkToken = tokenOf(await createLink(owner.email));
    people.identity.clock.advance(LINK_MS);
    expect((await people.refusal(FinishLinkSignInV1, { linkToken, browser: BROWSER })).code).toBe('resource.not-found');
  });

  test('is not a sign-in after a password, and the other way round', async () => {
    const owner = await people.newPerson(merchantId, 'owner');
    const linkToken = await people.beginSignIn(owner.email);
    expect((await people.refusal(FinishLinkSignInV1, { linkToken, browser: BROWSER })).code).toBe('resource.not-found');
  });

  test('is neither created nor accepted in production', async () => {
    const production = await PeopleUnderTest.start({
      env: { SVC_ENVIRONMENT: 'production', SVC_CONSOLE_URL: CONSOLE_URL },
    });
    try {
      const owner = await production.newPerson(await production.newMerchant(), 'owner');
      const created = await production.admin('POST', '/admin/v1/people/sign-in-link', { email: owner.email });
      expect(created).toMatchObject({ status: 403 });
      // A link that was created while the platform ran in development.
      const linkToken = 'A'.repeat(43);
      await production.identity.dataSource.query(
        `INSERT INTO sign_in_tokens (token_hash, kind, person_id, codes, expires_at) VALUES ($1, 'link', $2, 0, $3)`,
        [sha256(linkToken), owner.personId, production.identity.clock.later(LINK_MS)],
      );
      const finish = { linkToken, browser: BROWSER };
      expect((await production.refusal(FinishLinkSignInV1, finish)).code).toBe('resource.not-found');
    } finally {
      await production.stop();
    }
  });
});
