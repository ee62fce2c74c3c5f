import { randomUUID } from 'node:crypto';
import {
  AcceptInvitationV1,
  BeginTotpV1,
  ConfirmTotpV1,
  INVITATION_MS,
  INVITATION_PATH,
  ListPeopleV1,
  ListPersonSessionsV1,
  MAX_OPERATOR_INVITATIONS,
  MAX_OPERATORS,
  OPERATOR_IDLE_MS,
  type OperatorRole,
  ReadInvitationV1,
  ResetSecondFactorsV1,
  SESSION_MS,
} from '@svc/contracts';
import {
  actorOf,
  BROWSER,
  newEmail,
  PASSWORD,
  PeopleUnderTest,
  sha256,
  type TestPerson,
} from '../../../test/people.js';

let people: PeopleUnderTest;
beforeEach(async () => {
  people = await PeopleUnderTest.start();
});
afterEach(() => people.stop());

const OPERATORS = '/admin/v1/operators';

const invite = async (email: string, role: OperatorRole = 'operator'): Promise<{ id: string; token: string }> => {
  const { status, body } = await people.admin('POST', OPERATORS, { email, role });
  if (status !== 201) throw new Error(`The invitation was refused with ${status}: ${JSON.stringify(body)}`);
  return { id: body.invitationId as string, token: (body.path as string).slice(INVITATION_PATH.length) };
};
const newOperator = async (role: OperatorRole = 'operator'): Promise<TestPerson> => {
  const email = newEmail(role);
  return people.setUpTotp(await people.accept((await invite(email, role)).token, email));
};
/** Accepts an invitation as a person who is signed in. */
const acceptSignedIn = ({ session }: TestPerson, invitationToken: string) => {
  const sessionHash = sha256(session.sessionToken);
  return people.send(AcceptInvitationV1, { invitationToken, browser: BROWSER, requestId: 'accept', sessionHash });
};
const readOperators = async () => (await people.admin('GET', OPERATORS)).body;
const count = async (table: string): Promise<number> => {
  const [row] = await people.identity.dataSource.query(`SELECT count(*) AS rows FROM ${table}`);
  return row.rows;
};

describe('an invitation', () => {
  test('is created, listed, read with its token and accepted, and each step is in the audit log', async () => {
    const email = newEmail('viewer');
    const createdUTCDate = people.identity.clock.nowISO();
    const expiresUTCDate = new Date(Date.parse(createdUTCDate) + INVITATION_MS).toISOString();
    const { id, token } = await invite(email.toUpperCase(), 'viewer');
    expect(await readOperators()).toEqual({
      operators: [],
      invitations: [{ invitationId: id, email, role: 'viewer', createdUTCDate, expiresUTCDate }],
    });
    expect(await people.send(ReadInvitationV1, { invitationToken: token })).toEqual({
      operatorRole: 'viewer',
      email,
      expiresUTCDate,
      personExists: false,
    });
    const person = await people.accept(token, email);
    const { personId } = person;
    expect(await readOperators()).toEqual({
      operators: [
        expect.objectContaining({ personId, email, name: 'Name of viewer', role: 'viewer', secondFactors: [] }),
      ],
      invitations: [],
    });
    expect(await people.readAuditLog(null)).toMatchObject([
      {
        action: 'operator-invitation.created',
        actor: expect.stringMatching(/^admin:/),
        after: { invitationId: id, email, role: 'viewer' },
      },
      {
        action: 'operator-invitation.accepted',
        actor: `person:${personId}`,
        after: { invitationId: id, personId, email, role: 'viewer' },
      },
    ]);
    expect((await people.refusal(ReadInvitationV1, { invitationToken: token })).code).toBe('resource.not-found');
  });

  test('stores only the hash of its token', async () => {
    const { token } = await invite(newEmail('operator'));
    const rows = await people.identity.dataSource.query(`SELECT * FROM operator_invitations`);
    expect(JSON.stringify(rows)).not.toContain(token);
    expect(rows[0].token_hash).toBe(sha256(token));
  });

  test('is valid for 24 hours, and is deleted afterwards', async () => {
    const { token: invitationToken } = await invite(newEmail('operator'));
    people.identity.clock.advance(INVITATION_MS - 1);
    await people.send(ReadInvitationV1, { invitationToken });
    people.identity.clock.advance(1);
    expect((await people.refusal(ReadInvitationV1, { invitationToken })).code).toBe('resource.not-found');
    const late = { invitationToken, browser: BROWSER, requestId: 'accept', name: 'Late', password: PASSWORD };
    expect((await people.refusal(AcceptInvitationV1, late)).code).toBe('resource.not-found');
    expect((await readOperators()).invitations).toEqual([]);
  });

  test('replaces an earlier one of the email, and can be withdrawn', async () => {
    const email = newEmail('operator');
    const first = await invite(email);
    const second = await invite(email, 'viewer');
    expect((await people.refusal(ReadInvitationV1, { invitationToken: first.token })).code).toBe('resource.not-found');
    expect(await count('operator_invitations')).toBe(1);
    expect((await people.admin('DELETE', `${OPERATORS}/${second.id}`)).status).toBe(204);
    expect((await people.refusal(ReadInvitationV1, { invitationToken: second.token })).code).toBe('resource.not-found');
    expect((await people.admin('DELETE', `${OPERATORS}/${second.id}`)).status).toBe(404);
    expect((await people.readAuditLog(null)).at(-1)).toMatchObject({
      action: 'operator-invitation.withdrawn',
      before: { invitationId: second.id, email, role: 'viewer' },
    });
  });

  test('of an operator is refused, and so is an invalid email or role', async () => {
    const { email } = await newOperator();
    const statusOf = async (body: object) => (await people.admin('POST', OPERATORS, body)).status;
    expect(await statusOf({ email, role: 'viewer' })).toBe(409);
    expect(await statusOf({ email: 'no address', role: 'viewer' })).toBe(400);
    expect(await statusOf({ email: newEmail('owner'), role: 'owner' })).toBe(400);
    expect(await statusOf({ email: newEmail('viewer') })).toBe(400);
  });

  test('is accepted by a person of a merchant, who keeps the session and the role there', async () => {
    const merchantId = await people.newMerchant();
    const owner = await people.newPerson(merchantId, 'owner');
    // The sessions of operators end when they are idle, but a session in which the person accepts does not.
    people.identity.clock.advance(OPERATOR_IDLE_MS);
    const { token } = await invite(owner.email);
    expect(await acceptSignedIn(owner, token)).toEqual({ personId: owner.personId });
    expect(await people.readSession(owner)).toMatchObject({
      roles: [{ merchantId, role: 'owner' }],
      operatorRole: 'operator',
    });
  });

  test('is refused for another person, without a session, and before the second factor', async () => {
    const merchantId = await people.newMerchant();
    const [owner, other] = [
      await people.newPerson(merchantId, 'owner'),
      await people.newPersonWithoutFactor(merchantId, 'owner'),
    ];
    const { token: invitationToken } = await invite(owner.email);
    const request = { invitationToken, browser: BROWSER, requestId: 'accept' };
    expect((await people.refusal(AcceptInvitationV1, request)).code).toBe('authentication.required');
    const asOther = { ...request, sessionHash: sha256(other.session.sessionToken) };
    expect((await people.refusal(AcceptInvitationV1, asOther)).code).toBe('credentials.forbidden');
    const ofOther = { ...asOther, invitationToken: (await invite(other.email)).token };
    expect((await people.refusal(AcceptInvitationV1, ofOther)).code).toBe('credentials.forbidden');
    expect(await count('operators')).toBe(0);
  });

  test('is refused after the limits of open invitations and of operators', async () => {
    const fill = async (table: string, columns: string, values: string, rows: number) =>
      people.identity.dataSource.query(
        `INSERT INTO ${table} (${columns}) SELECT ${values} FROM generate_series(1, ${rows}) AS n`,
      );
    const { token } = await invite(newEmail('operator'));
    await fill(
      'operator_invitations',
      'invitation_id, token_hash, role, email, created_at, expires_at',
      `gen_random_uuid(), lpad(n::text, 64, '0'), 'viewer', n || '@example.com', now(), '2100-01-01'`,
      MAX_OPERATOR_INVITATIONS - 1,
    );
    const body = { email: newEmail('operator'), role: 'viewer' };
    expect((await people.admin('POST', OPERATORS, body)).status).toBe(409);
    await people.identity.dataSource.query(
      `INSERT INTO people (person_id, email, name, password_hash, created_at)
       SELECT gen_random_uuid(), n || '@example.com', 'Name', '$argon2id$', now() FROM generate_series(1, ${MAX_OPERATORS}) AS n`,
    );
    await people.identity.dataSource.query(
      `INSERT INTO operators (person_id, role, created_at) SELECT person_id, 'viewer', now() FROM people`,
    );
    const accept = { invitationToken: token, browser: BROWSER, requestId: 'accept', name: 'N', password: PASSWORD };
    expect((await people.refusal(AcceptInvitationV1, accept)).code).toBe('resource.conflict');
    expect(await count('people')).toBe(MAX_OPERATORS);
  });
});

describe('a session of an operator', () => {
  test('has the role only after the second factor', async () => {
    const email = newEmail('operator');
    const person = await people.accept((await invite(email)).token, email);
    expect(await people.readSession(person)).not.toHaveProperty('operatorRole');
    const actor = actorOf(person);
    const { secret } = await people.send(BeginTotpV1, { actor });
    await people.send(ConfirmTotpV1, { actor, code: people.code(secret) });
    expect(await people.readSession(person)).toMatchObject({ operatorRole: 'operator', roles: [] });
  });

  test('ends 15 minutes after the last activity, and 12 hours after its beginning at the latest', async () => {
    const { clock } = people.identity;
    const operator = await people.signIn(await newOperator());
    await people.readSession(operator);
    clock.advance(OPERATOR_IDLE_MS - 1);
    expect(await people.readSession(operator)).toBeDefined();
    clock.advance(OPERATOR_IDLE_MS - 1);
    expect(await people.readSession(operator)).toBeDefined();
    clock.advance(OPERATOR_IDLE_MS);
    expect(await people.readSession(operator)).toBeUndefined();
    const { code } = await people.refusal(ListPersonSessionsV1, { actor: actorOf(operator) });
    expect(code).toBe('authentication.required');

    const active = await people.signIn(operator);
    const endsAt = Date.parse(active.session.expiresUTCDate);
    await people.readSession(active);
    expect(endsAt - clock.now().getTime()).toBeGreaterThan(SESSION_MS - OPERATOR_IDLE_MS);
    while (endsAt - clock.now().getTime() > OPERATOR_IDLE_MS) {
      clock.advance(OPERATOR_IDLE_MS - 1);
      expect(await people.readSession(active)).toBeDefined();
    }
    clock.advance(endsAt - clock.now().getTime());
    expect(await people.readSession(active)).toBeUndefined();
  });

  test('is not prolonged by a page that renews itself', async () => {
    const operator = await people.signIn(await newOperator());
    await people.readSession(operator);
    people.identity.clock.advance(OPERATOR_IDLE_MS - 1);
    expect(await people.readSession(operator, BROWSER, false)).toBeDefined();
    people.identity.clock.advance(1);
    expect(await people.readSession(operator)).toBeUndefined();
  });

  test('that is idle is not in the list of sessions', async () => {
    const operator = await newOperator();
    people.identity.clock.advance(OPERATOR_IDLE_MS);
    const second = await people.signIn(operator);
    const { sessions } = await people.send(ListPersonSessionsV1, { actor: actorOf(second) });
    expect(sessions.map(({ current }) => current)).toEqual([true]);
  });

  test('a session of a person of a merchant is not ended by being idle', async () => {
    const owner = await people.newPerson(await people.newMerchant(), 'owner');
    people.identity.clock.advance(OPERATOR_IDLE_MS * 10);
    expect(await people.readSession(owner)).toBeDefined();
  });
});

describe('an operator', () => {
  test('gets another role, which is effective for the next page', async () => {
    await newOperator();
    const second = await newOperator();
    const path = `${OPERATORS}/${second.personId}`;
    expect((await people.admin('PATCH', path, { role: 'viewer' })).status).toBe(204);
    expect(await people.readSession(second)).toMatchObject({ operatorRole: 'viewer' });
    const entries = (await people.readAuditLog(null)).length;
    expect((await people.admin('PATCH', path, { role: 'viewer' })).status).toBe(204);
    expect(await people.readAuditLog(null)).toHaveLength(entries);
    expect((await people.readAuditLog(null)).at(-1)).toMatchObject({
      action: 'operator.role-changed',
      before: { personId: second.personId, role: 'operator' },
      after: { personId: second.personId, role: 'viewer', revokedKeys: [] },
    });
    expect((await people.admin('PATCH', path, { role: 'owner' })).status).toBe(400);
    expect((await people.admin('PATCH', `${OPERATORS}/${randomUUID()}`, { role: 'viewer' })).status).toBe(404);
  });

  test('is removed, and deleted without a role at a merchant', async () => {
    await newOperator();
    const second = await newOperator('viewer');
    expect((await people.admin('DELETE', `${OPERATORS}/${second.personId}`)).status).toBe(204);
    expect(await people.readSession(second)).toBeUndefined();
    expect(await count('people')).toBe(1);
    expect((await people.admin('DELETE', `${OPERATORS}/${second.personId}`)).status).toBe(404);
    expect((await people.readAuditLog(null)).at(-1)).toMatchObject({
      action: 'operator.removed',
      before: { personId: second.personId, role: 'viewer' },
      after: { revokedKeys: [] },
    });
  });

  test('keeps the roles at merchants after the removal, and is kept after the removal there', async () => {
    await newOperator();
    const merchantId = await people.newMerchant();
    const person = await people.newPerson(merchantId, 'owner');
    const accept = async () => acceptSignedIn(person, (await invite(person.email, 'viewer')).token);
    await accept();
    await people.admin('DELETE', `${OPERATORS}/${person.personId}`);
    const session = await people.readSession(person);
    expect(session).toMatchObject({ roles: [{ merchantId, role: 'owner' }] });
    expect(session).not.toHaveProperty('operatorRole');
    await accept();
    await people.admin('DELETE', `/admin/v1/merchants/${merchantId}/people/${person.personId}`);
    expect(await people.readSession(person)).toMatchObject({ roles: [], operatorRole: 'viewer' });
  });

  test('with the role operator must remain', async () => {
    const [operator, viewer] = [await newOperator(), await newOperator('viewer')];
    const path = `${OPERATORS}/${operator.personId}`;
    expect((await people.admin('DELETE', path)).status).toBe(409);
    expect((await people.admin('PATCH', path, { role: 'viewer' })).status).toBe(409);
    expect(await people.readSession(operator)).toMatchObject({ operatorRole: 'operator' });
    await people.admin('PATCH', `${OPERATORS}/${viewer.personId}`, { role: 'operator' });
    expect((await people.admin('DELETE', path)).status).toBe(204);
  });

  test('of two who are removed at the same time, one remains', async () => {
    const operators = [await newOperator(), await newOperator()];
    const removed = await Promise.all(
      operators.map(({ personId }) => people.admin('DELETE', `${OPERATORS}/${personId}`)),
    );
    expect(removed.map(({ status }) => status).sort()).toEqual([204, 409]);
    expect(await count('operators')).toBe(1);
  });

  test('has no rights at merchants', async () => {
    const merchantId = await people.newMerchant();
    const operator = await newOperator();
    expect((await people.refusal(ListPeopleV1, { actor: actorOf(operator), merchantId })).code).toBe(
      'credentials.forbidden',
    );
  });

  test('keeps the second factors when an owner of the same merchant wants to reset them', async () => {
    const merchantId = await people.newMerchant();
    const [owner, person] = [
      await people.newPerson(merchantId, 'owner'),
      await people.newPerson(merchantId, 'support'),
    ];
    await acceptSignedIn(person, (await invite(person.email)).token);
    const { personId } = person;
    const reset = { actor: actorOf(owner), merchantId, personId, language: 'en' as const };
    expect((await people.refusal(ResetSecondFactorsV1, reset)).code).toBe('resource.conflict');
    expect(await people.readSession(person)).toMatchObject({ secondFactors: ['totp'] });
  });
});

test('a sign-in link of development accepts the invitation of an operator', async () => {
  const email = newEmail('operator');
  await invite(email);
  expect((await people.admin('POST', '/admin/v1/people/sign-in-link', { email })).status).toBe(201);
  expect((await readOperators()).operators).toMatchObject([{ email, role: 'operator' }]);
});
