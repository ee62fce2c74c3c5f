import {
  BeginTotpV1,
  CONFIRMATION_MS,
  FinishSignInV1,
  type ResetSecondFactors,
  ResetSecondFactorsV1,
  type Role,
} from '@svc/contracts';
import { actorOf, BROWSER, PeopleUnderTest, type TestPerson } from '../../../test/people.js';

let people: PeopleUnderTest;
let merchantId: number;
let owner: TestPerson;
let person: TestPerson;
beforeAll(async () => {
  people = await PeopleUnderTest.start();
});
afterAll(() => people.stop());
beforeEach(async () => {
  merchantId = await people.newMerchant();
  person = await people.newPerson(merchantId, 'support');
  owner = await people.newPerson(merchantId, 'owner');
});

const reset = (changes: Partial<ResetSecondFactors> = {}): ResetSecondFactors => ({
  actor: actorOf(owner),
  merchantId,
  personId: person.personId,
  language: 'en',
  ...changes,
});
const refusedCode = async (changes: Partial<ResetSecondFactors>): Promise<string> =>
  (await people.refusal(ResetSecondFactorsV1, reset(changes))).code;
/** Adds a role at another merchant to the person. */
async function join(joining: TestPerson, otherMerchantId: number, role: Role): Promise<void> {
  await people.identity.dataSource.query(
    `INSERT INTO person_roles (merchant_id, person_id, role, created_at) VALUES ($1, $2, $3, now())`,
    [otherMerchantId, joining.personId, role],
  );
}

test('removes every second factor and ends every session; the password then sets up a new one', async () => {
  const authenticator = await people.registerPasskey(person);
  const second = await people.signIn(person);
  const begun = await people.beginSignIn(person.email);
  await people.registerPasskey(owner);
  const begunByOwner = await people.beginSignIn(owner.email);
  await people.send(BeginTotpV1, { actor: actorOf(second) });
  expect(await people.send(ResetSecondFactorsV1, reset())).toEqual({ reset: true });
  expect([await people.readSession(person), await people.readSession(second)]).toEqual([undefined, undefined]);
  await expect(people.signInWithPasskey(authenticator)).rejects.toMatchObject({ code: 'authentication.failed' });
  const continued = { signInToken: begun, browser: BROWSER };
  expect((await people.refusal(FinishSignInV1, continued)).code).toBe('resource.not-found');
  const [row] = await people.identity.dataSource.query(
    `SELECT totp_secret, new_totp_secret, (SELECT count(*) FROM passkeys k WHERE k.person_id = p.person_id) AS passkeys
       FROM people p WHERE person_id = $1`,
    [person.personId],
  );
  expect(row).toEqual({ totp_secret: null, new_totp_secret: null, passkeys: 0 });

  // Another person keeps everything.
  expect(await people.readSession(owner)).toMatchObject({ secondFactors: ['totp', 'passkey'] });
  const code = people.code(owner.totpSecret);
  await people.send(FinishSignInV1, { signInToken: begunByOwner, code, browser: BROWSER });

  const signInToken = await people.beginSignIn(person.email);
  const session = await people.send(FinishSignInV1, { signInToken, browser: BROWSER });
  expect(session.setUpRequired).toBe(true);
  const restored = await people.setUpTotp({ ...person, session });
  expect(await people.readSession(restored)).toMatchObject({ roles: [{ merchantId, role: 'support' }] });
  expect(
    (await people.readAuditLog(merchantId)).find(({ action }) => action === 'person.second-factors-reset'),
  ).toEqual(
    expect.objectContaining({
      actor: `person:${owner.personId}`,
      requestId: 'request-1',
      before: { personId: person.personId, totp: true, passkeys: true },
    }),
  );
});

test('is not possible for the own second factors', async () => {
  expect(await refusedCode({ personId: owner.personId })).toBe('resource.conflict');
  expect(await people.readSession(owner)).toMatchObject({ secondFactors: ['totp'] });
});

test.each(['finance', 'support', 'developer'] as const)('is not possible for the role %s', async (role) => {
  const actor = actorOf(await people.newPerson(merchantId, role));
  expect(await refusedCode({ actor })).toBe('credentials.forbidden');
});

test('is not possible for the owner of a site only', async () => {
  const siteId = await people.newSite(merchantId);
  const actor = actorOf(await people.newPerson(merchantId, 'owner', siteId));
  expect(await refusedCode({ actor })).toBe('credentials.forbidden');
});

test('requires a confirmation', async () => {
  people.identity.clock.advance(CONFIRMATION_MS);
  expect(await refusedCode({})).toBe('authentication.required');
});

test('does not find a person of another merchant', async () => {
  const otherMerchantId = await people.newMerchant();
  const stranger = await people.newPerson(otherMerchantId, 'support');
  expect(await refusedCode({ personId: stranger.personId })).toBe('resource.not-found');
  expect(await refusedCode({ personId: 'x' })).toBe('resource.not-found');
  expect(await refusedCode({ merchantId: otherMerchantId })).toBe('credentials.forbidden');
  expect(await people.readSession(stranger)).toMatchObject({ secondFactors: ['totp'] });
});

test('of a person with a role at another merchant needs an owner of that merchant too', async () => {
  const otherMerchantId = await people.newMerchant();
  await join(person, otherMerchantId, 'developer');
  expect(await refusedCode({})).toBe('resource.conflict');
  await join(owner, otherMerchantId, 'finance');
  expect(await refusedCode({})).toBe('resource.conflict');
  expect(await people.readSession(person)).toMatchObject({ secondFactors: ['totp'] });
  await people.identity.dataSource.query(
    `UPDATE person_roles SET role = 'owner' WHERE person_id = $1 AND merchant_id = $2`,
    [owner.personId, otherMerchantId],
  );
  await people.send(ResetSecondFactorsV1, reset());
});

test('by the administration: of a person of the merchant only, with an entry of the audit log', async () => {
  const path = (merchant: number, id: string) => `/admin/v1/merchants/${merchant}/people/${id}/second-factors`;
  const otherMerchantId = await people.newMerchant();
  const unknown = '00000000-0000-7000-8000-000000000000';
  for (const wrong of [
    path(otherMerchantId, person.personId),
    path(merchantId, unknown),
    path(999_999, person.personId),
  ])
    expect((await people.admin('DELETE', wrong)).status).toBe(404);
  expect(await people.readSession(person)).toBeDefined();
  await join(person, otherMerchantId, 'developer');
  expect((await people.admin('DELETE', path(merchantId, person.personId))).status).toBe(204);
  expect(await people.readSession(person)).toBeUndefined();
  expect((await people.readAuditLog(merchantId)).at(-1)).toMatchObject({
    action: 'person.second-factors-reset',
    before: { personId: person.personId },
  });
});
