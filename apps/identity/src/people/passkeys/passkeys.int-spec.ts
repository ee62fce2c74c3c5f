import {
  BeginPasskeyRegistrationV1,
  BeginPasskeySignInV1,
  BeginTotpV1,
  CONFIRMATION_MS,
  ConfirmPersonV1,
  FinishPasskeyRegistrationV1,
  FinishPasskeySignInV1,
  ListSecondFactorsV1,
  MAX_PASSKEY_RESPONSE_LENGTH,
  MAX_PASSKEYS_PER_PERSON,
  PASSKEY_CHALLENGE_MS,
  type PasskeyProof,
  RemoveSecondFactorV1,
} from '@svc/contracts';
import { openTransaction, waitForBlockedBackends } from '@svc/testing';
import { actorOf, ADDRESS, BROWSER, PeopleUnderTest, type TestPerson } from '../../../test/people.js';
import { SoftwareAuthenticator } from '../../../test/software-authenticator.js';

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

const beginSignIn = () => people.send(BeginPasskeySignInV1, { address: ADDRESS });
const refuseSignIn = async (proof: PasskeyProof): Promise<string> =>
  (await people.refusal(FinishPasskeySignInV1, { ...proof, browser: BROWSER })).code;
const beginRegistration = (actor = actorOf(person)) => people.send(BeginPasskeyRegistrationV1, { actor });
const refuseRegistration = async (proof: PasskeyProof, actor = actorOf(person), name = 'Phone') =>
  people.refusal(FinishPasskeyRegistrationV1, { ...proof, actor, name });

describe('a registration', () => {
  test('requests a passkey of the console that verifies its user and that the browser finds by itself', async () => {
    const { options, challengeToken } = await beginRegistration();
    expect(challengeToken).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(options).toMatchObject({
      rp: { id: 'console.svc.example', name: 'Svc Payments' },
      user: {
        id: Buffer.from(person.personId).toString('base64url'),
        name: person.email,
        displayName: 'Name of owner',
      },
      attestation: 'none',
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
  });

  test('adds a passkey, which is listed, excluded from the next registration, and in the audit log', async () => {
    const authenticator = await people.registerPasskey(person);
    const createdUTCDate = people.identity.clock.nowISO();
    const { passkeys, totp } = await people.send(ListSecondFactorsV1, { actor: actorOf(person) });
    expect(totp).toBeUndefined();
    expect(passkeys).toEqual([{ passkeyId: expect.any(String), name: 'Phone', createdUTCDate }]);
    expect((await beginRegistration()).options).toMatchObject({
      excludeCredentials: [{ id: authenticator.credentialId }],
    });
    expect((await people.readAuditLog(null)).at(-1)).toEqual({
      action: 'person.second-factor-added',
      actor: `person:${person.personId}`,
      requestId: 'request-1',
      siteId: null,
      credentialId: passkeys[0]!.passkeyId,
      before: null,
      after: { personId: person.personId, factor: 'passkey', name: 'Phone' },
    });
  });

  test.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['another relying party', { rpId: 'evil.example' }],
    ['no verified user', { isUserVerified: false }],
  ])('is refused with %s', async (_, answer) => {
    const proof = new SoftwareAuthenticator().register(await beginRegistration(), answer);
    expect((await refuseRegistration(proof)).code).toBe('authentication.failed');
    expect(await people.readSession(person)).toMatchObject({ secondFactors: [], setUpRequired: true });
  });

  test('is refused with the answer to another challenge', async () => {
    const [first, second] = [await beginRegistration(), await beginRegistration()];
    const proof = new SoftwareAuthenticator().register(first);
    expect((await refuseRegistration({ ...proof, challengeToken: second.challengeToken })).code).toBe(
      'authentication.failed',
    );
  });

  test('uses its challenge once, and within five minutes', async () => {
    const used = await beginRegistration();
    const proof = new SoftwareAuthenticator().register(used);
    await people.send(FinishPasskeyRegistrationV1, { ...proof, actor: actorOf(person), name: 'Phone' });
    expect((await refuseRegistration(proof)).code).toBe('resource.not-found');
    const expired = await beginRegistration();
    people.identity.clock.advance(PASSKEY_CHALLENGE_MS);
    expect((await refuseRegistration(new SoftwareAuthenticator().register(expired))).code).toBe('resource.not-found');
  });

  test('is refused with the challenge of another person, and with the challenge of a sign-in', async () => {
    const other = await people.newPersonWithoutFactor(merchantId, 'owner');
    const ofOther = new SoftwareAuthenticator().register(await beginRegistration(actorOf(other)));
    expect((await refuseRegistration(ofOther)).code).toBe('resource.not-found');
    const ofSignIn = new SoftwareAuthenticator().register(await beginSignIn());
    expect((await refuseRegistration(ofSignIn)).code).toBe('resource.not-found');
  });

  test('of a credential that exists is refused, also for another person', async () => {
    const authenticator = await people.registerPasskey(person);
    const other = await people.newPersonWithoutFactor(merchantId, 'owner');
    const proof = authenticator.register(await beginRegistration(actorOf(other)));
    expect((await refuseRegistration(proof, actorOf(other))).code).toBe('resource.conflict');
  });

  test('of a session that ends meanwhile, as by a reset, adds nothing', async () => {
    const { dataSource } = people.identity;
    const { personId } = person;
    const proof = new SoftwareAuthenticator().register(await beginRegistration());
    await using reset = await openTransaction(dataSource);
    await reset.query('SELECT 1 FROM people WHERE person_id = $1 FOR UPDATE', [personId]);
    const refused = refuseRegistration(proof);
    await waitForBlockedBackends(dataSource, 1);
    await reset.query('DELETE FROM person_sessions WHERE person_id = $1', [personId]);
    await reset.commit();
    expect((await refused).code).toBe('authentication.required');
    const passkeys = await dataSource.query('SELECT 1 FROM passkeys WHERE person_id = $1', [personId]);
    expect(passkeys).toEqual([]);
  });

  test('is refused after ten passkeys, also if it began before', async () => {
    const open = await beginRegistration();
    for (let count = 0; count < MAX_PASSKEYS_PER_PERSON; count++) await people.registerPasskey(person);
    expect((await refuseRegistration(new SoftwareAuthenticator().register(open))).code).toBe('resource.conflict');
    const begun = await people.refusal(BeginPasskeyRegistrationV1, { actor: actorOf(person) });
    expect(begun.code).toBe('resource.conflict');
  });

  test.each(['', ' ', 'x'.repeat(61)])('with the name %j is refused', async (name) => {
    const proof = new SoftwareAuthenticator().register(await beginRegistration());
    expect(await refuseRegistration(proof, actorOf(person), name)).toMatchObject({
      code: 'request.invalid',
      fields: [{ field: 'name' }],
    });
  });

  test('requires a confirmation once the person has a second factor, as a new TOTP secret does', async () => {
    const complete = await people.setUpTotp(person);
    people.identity.clock.advance(CONFIRMATION_MS);
    const actor = actorOf(complete);
    expect([
      (await people.refusal(BeginPasskeyRegistrationV1, { actor })).code,
      (await people.refusal(BeginTotpV1, { actor })).code,
    ]).toEqual(['authentication.required', 'authentication.required']);
  });
});

describe('a sign-in with a passkey', () => {
  let authenticator: SoftwareAuthenticator;
  beforeEach(async () => {
    authenticator = await people.registerPasskey(person, 7);
  });

  test('lists no credentials, and begins a session with the roles', async () => {
    const challenge = await beginSignIn();
    expect(challenge.options).toMatchObject({ rpId: 'console.svc.example', userVerification: 'required' });
    expect(challenge.options['allowCredentials'] ?? []).toEqual([]);
    const userHandle = Buffer.from(person.personId).toString('base64url');
    const proof = authenticator.answer(challenge, { counter: 8, userHandle });
    const session = await people.send(FinishPasskeySignInV1, { ...proof, browser: BROWSER });
    expect(session.setUpRequired).toBe(false);
    expect(await people.readSession({ ...person, session })).toMatchObject({
      personId: person.personId,
      roles: [{ merchantId, role: 'owner' }],
      secondFactors: ['passkey'],
    });
    const { passkeys } = await people.send(ListSecondFactorsV1, { actor: actorOf(person) });
    expect(passkeys[0]!.lastUsedUTCDate).toBe(people.identity.clock.nowISO());
  });

  test.each([
    ['a counter that did not grow', { counter: 7 }],
    ['a lower counter', { counter: 6 }],
    ['no counter, although the passkey has counted', { counter: 0 }],
    ['another origin', { counter: 8, origin: 'https://evil.example' }],
    ['another relying party', { counter: 8, rpId: 'evil.example' }],
    ['no verified user', { counter: 8, isUserVerified: false }],
    ['the user handle of another person', { counter: 8, userHandle: Buffer.from('another').toString('base64url') }],
  ])('is refused with %s', async (_, answer) => {
    expect(await refuseSignIn(authenticator.answer(await beginSignIn(), answer))).toBe('authentication.failed');
    await people.signInWithPasskey(authenticator, 8);
  });

  test('is refused with a counter that was used before', async () => {
    await people.signInWithPasskey(authenticator, 8);
    expect(await refuseSignIn(authenticator.answer(await beginSignIn(), { counter: 8 }))).toBe('authentication.failed');
    await people.signInWithPasskey(authenticator, 9);
  });

  test('of several concurrent answers with one counter only one is accepted', async () => {
    const challenges = await Promise.all([1, 2, 3].map(() => beginSignIn()));
    const results = await Promise.allSettled(
      challenges.map((challenge) =>
        people.send(FinishPasskeySignInV1, { ...authenticator.answer(challenge, { counter: 8 }), browser: BROWSER }),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('of an authenticator that does not count is accepted again', async () => {
    const withoutCounter = await people.registerPasskey(person, 0);
    await people.signInWithPasskey(withoutCounter, 0);
    expect((await people.signInWithPasskey(withoutCounter, 0)).setUpRequired).toBe(false);
  });

  test('is refused with an unknown credential, and with the signature of another key', async () => {
    const stranger = new SoftwareAuthenticator();
    expect(await refuseSignIn(stranger.answer(await beginSignIn(), { counter: 8 }))).toBe('authentication.failed');
    const { challengeToken, response } = stranger.answer(await beginSignIn(), { counter: 8 });
    const { credentialId: id } = authenticator;
    expect(await refuseSignIn({ challengeToken, response: { ...response, id, rawId: id } })).toBe(
      'authentication.failed',
    );
  });

  test('uses its challenge once, also after a wrong answer, and within five minutes', async () => {
    const challenge = await beginSignIn();
    expect(await refuseSignIn(authenticator.answer(challenge, { counter: 1 }))).toBe('authentication.failed');
    expect(await refuseSignIn(authenticator.answer(challenge, { counter: 8 }))).toBe('resource.not-found');
    const expired = await beginSignIn();
    people.identity.clock.advance(PASSKEY_CHALLENGE_MS);
    expect(await refuseSignIn(authenticator.answer(expired, { counter: 8 }))).toBe('resource.not-found');
  });

  test('is refused with the challenge of a registration', async () => {
    const challenge = await beginRegistration();
    expect(await refuseSignIn(authenticator.answer(challenge, { counter: 8 }))).toBe('resource.not-found');
  });

  test.each([
    ['an empty answer', {}],
    ['an answer without a response', { id: 'x', rawId: 'x', type: 'public-key' }],
    ['an id that is no text', { id: 1 }],
  ])('is refused with %s', async (_, response) => {
    const { challengeToken } = await beginSignIn();
    expect(await refuseSignIn({ challengeToken, response })).toBe('authentication.failed');
  });

  test('is refused with an answer over the limit, and then the challenge is still valid', async () => {
    const challenge = await beginSignIn();
    const response = { id: 'x'.repeat(MAX_PASSKEY_RESPONSE_LENGTH) };
    expect(await refuseSignIn({ challengeToken: challenge.challengeToken, response })).toBe('request.invalid');
    const proof = authenticator.answer(challenge, { counter: 8 });
    await people.send(FinishPasskeySignInV1, { ...proof, browser: BROWSER });
  });

  test('of an address with 50 open requests replaces the oldest of this address only', async () => {
    const open = await people.send(BeginPasskeySignInV1, { address: '198.51.100.1' });
    const oldest = await people.send(BeginPasskeySignInV1, { address: '198.51.100.2' });
    people.identity.clock.advance(1);
    for (let count = 0; count < 50; count++) await people.send(BeginPasskeySignInV1, { address: '198.51.100.2' });
    expect(await refuseSignIn(authenticator.answer(oldest, { counter: 8 }))).toBe('resource.not-found');
    await people.send(FinishPasskeySignInV1, { ...authenticator.answer(open, { counter: 8 }), browser: BROWSER });
  });

  test('of all addresses of an IPv6 network are counted together', async () => {
    const oldest = await people.send(BeginPasskeySignInV1, { address: '2001:db8::1' });
    people.identity.clock.advance(1);
    for (let count = 2; count < 52; count++) await people.send(BeginPasskeySignInV1, { address: `2001:db8::${count}` });
    expect(await refuseSignIn(authenticator.answer(oldest, { counter: 8 }))).toBe('resource.not-found');
  });
});

describe('a confirmation with a passkey', () => {
  const confirm = (proof: PasskeyProof) => ({ actor: actorOf(person), address: ADDRESS, passkey: proof });

  test('sets the time of the confirmation', async () => {
    const authenticator = await people.registerPasskey(person);
    people.identity.clock.advance(CONFIRMATION_MS);
    const proof = authenticator.answer(await beginSignIn());
    const authenticatedUTCDate = people.identity.clock.nowISO();
    expect(await people.send(ConfirmPersonV1, confirm(proof))).toEqual({ authenticatedUTCDate });
    expect(await people.readSession(person)).toMatchObject({ authenticatedUTCDate });
  });

  test('is refused with the passkey of another person', async () => {
    await people.registerPasskey(person);
    const ofOther = await people.registerPasskey(await people.newPersonWithoutFactor(merchantId, 'owner'));
    const proof = ofOther.answer(await beginSignIn());
    expect((await people.refusal(ConfirmPersonV1, confirm(proof))).code).toBe('authentication.failed');
  });
});

describe('the removal of a second factor', () => {
  const remove = (factor: string, actor = actorOf(person)) => ({ actor, factor });
  const listPasskeyIds = async (): Promise<string[]> =>
    (await people.send(ListSecondFactorsV1, { actor: actorOf(person) })).passkeys.map(({ passkeyId }) => passkeyId);

  test('is refused for the last one, whichever it is', async () => {
    const withTotp = await people.setUpTotp(await people.newPersonWithoutFactor(merchantId, 'owner'));
    expect((await people.refusal(RemoveSecondFactorV1, remove('totp', actorOf(withTotp)))).code).toBe(
      'resource.conflict',
    );
    await people.registerPasskey(person);
    const [passkeyId] = await listPasskeyIds();
    expect((await people.refusal(RemoveSecondFactorV1, remove(passkeyId!))).code).toBe('resource.conflict');
    expect(await listPasskeyIds()).toEqual([passkeyId]);
  });

  test('makes the passkey and the codes useless', async () => {
    person = await people.setUpTotp(person);
    const removed = await people.registerPasskey(person);
    const [removedId] = await listPasskeyIds();
    const kept = await people.registerPasskey(person);
    await people.send(RemoveSecondFactorV1, remove(removedId!));
    expect(await refuseSignIn(removed.answer(await beginSignIn()))).toBe('authentication.failed');
    await people.send(RemoveSecondFactorV1, remove('totp'));
    expect(await people.readSession(person)).toMatchObject({ secondFactors: ['passkey'] });
    await people.signInWithPasskey(kept);
    expect((await people.readAuditLog(null)).slice(-2)).toMatchObject([
      { action: 'person.second-factor-removed', credentialId: removedId, before: { factor: 'passkey' } },
      { action: 'person.second-factor-removed', credentialId: null, before: { factor: 'totp' } },
    ]);
  });

  test('of another person, of an unknown one, and of TOTP that is not set up is refused', async () => {
    await people.registerPasskey(person);
    const other = await people.newPersonWithoutFactor(merchantId, 'owner');
    await people.registerPasskey(other);
    const [passkeyId] = await listPasskeyIds();
    expect((await people.refusal(RemoveSecondFactorV1, remove(passkeyId!, actorOf(other)))).code).toBe(
      'resource.not-found',
    );
    for (const factor of ['totp', 'x', '00000000-0000-7000-8000-000000000000'])
      expect((await people.refusal(RemoveSecondFactorV1, remove(factor))).code).toBe('resource.not-found');
    expect(await listPasskeyIds()).toEqual([passkeyId]);
  });

  test('requires a confirmation', async () => {
    person = await people.setUpTotp(person);
    await people.registerPasskey(person);
    people.identity.clock.advance(CONFIRMATION_MS);
    expect((await people.refusal(RemoveSecondFactorV1, remove('totp'))).code).toBe('authentication.required');
  });
});
