import {
  AcceptInvitationV1,
  CONFIRMATION_MS,
  INVITATION_MS,
  type InvitePerson,
  InvitePersonV1,
  ListPeopleV1,
  MAX_INVITATIONS_PER_MERCHANT,
  ReadInvitationV1,
  type Role,
  WithdrawInvitationV1,
} from '@svc/contracts';
import {
  actorOf,
  BROWSER,
  newEmail,
  newInvitation,
  OTHER_BROWSER,
  PASSWORD,
  PeopleUnderTest,
  sha256,
  type TestPerson,
} from '../../../test/people.js';

let people: PeopleUnderTest;
let merchantId: number;
let siteId: number;
let owner: TestPerson;
beforeAll(async () => {
  people = await PeopleUnderTest.start();
});
afterAll(() => people.stop());
beforeEach(async () => {
  merchantId = await people.newMerchant('Karoo Roastery');
  siteId = await people.newSite(merchantId);
  owner = await people.newPerson(merchantId, 'owner');
});

const invite = (
  email: string,
  role: Role = 'support',
  scope: { merchantId: number; siteId?: number } = { merchantId },
) => sendInvitation({ actor: actorOf(owner), ...scope, email, role, ...newInvitation() });
const sendInvitation = async (request: InvitePerson) => {
  const { invitationToken, ...created } = await people.send(InvitePersonV1, request);
  return { ...created, invitationToken: invitationToken! };
};
const newPersonRequest = (invitationToken: string) => ({
  invitationToken,
  browser: BROWSER,
  requestId: 'accept',
  name: 'Lindiwe',
  password: PASSWORD,
});

describe('an invitation', () => {
  test('is created by an owner, read with its token, listed, and in the audit log', async () => {
    const email = newEmail('support');
    const createdUTCDate = people.identity.clock.nowISO();
    const expiresUTCDate = new Date(Date.parse(createdUTCDate) + INVITATION_MS).toISOString();
    const created = await invite(email.toUpperCase(), 'support', { merchantId, siteId });
    expect(created).toEqual({
      invitationId: expect.any(String),
      invitationToken: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      expiresUTCDate,
    });
    const { invitationId, invitationToken } = created;
    expect(await people.send(ReadInvitationV1, { invitationToken })).toEqual({
      merchantId,
      merchantName: 'Karoo Roastery',
      siteId,
      siteName: 'Shop',
      role: 'support',
      email,
      expiresUTCDate,
      personExists: false,
    });
    const { invitations } = await people.send(ListPeopleV1, { actor: actorOf(owner), merchantId });
    expect(invitations).toEqual([{ invitationId, email, siteId, role: 'support', createdUTCDate, expiresUTCDate }]);
    expect((await people.readAuditLog(merchantId)).at(-1)).toEqual({
      action: 'invitation.created',
      actor: `person:${owner.personId}`,
      requestId: 'request-1',
      siteId,
      credentialId: null,
      before: null,
      after: { invitationId, email, role: 'support' },
    });
  });

  test('is stored with the hash of its token only', async () => {
    const { invitationId, invitationToken } = await invite(newEmail('support'));
    const [row] = await people.identity.dataSource.query(`SELECT * FROM invitations WHERE invitation_id = $1`, [
      invitationId,
    ]);
    expect(row.token_hash).toBe(sha256(invitationToken));
    expect(JSON.stringify(row)).not.toContain(invitationToken);
  });

  test.each(['finance', 'support', 'developer'] as const)('cannot be created by the role %s', async (role) => {
    const person = await people.newPerson(merchantId, role);
    const request = {
      actor: actorOf(person),
      merchantId,
      email: newEmail('x'),
      role: 'support',
      ...newInvitation(),
    } as const;
    expect((await people.refusal(InvitePersonV1, request)).code).toBe('credentials.forbidden');
  });

  test('cannot be created at another merchant, nor at a site of another merchant', async () => {
    const otherMerchantId = await people.newMerchant();
    const otherSiteId = await people.newSite(otherMerchantId);
    const request = { actor: actorOf(owner), email: newEmail('x'), role: 'support', ...newInvitation() } as const;
    const codes = [
      await people.refusal(InvitePersonV1, { ...request, merchantId: otherMerchantId }),
      await people.refusal(InvitePersonV1, { ...request, merchantId: otherMerchantId, siteId: otherSiteId }),
      await people.refusal(InvitePersonV1, { ...request, merchantId, siteId: otherSiteId }),
    ].map(({ code }) => code);
    expect(codes).toEqual(['credentials.forbidden', 'credentials.forbidden', 'resource.not-found']);
  });

  test('of the owner of a site is possible for this site only', async () => {
    const siteOwner = await people.newPerson(merchantId, 'owner', siteId);
    const otherSiteId = await people.newSite(merchantId);
    const request = {
      actor: actorOf(siteOwner),
      merchantId,
      email: newEmail('x'),
      role: 'owner',
      ...newInvitation(),
    } as const;
    await people.send(InvitePersonV1, { ...request, ...newInvitation(), siteId });
    expect((await people.refusal(InvitePersonV1, request)).code).toBe('credentials.forbidden');
    expect((await people.refusal(InvitePersonV1, { ...request, siteId: otherSiteId })).code).toBe(
      'credentials.forbidden',
    );
  });

  test('replaces an earlier one of the email to the same scope only', async () => {
    const email = newEmail('support');
    const first = await invite(email);
    const atSite = await invite(email, 'support', { merchantId, siteId });
    const second = await invite(email, 'finance');
    expect((await people.refusal(ReadInvitationV1, { invitationToken: first.invitationToken })).code).toBe(
      'resource.not-found',
    );
    for (const { invitationToken } of [atSite, second]) await people.send(ReadInvitationV1, { invitationToken });
  });

  test('of a person who has a role there is refused', async () => {
    const support = await people.newPerson(merchantId, 'support');
    const request = {
      actor: actorOf(owner),
      merchantId,
      email: support.email,
      role: 'owner',
      ...newInvitation(),
    } as const;
    expect((await people.refusal(InvitePersonV1, request)).code).toBe('resource.conflict');
    await people.send(InvitePersonV1, { ...request, ...newInvitation(), siteId });
  });

  test('is refused after 100 open ones of the merchant, until one expires', async () => {
    await people.identity.dataSource.query(
      `INSERT INTO invitations (invitation_id, token_hash, merchant_id, role, email, created_at, expires_at)
       SELECT gen_random_uuid(), encode(sha256(('token ' || $1 || n)::bytea), 'hex'), $1::bigint, 'support',
              n || '@shop.example', $2, $3 FROM generate_series(1, ${MAX_INVITATIONS_PER_MERCHANT}) AS n`,
      [merchantId, people.identity.clock.now(), people.identity.clock.later(1)],
    );
    const request = {
      actor: actorOf(owner),
      merchantId,
      email: newEmail('x'),
      role: 'support',
      ...newInvitation(),
    } as const;
    expect((await people.refusal(InvitePersonV1, request)).code).toBe('resource.conflict');
    await people.send(InvitePersonV1, { ...request, ...newInvitation(), email: '1@shop.example' });
    people.identity.clock.advance(1);
    await people.send(InvitePersonV1, request);
  });

  test.each([
    ['role', { role: 'admin' as Role }],
    ['email', { email: 'no address' }],
  ])('with an invalid %s is refused', async (field, invalid) => {
    const request = {
      actor: actorOf(owner),
      merchantId,
      email: newEmail('x'),
      role: 'support' as Role,
      ...newInvitation(),
      ...invalid,
    };
    expect(await people.refusal(InvitePersonV1, request)).toMatchObject({
      code: 'request.invalid',
      fields: [{ field }],
    });
  });

  test('is withdrawn by an owner of its merchant only', async () => {
    const { invitationId, invitationToken } = await invite(newEmail('support'));
    const otherMerchantId = await people.newMerchant();
    const stranger = await people.newPerson(otherMerchantId, 'owner');
    const refusals = [
      await people.refusal(WithdrawInvitationV1, { actor: actorOf(stranger), merchantId, invitationId }),
      await people.refusal(WithdrawInvitationV1, {
        actor: actorOf(stranger),
        merchantId: otherMerchantId,
        invitationId,
      }),
      await people.refusal(WithdrawInvitationV1, { actor: actorOf(owner), merchantId, siteId, invitationId }),
    ].map(({ code }) => code);
    expect(refusals).toEqual(['credentials.forbidden', 'resource.not-found', 'resource.not-found']);
    await people.send(ReadInvitationV1, { invitationToken });
    const withdraw = { actor: actorOf(owner), merchantId, invitationId };
    expect(await people.send(WithdrawInvitationV1, withdraw)).toEqual({ withdrawn: true });
    expect((await people.refusal(ReadInvitationV1, { invitationToken })).code).toBe('resource.not-found');
    expect((await people.readAuditLog(merchantId)).at(-1)).toMatchObject({
      action: 'invitation.withdrawn',
      actor: `person:${owner.personId}`,
      before: { invitationId, role: 'support' },
    });
  });

  test('is withdrawn only after a confirmation', async () => {
    const { invitationId, invitationToken } = await invite(newEmail('support'));
    people.identity.clock.advance(CONFIRMATION_MS);
    const withdraw = { actor: actorOf(owner), merchantId, invitationId };
    expect((await people.refusal(WithdrawInvitationV1, withdraw)).code).toBe('authentication.required');
    await people.send(ReadInvitationV1, { invitationToken });
  });
});

describe('the acceptance', () => {
  test('creates a new person with the role', async () => {
    const email = newEmail('support');
    const { invitationId, invitationToken } = await invite(email, 'support', { merchantId, siteId });
    const { personId, session } = await people.send(AcceptInvitationV1, newPersonRequest(invitationToken));
    expect(session).toMatchObject({ setUpRequired: true });
    const person = await people.setUpTotp({ personId, email, session: session!, totpSecret: '' });
    expect(await people.readSession(person)).toMatchObject({
      personId,
      name: 'Lindiwe',
      email,
      roles: [{ merchantId, siteId, role: 'support' }],
    });
    await people.signIn(person);
    expect((await people.readAuditLog(merchantId)).at(-1)).toEqual({
      action: 'invitation.accepted',
      actor: `person:${personId}`,
      requestId: 'accept',
      siteId,
      credentialId: null,
      before: null,
      after: { invitationId, personId, email, role: 'support' },
    });
  });

  test('is possible until 24 hours after the invitation', async () => {
    const [first, second] = [await invite(newEmail('a')), await invite(newEmail('b'))];
    people.identity.clock.advance(INVITATION_MS - 1);
    await people.send(AcceptInvitationV1, newPersonRequest(first.invitationToken));
    people.identity.clock.advance(1);
    const { invitationToken } = second;
    expect((await people.refusal(ReadInvitationV1, { invitationToken })).code).toBe('resource.not-found');
    expect((await people.refusal(AcceptInvitationV1, newPersonRequest(invitationToken))).code).toBe(
      'resource.not-found',
    );
  });

  test('is possible once', async () => {
    const { invitationToken } = await invite(newEmail('support'));
    await people.send(AcceptInvitationV1, newPersonRequest(invitationToken));
    expect((await people.refusal(AcceptInvitationV1, newPersonRequest(invitationToken))).code).toBe(
      'resource.not-found',
    );
  });

  test('of many concurrent ones only one succeeds, and one person is created', async () => {
    const email = newEmail('support');
    const { invitationToken } = await invite(email);
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () => people.send(AcceptInvitationV1, newPersonRequest(invitationToken))),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const { people: listed } = await people.send(ListPeopleV1, { actor: actorOf(owner), merchantId });
    expect(listed.filter((person) => person.email === email)).toHaveLength(1);
  });

  test.each([
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(101) }],
    ['password', { password: 'too short' }],
    ['password', { password: 'x'.repeat(129) }],
  ])('with an invalid %s is refused, and the invitation stays valid', async (field, invalid) => {
    const { invitationToken } = await invite(newEmail('support'));
    const request = newPersonRequest(invitationToken);
    expect(await people.refusal(AcceptInvitationV1, { ...request, ...invalid })).toMatchObject({
      code: 'request.invalid',
      fields: [{ field }],
    });
    await people.send(AcceptInvitationV1, request);
  });

  test('without name and password of a new person is refused', async () => {
    const { invitationToken } = await invite(newEmail('support'));
    const request = { invitationToken, browser: BROWSER, requestId: 'accept' };
    expect(await people.refusal(AcceptInvitationV1, request)).toMatchObject({
      code: 'request.invalid',
      fields: [{ field: 'name' }, { field: 'password' }],
    });
  });

  describe('of a person who exists', () => {
    let person: TestPerson;
    let otherMerchantId: number;
    let invitationToken: string;
    beforeEach(async () => {
      otherMerchantId = await people.newMerchant();
      person = await people.newPerson(otherMerchantId, 'finance');
      invitationToken = (await invite(person.email)).invitationToken;
    });
    const accept = (changes: { sessionHash?: string; browser?: string } = {}) => ({
      invitationToken,
      browser: BROWSER,
      requestId: 'accept',
      ...changes,
    });
    const sessionHashOf = ({ session }: TestPerson): string => sha256(session.sessionToken);

    test('adds the role to the person who is signed in, and keeps the session', async () => {
      expect(await people.send(ReadInvitationV1, { invitationToken })).toMatchObject({ personExists: true });
      const request = accept({ sessionHash: sessionHashOf(person) });
      expect(await people.send(AcceptInvitationV1, request)).toEqual({ personId: person.personId });
      const { roles } = (await people.readSession(person))!;
      expect(roles).toEqual([
        { merchantId, role: 'support' },
        { merchantId: otherMerchantId, role: 'finance' },
      ]);
    });

    test('is refused without a session, also with a new password, and in another browser', async () => {
      const requests = [
        accept(),
        { ...accept(), name: 'Thief', password: PASSWORD },
        accept({ sessionHash: sha256('unknown') }),
        accept({ sessionHash: sessionHashOf(person), browser: OTHER_BROWSER }),
      ];
      for (const request of requests)
        expect((await people.refusal(AcceptInvitationV1, request)).code).toBe('authentication.required');
      await people.send(ReadInvitationV1, { invitationToken });
    });

    test('is refused in the session of another person, and in one without a second factor', async () => {
      const withoutFactor = await people.newPersonWithoutFactor(await people.newMerchant(), 'owner');
      const { invitationToken: own } = await invite(withoutFactor.email);
      const ofOther = accept({ sessionHash: sessionHashOf(owner) });
      expect((await people.refusal(AcceptInvitationV1, ofOther)).code).toBe('credentials.forbidden');
      const ofIncomplete = { ...accept({ sessionHash: sessionHashOf(withoutFactor) }), invitationToken: own };
      expect((await people.refusal(AcceptInvitationV1, ofIncomplete)).code).toBe('credentials.forbidden');
    });
  });
});
