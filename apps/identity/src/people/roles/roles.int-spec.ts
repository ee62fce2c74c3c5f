import {
  ChangeRoleV1,
  CONFIRMATION_MS,
  FinishSignInV1,
  ListPeopleV1,
  MAX_PEOPLE_PER_MERCHANT,
  RemovePersonV1,
  type Role,
} from '@svc/contracts';
import { actorOf, BROWSER, newEmail, PeopleUnderTest, type TestPerson } from '../../../test/people.js';

let people: PeopleUnderTest;
let merchantId: number;
let siteId: number;
let owner: TestPerson;
beforeAll(async () => {
  people = await PeopleUnderTest.start();
});
afterAll(() => people.stop());
beforeEach(async () => {
  merchantId = await people.newMerchant();
  siteId = await people.newSite(merchantId);
  owner = await people.newPerson(merchantId, 'owner');
});

const change = (
  { personId }: TestPerson,
  role: Role,
  {
    actor = actorOf(owner),
    ...scope
  }: { actor?: ReturnType<typeof actorOf>; merchantId?: number; siteId?: number } = {},
) => ({ actor, merchantId, personId, role, ...scope });
const remove = (
  { personId }: TestPerson,
  {
    actor = actorOf(owner),
    ...scope
  }: { actor?: ReturnType<typeof actorOf>; merchantId?: number; siteId?: number } = {},
) => ({ actor, merchantId, personId, ...scope });
const rolesOf = async (person: TestPerson) => (await people.readSession(person))?.roles;

describe('the list of people', () => {
  test('has the people of the merchant and its sites, by name, and no other people', async () => {
    const support = await people.newPerson(merchantId, 'support', siteId);
    const stranger = await people.newPerson(await people.newMerchant(), 'finance');
    const { people: listed } = await people.send(ListPeopleV1, { actor: actorOf(owner), merchantId });
    const entry = (person: TestPerson, name: string, roles: object[]) => ({
      personId: person.personId,
      name,
      email: person.email,
      roles,
      secondFactors: ['totp'],
      lastSignInUTCDate: expect.any(String),
    });
    expect(listed).toEqual([
      entry(owner, 'Name of owner', [{ merchantId, role: 'owner' }]),
      entry(support, 'Name of support', [{ merchantId, siteId, role: 'support' }]),
    ]);
    const read = { actor: actorOf(stranger), merchantId };
    expect((await people.refusal(ListPeopleV1, read)).code).toBe('credentials.forbidden');
  });

  test('of a site has only the people with a role at this site', async () => {
    const siteOwner = await people.newPerson(merchantId, 'owner', siteId);
    await people.newPerson(merchantId, 'support', await people.newSite(merchantId));
    const { people: listed } = await people.send(ListPeopleV1, { actor: actorOf(siteOwner), merchantId, siteId });
    expect(listed.map(({ personId }) => personId)).toEqual([siteOwner.personId]);
    const ofMerchant = { actor: actorOf(siteOwner), merchantId };
    expect((await people.refusal(ListPeopleV1, ofMerchant)).code).toBe('credentials.forbidden');
  });
});

describe('the change of a role', () => {
  test('is effective for the next request of the person, and in the audit log', async () => {
    const person = await people.newPerson(merchantId, 'support');
    expect(await people.send(ChangeRoleV1, change(person, 'finance'))).toEqual({ changed: true });
    expect(await rolesOf(person)).toEqual([{ merchantId, role: 'finance' }]);
    const { personId } = person;
    expect((await people.readAuditLog(merchantId)).at(-1)).toEqual({
      action: 'person.role-changed',
      actor: `person:${owner.personId}`,
      requestId: 'request-1',
      siteId: null,
      credentialId: null,
      before: { personId, role: 'support' },
      after: { personId, role: 'finance' },
    });
  });

  test('to the same role changes nothing', async () => {
    const person = await people.newPerson(merchantId, 'support');
    const entries = await people.readAuditLog(merchantId);
    await people.send(ChangeRoleV1, change(person, 'support'));
    expect(await people.readAuditLog(merchantId)).toEqual(entries);
  });

  test('is refused for the last owner of the merchant, although a site has an owner', async () => {
    await people.newPerson(merchantId, 'owner', siteId);
    expect((await people.refusal(ChangeRoleV1, change(owner, 'finance'))).code).toBe('resource.conflict');
    expect(await rolesOf(owner)).toEqual([{ merchantId, role: 'owner' }]);
    const second = await people.newPerson(merchantId, 'owner');
    await people.send(ChangeRoleV1, change(owner, 'finance'));
    expect(await rolesOf(second)).toEqual([{ merchantId, role: 'owner' }]);
  });

  test('of the last owner of a site is possible', async () => {
    const siteOwner = await people.newPerson(merchantId, 'owner', siteId);
    await people.send(ChangeRoleV1, change(siteOwner, 'support', { siteId }));
    expect(await rolesOf(siteOwner)).toEqual([{ merchantId, siteId, role: 'support' }]);
  });

  test('is refused at another merchant, at another scope, and for a person of another merchant', async () => {
    const otherMerchantId = await people.newMerchant();
    const stranger = await people.newPerson(otherMerchantId, 'owner');
    const person = await people.newPerson(merchantId, 'support');
    const codes = [
      await people.refusal(ChangeRoleV1, change(stranger, 'support', { merchantId: otherMerchantId })),
      await people.refusal(ChangeRoleV1, change(person, 'owner', { actor: actorOf(stranger) })),
      await people.refusal(ChangeRoleV1, change(stranger, 'support')),
      await people.refusal(ChangeRoleV1, change(person, 'owner', { siteId })),
    ].map(({ code }) => code);
    expect(codes).toEqual([
      'credentials.forbidden',
      'credentials.forbidden',
      'resource.not-found',
      'resource.not-found',
    ]);
    expect(await rolesOf(stranger)).toEqual([{ merchantId: otherMerchantId, role: 'owner' }]);
    expect(await rolesOf(person)).toEqual([{ merchantId, role: 'support' }]);
  });

  test('is refused for the owner of a site, at the merchant and at another site', async () => {
    const siteOwner = await people.newPerson(merchantId, 'owner', siteId);
    const actor = actorOf(siteOwner);
    const otherSiteId = await people.newSite(merchantId);
    const atOtherSite = await people.newPerson(merchantId, 'support', otherSiteId);
    expect((await people.refusal(ChangeRoleV1, change(owner, 'support', { actor }))).code).toBe(
      'credentials.forbidden',
    );
    const other = change(atOtherSite, 'owner', { actor, siteId: otherSiteId });
    expect((await people.refusal(ChangeRoleV1, other)).code).toBe('credentials.forbidden');
  });

  test('requires a confirmation', async () => {
    const person = await people.newPerson(merchantId, 'support');
    people.identity.clock.advance(CONFIRMATION_MS);
    expect((await people.refusal(ChangeRoleV1, change(person, 'owner'))).code).toBe('authentication.required');
    expect((await people.refusal(RemovePersonV1, remove(person))).code).toBe('authentication.required');
    expect(await rolesOf(person)).toEqual([{ merchantId, role: 'support' }]);
  });

  test.each([0, -1, 1.5, 1e300])('at the merchant %d is refused', async (invalidId) => {
    const request = change(owner, 'support', { merchantId: invalidId });
    expect((await people.refusal(ChangeRoleV1, request)).code).toMatch(/^(resource.not-found|request.invalid)$/);
  });
});

describe('the removal of a person', () => {
  test('from the only merchant deletes the person with the sessions, and the email can be invited again', async () => {
    const person = await people.newPerson(merchantId, 'support');
    const signInToken = await people.beginSignIn(person.email);
    expect(await people.send(RemovePersonV1, remove(person))).toEqual({ removed: true });
    expect(await people.readSession(person)).toBeUndefined();
    const finish = { signInToken, code: people.code(person.totpSecret), browser: BROWSER };
    expect((await people.refusal(FinishSignInV1, finish)).code).toBe('resource.not-found');
    expect((await people.readAuditLog(merchantId)).at(-1)).toMatchObject({
      action: 'person.removed',
      actor: `person:${owner.personId}`,
      before: { personId: person.personId, roles: [{ merchantId, role: 'support' }] },
    });
    const token = await people.inviteByAdministrator(merchantId, person.email, 'support');
    const again = await people.accept(token, person.email);
    expect(again.personId).not.toBe(person.personId);
  });

  test('from one of two merchants keeps the person, the session and the other role', async () => {
    const otherMerchantId = await people.newMerchant();
    const person = await people.newPerson(merchantId, 'support');
    await people.identity.dataSource.query(
      `INSERT INTO person_roles (merchant_id, person_id, role, created_at) VALUES ($1, $2, 'finance', now())`,
      [otherMerchantId, person.personId],
    );
    await people.send(RemovePersonV1, remove(person));
    expect(await rolesOf(person)).toEqual([{ merchantId: otherMerchantId, role: 'finance' }]);
  });

  test('from a site keeps the roles at the merchant and at other sites; from the merchant removes all', async () => {
    const person = await people.newPerson(merchantId, 'support');
    const otherSiteId = await people.newSite(merchantId);
    for (const site of [siteId, otherSiteId])
      await people.identity.dataSource.query(
        `INSERT INTO person_roles (merchant_id, person_id, site_id, role, created_at) VALUES ($1, $2, $3, 'finance', now())`,
        [merchantId, person.personId, site],
      );
    await people.send(RemovePersonV1, remove(person, { siteId }));
    expect(await rolesOf(person)).toEqual([
      { merchantId, role: 'support' },
      { merchantId, siteId: otherSiteId, role: 'finance' },
    ]);
    await people.send(RemovePersonV1, remove(person));
    expect(await people.readSession(person)).toBeUndefined();
  });

  test('is refused for the last owner, and two owners cannot remove each other at the same time', async () => {
    expect((await people.refusal(RemovePersonV1, remove(owner))).code).toBe('resource.conflict');
    const second = await people.newPerson(merchantId, 'owner');
    const results = await Promise.allSettled([
      people.send(RemovePersonV1, remove(second)),
      people.send(RemovePersonV1, remove(owner, { actor: actorOf(second) })),
    ]);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const remaining = [await rolesOf(owner), await rolesOf(second)].filter((roles) => roles !== undefined);
    expect(remaining).toEqual([[{ merchantId, role: 'owner' }]]);
  });

  test('is refused at another merchant, and for a person of another merchant', async () => {
    const otherMerchantId = await people.newMerchant();
    const stranger = await people.newPerson(otherMerchantId, 'owner');
    const person = await people.newPerson(merchantId, 'support');
    const codes = [
      await people.refusal(RemovePersonV1, remove(person, { actor: actorOf(stranger) })),
      await people.refusal(RemovePersonV1, remove(stranger)),
      await people.refusal(RemovePersonV1, remove(stranger, { merchantId: otherMerchantId })),
      await people.refusal(RemovePersonV1, remove(person, { siteId })),
    ].map(({ code }) => code);
    expect(codes).toEqual([
      'credentials.forbidden',
      'resource.not-found',
      'credentials.forbidden',
      'resource.not-found',
    ]);
    expect(await rolesOf(person)).toEqual([{ merchantId, role: 'support' }]);
    expect(await rolesOf(stranger)).toEqual([{ merchantId: otherMerchantId, role: 'owner' }]);
  });
});

test('a merchant has at most 200 people', async () => {
  await people.identity.dataSource.query(
    `WITH added AS (
       INSERT INTO people (person_id, email, name, password_hash, created_at)
       SELECT gen_random_uuid(), $1 || n || '@full.example', 'Person', '$argon2id$', now()
         FROM generate_series(2, ${MAX_PEOPLE_PER_MERCHANT}) AS n RETURNING person_id)
     INSERT INTO person_roles (merchant_id, person_id, role, created_at)
     SELECT $1::bigint, person_id, 'support', now() FROM added`,
    [merchantId],
  );
  const email = newEmail('support');
  const token = await people.inviteByAdministrator(merchantId, email, 'support');
  await expect(people.accept(token, email)).rejects.toMatchObject({ code: 'resource.conflict' });
});
