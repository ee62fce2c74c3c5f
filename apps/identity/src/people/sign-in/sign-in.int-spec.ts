import {
  BeginSignInV1,
  CONFIRMATION_MS,
  ConfirmPersonV1,
  FinishSignInV1,
  InvitePersonV1,
  MAX_PASSWORD_LENGTH,
  MAX_WRONG_CODES,
  MAX_WRONG_CODES_PER_SIGN_IN,
  MAX_WRONG_PASSWORDS,
  MAX_WRONG_PASSWORDS_PER_ADDRESS,
  PASSWORD_CLOSED_MS,
  SIGN_IN_MS,
} from '@svc/contracts';
import {
  actorOf,
  ADDRESS,
  BROWSER,
  newEmail,
  newInvitation,
  PASSWORD,
  PeopleUnderTest,
  sha256,
  type TestPerson,
} from '../../../test/people.js';
import { PasswordQueue } from '../../users/password-queue.js';

const WRONG_PASSWORD = 'wrong horse battery';

let people: PeopleUnderTest;
let merchantId: number;
beforeAll(async () => {
  people = await PeopleUnderTest.start();
  merchantId = await people.newMerchant();
});
afterAll(() => people.stop());

let person: TestPerson;
beforeEach(async () => {
  person = await people.newPerson(merchantId, 'owner');
});
afterEach(() => jest.restoreAllMocks());

/** Addresses differ, so that only the limit of the email is reached. */
let nextAddress = 0;
const newAddress = (): string => `2001:db8:0:${(nextAddress++).toString(16)}::1`;
const failPassword = (email: string, address = newAddress()) =>
  people.refusal(BeginSignInV1, { email, password: WRONG_PASSWORD, address });

describe('the password', () => {
  test('begins a sign-in, and the reply lists the second factors', async () => {
    const request = { email: ` ${person.email.toUpperCase()} `, password: PASSWORD, address: ADDRESS };
    expect(await people.send(BeginSignInV1, request)).toEqual({
      signInToken: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      secondFactors: ['totp'],
    });
    await people.registerPasskey(person);
    expect((await people.send(BeginSignInV1, request)).secondFactors).toEqual(['totp', 'passkey']);
  });

  test('only the hash of the token is stored', async () => {
    const token = await people.beginSignIn(person.email);
    const rows = await people.identity.dataSource.query(`SELECT token_hash FROM sign_in_tokens WHERE person_id = $1`, [
      person.personId,
    ]);
    expect(rows).toEqual([{ token_hash: sha256(token) }]);
  });

  test('a wrong password and an unknown email are refused alike, after the same work', async () => {
    const hash = jest.spyOn(people.identity.service.app.get(PasswordQueue), 'matches');
    const query = jest.spyOn(people.identity.dataSource.manager, 'query');
    const countQueries = async (email: string): Promise<readonly [object, number]> => {
      query.mockClear();
      const refusal = await failPassword(email);
      return [refusal, query.mock.calls.length];
    };
    const wrong = await countQueries(person.email);
    const unknown = await countQueries(newEmail('unknown'));
    expect(wrong[0]).toEqual({ code: 'authentication.failed', fields: [], retryAfterSeconds: undefined });
    expect(unknown).toEqual(wrong);
    expect(hash).toHaveBeenCalledTimes(2);
    const costs = hash.mock.calls.map(([, , passwordHash]) => /^(.*?p=\d+)\$/.exec(passwordHash)![1]);
    expect(costs[0]).toBe(costs[1]);
  });

  test('a password that is longer than the limit is refused before it is hashed', async () => {
    const hash = jest.spyOn(people.identity.service.app.get(PasswordQueue), 'matches');
    const request = { email: person.email, password: 'x'.repeat(MAX_PASSWORD_LENGTH + 1), address: ADDRESS };
    expect(await people.refusal(BeginSignInV1, request)).toMatchObject({
      code: 'request.invalid',
      fields: [{ field: 'password' }],
    });
    expect(hash).not.toHaveBeenCalled();
  });

  test.each(['', 'no address', 'x'.repeat(255), 'a b@c.example', 'a@b\u0000.example'])(
    'the email %j is refused',
    async (email) => {
      expect(await people.refusal(BeginSignInV1, { email, password: PASSWORD, address: ADDRESS })).toMatchObject({
        code: 'request.invalid',
        fields: [{ field: 'email' }],
      });
    },
  );

  test.each([
    ['a known', 'accepted'],
    ['an unknown', 'authentication.failed'],
  ])(
    'is closed for 30 minutes after ten wrong passwords of %s email, although the right one follows',
    async (kind, codeAfterwards) => {
      const email = kind === 'a known' ? person.email : newEmail('unknown');
      for (let count = 0; count < MAX_WRONG_PASSWORDS; count++)
        expect((await failPassword(email)).code).toBe('authentication.failed');
      const right = { email, password: PASSWORD, address: newAddress() };
      const refusal = await people.refusal(BeginSignInV1, right);
      expect(refusal).toEqual({
        code: 'request.rate-limited',
        fields: [],
        retryAfterSeconds: PASSWORD_CLOSED_MS / 1000,
      });
      people.identity.clock.advance(PASSWORD_CLOSED_MS - 1);
      expect((await people.refusal(BeginSignInV1, right)).code).toBe('request.rate-limited');
      people.identity.clock.advance(1);
      const afterwards = await people.send(BeginSignInV1, right).then(
        () => 'accepted',
        (error: { code: string }) => error.code,
      );
      expect(afterwards).toBe(codeAfterwards);
    },
  );

  test('nine wrong passwords do not close it, and right passwords do not count', async () => {
    for (let count = 1; count < MAX_WRONG_PASSWORDS; count++) await failPassword(person.email);
    for (let count = 0; count < 3; count++)
      expect(await people.beginSignIn(person.email, PASSWORD, newAddress())).toHaveLength(43);
  });

  test('of many concurrent guesses at most ten are checked', async () => {
    const hash = jest.spyOn(people.identity.service.app.get(PasswordQueue), 'matches');
    const guesses = Array.from({ length: MAX_WRONG_PASSWORDS + 5 }, () => failPassword(person.email));
    const codes = (await Promise.all(guesses)).map(({ code }) => code);
    expect(codes.filter((code) => code === 'request.rate-limited')).toHaveLength(5);
    expect(hash).toHaveBeenCalledTimes(MAX_WRONG_PASSWORDS);
  });

  test('a closed password does not close a passkey', async () => {
    const authenticator = await people.registerPasskey(person);
    for (let count = 0; count < MAX_WRONG_PASSWORDS; count++) await failPassword(person.email);
    expect((await failPassword(person.email)).code).toBe('request.rate-limited');
    const session = await people.signInWithPasskey(authenticator);
    expect(await people.readSession({ ...person, session })).toMatchObject({ personId: person.personId });
  });

  test('an address is closed after 100 wrong passwords of different emails, and another address is not', async () => {
    const address = newAddress();
    // Without the time of a hundred hashes.
    const hash = jest.spyOn(people.identity.service.app.get(PasswordQueue), 'matches').mockResolvedValue(false);
    for (let count = 0; count < MAX_WRONG_PASSWORDS_PER_ADDRESS; count++)
      expect((await failPassword(newEmail('unknown'), address)).code).toBe('authentication.failed');
    // The other addresses of an IPv6 network belong to the same caller.
    const neighbour = address.replace(/::1$/, '::2');
    for (const closed of [address, neighbour])
      expect((await failPassword(person.email, closed)).code).toBe('request.rate-limited');
    hash.mockRestore();
    await people.beginSignIn(person.email, PASSWORD, newAddress());
  });
});

describe('the sign-in after the password', () => {
  test('is refused after five minutes', async () => {
    const [first, second] = [await people.beginSignIn(person.email), await people.beginSignIn(person.email)];
    people.identity.clock.advance(SIGN_IN_MS - 1);
    const finish = (signInToken: string) => ({
      signInToken,
      code: people.code(person.totpSecret),
      browser: BROWSER,
    });
    await people.send(FinishSignInV1, finish(first));
    people.identity.clock.advance(1);
    people.nextStep();
    expect((await people.refusal(FinishSignInV1, finish(second))).code).toBe('resource.not-found');
  });

  test('begins one session only, also with a later code', async () => {
    const signInToken = await people.beginSignIn(person.email);
    const finish = () => ({ signInToken, code: people.code(person.totpSecret), browser: BROWSER });
    await people.send(FinishSignInV1, finish());
    people.nextStep();
    expect((await people.refusal(FinishSignInV1, finish())).code).toBe('resource.not-found');
  });

  test('begins one session only, for many concurrent requests', async () => {
    const newcomer = await people.newPersonWithoutFactor(merchantId, 'owner');
    const signInToken = await people.beginSignIn(newcomer.email);
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () => people.send(FinishSignInV1, { signInToken, browser: BROWSER })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refusals = results.flatMap((result) =>
      result.status === 'rejected' ? [(result.reason as { code: string }).code] : [],
    );
    expect(refusals).toEqual(Array.from({ length: 4 }, () => 'resource.not-found'));
  });

  test.each(['', 'x', 'A'.repeat(43), 'A'.repeat(44)])('is refused with the token %j', async (signInToken) => {
    expect((await people.refusal(FinishSignInV1, { signInToken, code: '123456', browser: BROWSER })).code).toBe(
      'resource.not-found',
    );
  });

  test('is refused without a code if the person has TOTP or a passkey', async () => {
    const withoutCode = async ({ email }: TestPerson) => ({
      signInToken: await people.beginSignIn(email),
      browser: BROWSER,
    });
    expect((await people.refusal(FinishSignInV1, await withoutCode(person))).code).toBe('authentication.failed');
    const withPasskey = await people.newPersonWithoutFactor(merchantId, 'owner');
    await people.registerPasskey(withPasskey);
    expect((await people.refusal(FinishSignInV1, await withoutCode(withPasskey))).code).toBe('authentication.failed');
  });
});

describe('a TOTP code', () => {
  const finish = async (code: string) => ({
    signInToken: await people.beginSignIn(person.email),
    code,
    browser: BROWSER,
  });

  test.each([-1, 0, 1])('is accepted %d steps from the present one', async (steps) => {
    people.nextStep();
    const session = await people.send(FinishSignInV1, await finish(people.code(person.totpSecret, steps)));
    expect(session.setUpRequired).toBe(false);
  });

  test.each([-2, 2])('is refused %d steps from the present one', async (steps) => {
    people.nextStep();
    const request = await finish(people.code(person.totpSecret, steps));
    expect((await people.refusal(FinishSignInV1, request)).code).toBe('authentication.failed');
  });

  test('is accepted once, and the code before it no longer', async () => {
    people.nextStep();
    const [previous, present] = [-1, 0].map((steps) => people.code(person.totpSecret, steps));
    await people.send(FinishSignInV1, await finish(present!));
    for (const code of [present!, previous!])
      expect((await people.refusal(FinishSignInV1, await finish(code))).code).toBe('authentication.failed');
    await people.send(FinishSignInV1, await finish(people.code(person.totpSecret, 1)));
  });

  test('is accepted once of several concurrent sign-ins', async () => {
    const code = people.code(person.totpSecret);
    const requests = await Promise.all([1, 2, 3].map(() => finish(code)));
    const results = await Promise.allSettled(requests.map((request) => people.send(FinishSignInV1, request)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('of another person is refused', async () => {
    const other = await people.newPerson(merchantId, 'owner');
    people.nextStep();
    const request = await finish(people.code(other.totpSecret));
    expect((await people.refusal(FinishSignInV1, request)).code).toBe('authentication.failed');
  });

  test('ends the sign-in after five wrong ones, although the right one follows', async () => {
    const signInToken = await people.beginSignIn(person.email);
    const send = (code: string) => people.refusal(FinishSignInV1, { signInToken, code, browser: BROWSER });
    for (let count = 0; count < MAX_WRONG_CODES_PER_SIGN_IN; count++)
      expect((await send(people.wrongCode(person.totpSecret))).code).toBe('authentication.failed');
    expect((await send(people.code(person.totpSecret))).code).toBe('resource.not-found');
  });

  test('is closed for 30 minutes after ten wrong ones of the person, in any sign-in', async () => {
    for (let count = 0; count < MAX_WRONG_CODES; count++)
      await people.refusal(FinishSignInV1, await finish(people.wrongCode(person.totpSecret)));
    const right = async () => finish(people.code(person.totpSecret));
    expect(await people.refusal(FinishSignInV1, await right())).toMatchObject({
      code: 'request.rate-limited',
      retryAfterSeconds: PASSWORD_CLOSED_MS / 1000,
    });
    people.identity.clock.advance(PASSWORD_CLOSED_MS);
    await people.send(FinishSignInV1, await right());
  });

  test('is not stored in a readable form', async () => {
    const [row] = await people.identity.dataSource.query(`SELECT * FROM people WHERE person_id = $1`, [
      person.personId,
    ]);
    expect(row.totp_secret).toMatch(/^ey/);
    expect(JSON.stringify(row)).not.toContain(person.totpSecret);
    expect(JSON.stringify(row)).not.toContain(PASSWORD);
  });
});

describe('a confirmation', () => {
  const invite = () => ({
    actor: actorOf(person),
    merchantId,
    role: 'support' as const,
    email: newEmail('support'),
    ...newInvitation(),
  });
  const confirm = (changes: { password?: string; code?: string } = {}) => ({
    actor: actorOf(person),
    address: newAddress(),
    password: PASSWORD,
    code: people.code(person.totpSecret),
    ...changes,
  });
  beforeEach(async () => {
    person = await people.signIn(person);
  });

  test('is required ten minutes after the sign-in, and lasts for ten minutes', async () => {
    const { authenticatedUTCDate } = (await people.readSession(person))!;
    const elapsedMs = people.identity.clock.now().getTime() - Date.parse(authenticatedUTCDate);
    people.identity.clock.advance(CONFIRMATION_MS - elapsedMs - 1);
    await people.send(InvitePersonV1, invite());
    people.identity.clock.advance(1);
    expect((await people.refusal(InvitePersonV1, invite())).code).toBe('authentication.required');
    const confirmedUTCDate = people.identity.clock.nowISO();
    expect(await people.send(ConfirmPersonV1, confirm())).toEqual({ authenticatedUTCDate: confirmedUTCDate });
    expect(await people.readSession(person)).toMatchObject({ authenticatedUTCDate: confirmedUTCDate });
    await people.send(InvitePersonV1, invite());
  });

  test('needs the right password and the right code', async () => {
    people.identity.clock.advance(CONFIRMATION_MS);
    const { code: _, ...withoutCode } = confirm();
    const { password: __, ...withoutPassword } = confirm();
    const wrong = [
      confirm({ password: WRONG_PASSWORD }),
      confirm({ code: people.wrongCode(person.totpSecret) }),
      withoutCode,
      withoutPassword,
    ];
    for (const request of wrong)
      expect((await people.refusal(ConfirmPersonV1, request)).code).toBe('authentication.failed');
    expect((await people.refusal(InvitePersonV1, invite())).code).toBe('authentication.required');
  });

  test('with a used code is refused', async () => {
    const request = confirm();
    await people.send(ConfirmPersonV1, request);
    expect((await people.refusal(ConfirmPersonV1, request)).code).toBe('authentication.failed');
  });
});
