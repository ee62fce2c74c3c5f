import {
  BeginPasskeyRegistrationV1,
  BeginTotpV1,
  ConfirmPersonV1,
  EndPersonSessionV1,
  FinishSignInV1,
  InvitePersonV1,
  ListPeopleV1,
  ListPersonSessionsV1,
  ListSecondFactorsV1,
  MAX_DEVICE_NAME_LENGTH,
  MAX_SESSIONS_PER_PERSON,
  type PersonActor,
  SESSION_MS,
  type SessionDevice,
} from '@svc/contracts';
import {
  actorOf,
  ADDRESS,
  BROWSER,
  newInvitation,
  OTHER_BROWSER,
  PASSWORD,
  PeopleUnderTest,
  sha256,
  type TestPerson,
} from '../../../test/people.js';

let people: PeopleUnderTest;
let merchantId: number;
let owner: TestPerson;
beforeAll(async () => {
  people = await PeopleUnderTest.start();
});
afterAll(() => people.stop());
beforeEach(async () => {
  merchantId = await people.newMerchant();
  owner = await people.newPerson(merchantId, 'owner');
});

test('a session is read with the person and the roles', async () => {
  const startedUTCDate = people.identity.clock.nowISO();
  const person = await people.signIn(owner);
  expect(person.session).toEqual({
    sessionToken: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    expiresUTCDate: new Date(Date.parse(startedUTCDate) + SESSION_MS).toISOString(),
    setUpRequired: false,
  });
  expect(await people.readSession(person)).toEqual({
    sessionId: expect.any(String),
    personId: person.personId,
    name: 'Name of owner',
    email: person.email,
    roles: [{ merchantId, role: 'owner' }],
    secondFactors: ['totp'],
    setUpRequired: false,
    authenticatedUTCDate: startedUTCDate,
    startedUTCDate,
    expiresUTCDate: person.session.expiresUTCDate,
  });
});

test('only the hash of a session token is stored', async () => {
  const rows = await people.identity.dataSource.query(`SELECT * FROM person_sessions WHERE person_id = $1`, [
    owner.personId,
  ]);
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(owner.session.sessionToken);
  expect(rows[0].token_hash).toBe(sha256(owner.session.sessionToken));
});

test('a session expires twelve hours after the sign-in, although it is used', async () => {
  const person = await people.signIn(owner);
  const remainingMs = Date.parse(person.session.expiresUTCDate) - people.identity.clock.now().getTime();
  people.identity.clock.advance(remainingMs - 1);
  expect(await people.readSession(person)).toBeDefined();
  people.identity.clock.advance(1);
  expect(await people.readSession(person)).toBeUndefined();
});

test('a request of another browser is refused and ends the session', async () => {
  expect(await people.readSession(owner, OTHER_BROWSER)).toBeUndefined();
  expect(await people.readSession(owner)).toBeUndefined();
  const { code } = await people.refusal(ListPeopleV1, { actor: actorOf(owner), merchantId });
  expect(code).toBe('authentication.required');
});

test('a command with an actor of another browser is refused and ends the session', async () => {
  const { code } = await people.refusal(ListPeopleV1, { actor: actorOf(owner, OTHER_BROWSER), merchantId });
  expect(code).toBe('authentication.required');
  expect(await people.readSession(owner)).toBeUndefined();
});

test('a session that the person has ended is refused by the next request', async () => {
  expect(await people.send(EndPersonSessionV1, { actor: actorOf(owner), sessions: 'current' })).toEqual({ ended: 1 });
  expect(await people.readSession(owner)).toBeUndefined();
  const { code } = await people.refusal(ListPeopleV1, { actor: actorOf(owner), merchantId });
  expect(code).toBe('authentication.required');
});

test('a person lists and ends the own sessions, and none of another person', async () => {
  const second = await people.signIn(owner);
  const stranger = await people.newPerson(merchantId, 'owner');
  const { sessions } = await people.send(ListPersonSessionsV1, { actor: actorOf(second) });
  expect(sessions).toEqual([
    {
      sessionId: expect.any(String),
      startedUTCDate: expect.any(String),
      expiresUTCDate: second.session.expiresUTCDate,
      method: 'password',
      current: true,
    },
    {
      sessionId: expect.any(String),
      startedUTCDate: expect.any(String),
      expiresUTCDate: owner.session.expiresUTCDate,
      method: 'password',
      current: false,
    },
  ]);
  const [, first] = sessions;
  const refused = await people.refusal(EndPersonSessionV1, { actor: actorOf(stranger), sessions: first!.sessionId });
  expect(refused.code).toBe('resource.not-found');
  expect(await people.readSession(owner)).toBeDefined();
  const end = { actor: actorOf(second), sessions: first!.sessionId };
  expect(await people.send(EndPersonSessionV1, end)).toEqual({ ended: 1 });
  expect(await people.readSession(owner)).toBeUndefined();
  expect(await people.readSession(second)).toBeDefined();
  const entries = await people.readAuditLog(null);
  expect(entries.at(-1)).toMatchObject({
    action: 'person.sessions-ended',
    actor: `person:${owner.personId}`,
    after: { personId: owner.personId, ended: 1 },
  });
});

test('a session is listed with the device of its sign-in, which has limits', async () => {
  const signIn = async (device: SessionDevice) => {
    const signInToken = await people.beginSignIn(owner.email);
    const code = people.code(owner.totpSecret);
    return { signInToken, code, browser: BROWSER, device };
  };
  const device = { name: 'Firefox on Android', address: '2001:db8::7' };
  const session = await people.send(FinishSignInV1, await signIn(device));
  people.nextStep();
  const { sessions } = await people.send(ListPersonSessionsV1, { actor: actorOf({ ...owner, session }) });
  expect(sessions.map((each) => each.device)).toEqual([device, undefined]);
  for (const invalid of [
    { ...device, name: '' },
    { ...device, name: 'x'.repeat(MAX_DEVICE_NAME_LENGTH + 1) },
    { ...device, address: 'x'.repeat(46) },
  ])
    expect((await people.refusal(FinishSignInV1, await signIn(invalid))).code).toBe('request.invalid');
});

test('a person ends all other sessions', async () => {
  const stranger = await people.newPerson(merchantId, 'owner');
  const current = await people.signIn(await people.signIn(owner));
  expect(await people.send(EndPersonSessionV1, { actor: actorOf(current), sessions: 'others' })).toEqual({ ended: 2 });
  expect(await people.readSession(owner)).toBeUndefined();
  expect(await people.readSession(current)).toBeDefined();
  expect(await people.readSession(stranger)).toBeDefined();
});

test('a person has at most 20 sessions: a further sign-in ends the oldest', async () => {
  const [first, others]: [TestPerson, TestPerson[]] = [owner, []];
  for (let count = 1; count < MAX_SESSIONS_PER_PERSON; count++) others.push(await people.signIn(owner));
  expect(await people.readSession(first)).toBeDefined();
  const last = await people.signIn(owner);
  expect(await people.readSession(first)).toBeUndefined();
  for (const session of [...others, last]) expect(await people.readSession(session)).toBeDefined();
});

describe('a session without a second factor', () => {
  let person: TestPerson;
  beforeEach(async () => {
    person = await people.newPersonWithoutFactor(merchantId, 'owner');
  });

  test('has no roles', async () => {
    expect(person.session.setUpRequired).toBe(true);
    expect(await people.readSession(person)).toMatchObject({ roles: [], secondFactors: [], setUpRequired: true });
  });

  test('can do nothing with a role, and cannot confirm', async () => {
    const actor = actorOf(person);
    const invitation = { actor, merchantId, role: 'owner', email: 'a@b.example', ...newInvitation() } as const;
    const confirmation = { actor, address: ADDRESS, password: PASSWORD, code: '123456' };
    expect([
      (await people.refusal(ListPeopleV1, { actor, merchantId })).code,
      (await people.refusal(InvitePersonV1, invitation)).code,
      (await people.refusal(ConfirmPersonV1, confirmation)).code,
    ]).toEqual(['credentials.forbidden', 'credentials.forbidden', 'credentials.forbidden']);
  });

  test('gets the roles when TOTP is set up in it', async () => {
    const complete = await people.setUpTotp(person);
    expect(await people.readSession(complete)).toMatchObject({
      roles: [{ merchantId, role: 'owner' }],
      secondFactors: ['totp'],
      setUpRequired: false,
    });
  });

  test('gets the roles when a passkey is set up in it', async () => {
    await people.registerPasskey(person);
    expect(await people.readSession(person)).toMatchObject({
      roles: [{ merchantId, role: 'owner' }],
      secondFactors: ['passkey'],
      setUpRequired: false,
    });
  });

  test('ends when a second factor is set up in another session', async () => {
    const signInToken = await people.beginSignIn(person.email);
    const other = { ...person, session: await people.send(FinishSignInV1, { signInToken, browser: BROWSER }) };
    expect(await people.readSession(other)).toMatchObject({ setUpRequired: true });
    await people.setUpTotp(person);
    expect(await people.readSession(other)).toBeUndefined();
  });
});

test.each<[string, Partial<PersonActor>]>([
  ['sessionHash', { sessionHash: 'x' }],
  ['browser', { browser: 'A'.repeat(64) }],
  ['requestId', { requestId: '' }],
  ['requestId', { requestId: 'x'.repeat(101) }],
])('an actor with an invalid %s is refused: %j', async (field, invalid) => {
  const actor = { ...actorOf(owner), ...invalid };
  for (const type of [ListPersonSessionsV1, ListSecondFactorsV1, BeginTotpV1, BeginPasskeyRegistrationV1])
    expect(await people.refusal<{ actor: PersonActor }, unknown>(type, { actor })).toMatchObject({
      code: 'request.invalid',
      fields: [{ field }],
    });
});
