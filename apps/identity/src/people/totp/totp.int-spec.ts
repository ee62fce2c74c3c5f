import { BeginTotpV1, ConfirmTotpV1, FinishSignInV1, ListSecondFactorsV1, TOTP_SETUP_MS } from '@svc/contracts';
import { actorOf, BROWSER, PeopleUnderTest, type TestPerson } from '../../../test/people.js';

let people: PeopleUnderTest;
let merchantId: number;
let person: TestPerson;
beforeAll(async () => {
  people = await PeopleUnderTest.start();
  merchantId = await people.newMerchant();
});
afterAll(() => people.stop());
beforeEach(async () => {
  person = await people.newPersonWithoutFactor(merchantId, 'owner');
});

const begin = async (): Promise<string> => (await people.send(BeginTotpV1, { actor: actorOf(person) })).secret;
const refuse = async (code: string): Promise<string> =>
  (await people.refusal(ConfirmTotpV1, { actor: actorOf(person), code })).code;

test('a secret is set up with its first code, and is in the audit log', async () => {
  const secret = await begin();
  const createdUTCDate = people.identity.clock.nowISO();
  expect(await people.send(ListSecondFactorsV1, { actor: actorOf(person) })).toEqual({ passkeys: [] });
  const confirm = { actor: actorOf(person), code: people.code(secret) };
  expect(await people.send(ConfirmTotpV1, confirm)).toEqual({ confirmed: true });
  expect(await people.send(ListSecondFactorsV1, { actor: actorOf(person) })).toEqual({
    totp: { createdUTCDate },
    passkeys: [],
  });
  expect((await people.readAuditLog(null)).at(-1)).toMatchObject({
    action: 'person.second-factor-added',
    actor: `person:${person.personId}`,
    after: { personId: person.personId, factor: 'totp' },
  });
});

test('a wrong code does not set it up, and the right one still does', async () => {
  const secret = await begin();
  expect(await refuse(people.wrongCode(secret))).toBe('authentication.failed');
  expect(await people.readSession(person)).toMatchObject({ secondFactors: [], setUpRequired: true });
  await people.send(ConfirmTotpV1, { actor: actorOf(person), code: people.code(secret) });
});

test('the code that set it up cannot sign in', async () => {
  const secret = await begin();
  const code = people.code(secret);
  await people.send(ConfirmTotpV1, { actor: actorOf(person), code });
  const signInToken = await people.beginSignIn(person.email);
  const finish = { signInToken, code, browser: BROWSER };
  expect((await people.refusal(FinishSignInV1, finish)).code).toBe('authentication.failed');
});

test('a secret expires after ten minutes, and only the newest can be confirmed', async () => {
  const first = await begin();
  const second = await begin();
  expect(await refuse(people.code(first))).toBe('authentication.failed');
  people.identity.clock.advance(TOTP_SETUP_MS);
  expect(await refuse(people.code(second))).toBe('resource.not-found');
});

test('a confirmation without a new secret is refused', async () => {
  expect(await refuse('123456')).toBe('resource.not-found');
});

test('a new secret replaces the old one only when it is confirmed', async () => {
  person = await people.setUpTotp(person);
  const replacement = await begin();
  person = await people.signIn(person);
  await people.send(ConfirmTotpV1, { actor: actorOf(person), code: people.code(replacement) });
  people.nextStep();
  const finish = async (code: string) => ({
    signInToken: await people.beginSignIn(person.email),
    code,
    browser: BROWSER,
  });
  const oldCode = await finish(people.code(person.totpSecret));
  expect((await people.refusal(FinishSignInV1, oldCode)).code).toBe('authentication.failed');
  await people.send(FinishSignInV1, await finish(people.code(replacement)));
});
