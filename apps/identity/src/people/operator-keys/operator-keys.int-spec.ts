import { randomUUID } from 'node:crypto';
import { Module } from '@nestjs/common';
import { OperatorKeys, OperatorKeys1763500000040, OperatorKeysModule } from '@svc/auth';
import { INVITATION_PATH, MAX_KEYS_PER_OPERATOR, type OperatorRole } from '@svc/contracts';
import { EmbeddedBroker } from '@svc/messaging';
import { ServiceConfig, type ServiceDefinition } from '@svc/service';
import { httpClient, ManualClock, startTestService, type TestService, waitUntil } from '@svc/testing';
import { ADMIN_KEY, type Client } from '../../../test/identity.js';
import { newEmail, PeopleUnderTest, sha256, type TestPerson } from '../../../test/people.js';

@Module({ imports: [OperatorKeysModule] })
class VerifierModule {}

/** A service with an administration API: it has the data of the events that it has received. */
const verifier: ServiceDefinition = {
  name: 'verifier',
  config: ServiceConfig,
  module: VerifierModule,
  migrations: [OperatorKeys1763500000040],
};

const KEYS = '/admin/v1/operator-keys';
const OPERATORS = '/admin/v1/operators';
const DAY_MS = 24 * 60 * 60_000;
const START = new Date('2026-03-01T08:00:00Z');

let people: PeopleUnderTest;
let verifierService: TestService;
/** Sends the shared key. */
let admin: Client;
beforeEach(async () => {
  const [clock, broker] = [new ManualClock(START), new EmbeddedBroker()];
  verifierService = await startTestService(verifier, { clock, broker });
  people = await PeopleUnderTest.start({
    clock,
    broker,
    env: { SVC_ADMIN_KEY_RECOVERY_UNTIL: '2026-03-10T12:00:00Z' },
  });
  admin = people.admin;
});
afterEach(async () => {
  await people.stop();
  await verifierService.stop();
});

const clientWith = (key: string): Client => httpClient(people.identity.service, { 'x-admin-key': key });
const newOperatorWithoutFactor = async (role: OperatorRole): Promise<TestPerson> => {
  const email = newEmail(role);
  const { body } = await admin('POST', OPERATORS, { email, role });
  return people.accept((body.path as string).slice(INVITATION_PATH.length), email);
};
const newOperator = async (role: OperatorRole): Promise<TestPerson> =>
  people.setUpTotp(await newOperatorWithoutFactor(role));
const createKey = async (
  { email }: TestPerson,
  role: OperatorRole,
  client = admin,
  days = 30,
): Promise<{ keyId: string; operatorKey: string; expiresUTCDate: string }> => {
  const { status, body } = await client('POST', KEYS, { email, role, days });
  if (status !== 201) throw new Error(`The key was refused with ${status}: ${JSON.stringify(body)}`);
  return body;
};
/** Whether the other service accepts the key. */
const isKnown = async (key: string): Promise<boolean> =>
  (await verifierService.service.app.get(OperatorKeys).find(key)) !== undefined;

describe('a key', () => {
  test('is shown once, stored as a hash, listed without the key, and in the audit log', async () => {
    const operator = await newOperator('operator');
    const createdUTCDate = people.identity.clock.nowISO();
    const expiresUTCDate = new Date(Date.parse(createdUTCDate) + 30 * DAY_MS).toISOString();
    const created = await createKey(operator, 'viewer');
    const { keyId, operatorKey } = created;
    expect(created).toEqual({
      keyId: expect.any(String),
      operatorKey: expect.stringMatching(/^svc_operator_[\w-]{43}$/),
      expiresUTCDate,
    });
    const { personId, email } = operator;
    const prefix = operatorKey.slice(0, 19);
    const { status, body } = await admin('GET', KEYS);
    expect(status).toBe(200);
    expect(body).toEqual({
      operatorKeys: [{ keyId, personId, email, role: 'viewer', prefix, ended: false, createdUTCDate, expiresUTCDate }],
    });
    const rows = await people.identity.dataSource.query(`SELECT * FROM operator_keys`);
    expect(JSON.stringify(rows)).not.toContain(operatorKey);
    expect(rows[0].hash).toBe(sha256(operatorKey));
    const log = await people.readAuditLog(null);
    expect(JSON.stringify(log)).not.toContain(operatorKey);
    expect(log.at(-1)).toMatchObject({
      action: 'operator-key.created',
      credentialId: keyId,
      after: { personId, role: 'viewer', prefix, expiresUTCDate },
    });
  });

  test('names its operator in the audit log', async () => {
    const operator = await newOperator('operator');
    const { operatorKey } = await createKey(operator, 'operator');
    await clientWith(operatorKey)('POST', OPERATORS, { email: newEmail('viewer'), role: 'viewer' });
    expect((await people.readAuditLog(null)).at(-1)).toMatchObject({
      action: 'operator-invitation.created',
      actor: `operator:${operator.personId}`,
    });
  });

  test('is refused with a role above that of the operator, without a second factor, and for other people', async () => {
    const statusOf = async (email: string, role: OperatorRole) =>
      (await admin('POST', KEYS, { email, role, days: 1 })).status;
    expect(await statusOf((await newOperator('viewer')).email, 'operator')).toBe(409);
    expect(await statusOf((await newOperatorWithoutFactor('viewer')).email, 'viewer')).toBe(409);
    expect(await statusOf((await people.newPerson(await people.newMerchant(), 'owner')).email, 'viewer')).toBe(404);
    expect(await statusOf(newEmail('nobody'), 'viewer')).toBe(404);
  });

  test('has 1 to 90 days, and an operator has at most five valid keys', async () => {
    const operator = await newOperator('viewer');
    const statusOf = async (days: unknown) =>
      (await admin('POST', KEYS, { email: operator.email, role: 'viewer', days })).status;
    for (const days of [0, 91, 1.5, '1', undefined]) expect(await statusOf(days)).toBe(400);
    expect(await statusOf(90)).toBe(201);
    for (let created = 1; created < MAX_KEYS_PER_OPERATOR; created++) expect(await statusOf(1)).toBe(201);
    expect(await statusOf(1)).toBe(409);
    people.identity.clock.advance(DAY_MS);
    expect(await statusOf(1)).toBe(201);
  });

  test('expires at its time, in identity and in other services', async () => {
    const { operatorKey } = await createKey(await newOperator('viewer'), 'viewer', admin, 1);
    await people.identity.relay();
    people.identity.clock.advance(DAY_MS - 1);
    expect((await clientWith(operatorKey)('GET', KEYS)).status).toBe(200);
    expect(await isKnown(operatorKey)).toBe(true);
    people.identity.clock.advance(1);
    expect((await clientWith(operatorKey)('GET', KEYS)).status).toBe(401);
    expect(await isKnown(operatorKey)).toBe(false);
    expect((await admin('GET', KEYS)).body.operatorKeys).toMatchObject([{ ended: true }]);
  });

  test('is revoked, at once in identity and within seconds in other services, without the relay', async () => {
    const { keyId, operatorKey } = await createKey(await newOperator('viewer'), 'viewer');
    await people.identity.relay();
    expect(await isKnown(operatorKey)).toBe(true);
    expect((await admin('DELETE', `${KEYS}/${keyId}`)).status).toBe(204);
    expect((await clientWith(operatorKey)('GET', KEYS)).status).toBe(401);
    await waitUntil('the revocation', 5_000, async () => !(await isKnown(operatorKey)));
    await people.identity.relay();
    expect(await isKnown(operatorKey)).toBe(false);
    const entries = (await people.readAuditLog(null)).length;
    expect((await admin('DELETE', `${KEYS}/${keyId}`)).status).toBe(204);
    expect(await people.readAuditLog(null)).toHaveLength(entries);
    expect((await admin('DELETE', `${KEYS}/${randomUUID()}`)).status).toBe(404);
  });

  test('of a removed operator is revoked', async () => {
    const operator = await newOperator('viewer');
    const { keyId, operatorKey } = await createKey(operator, 'viewer');
    await people.identity.relay();
    expect((await admin('DELETE', `${OPERATORS}/${operator.personId}`)).status).toBe(204);
    expect((await clientWith(operatorKey)('GET', KEYS)).status).toBe(401);
    await waitUntil('the revocation', 5_000, async () => !(await isKnown(operatorKey)));
    expect((await people.readAuditLog(null)).at(-1)).toMatchObject({ after: { revokedKeys: [keyId] } });
  });

  test('of role operator is revoked when its operator becomes viewer, and one of role viewer is not', async () => {
    const [first, second] = [await newOperator('operator'), await newOperator('operator')];
    const viewing = await createKey(second, 'viewer');
    const own = await createKey(first, 'operator');
    const client = clientWith(own.operatorKey);
    const changing = await createKey(second, 'operator', client);
    await people.identity.relay();
    expect((await client('PATCH', `${OPERATORS}/${second.personId}`, { role: 'viewer' })).status).toBe(204);
    expect((await clientWith(changing.operatorKey)('GET', KEYS)).status).toBe(401);
    expect((await clientWith(viewing.operatorKey)('GET', KEYS)).status).toBe(200);
    await waitUntil('the revocation', 5_000, async () => !(await isKnown(changing.operatorKey)));
    expect(await isKnown(viewing.operatorKey)).toBe(true);
    expect((await people.readAuditLog(null)).at(-1)).toMatchObject({ after: { revokedKeys: [changing.keyId] } });
  });

  test('of an operator gives no access to the APIs of merchants and partners', async () => {
    const { operatorKey } = await createKey(await newOperator('operator'), 'operator');
    const client = httpClient(people.identity.service, { 'x-api-key': operatorKey });
    expect((await client('POST', '/v1/auth/service/login', {})).status).toBe(401);
  });
});

describe('the shared key', () => {
  const hasEnded = () => verifierService.service.app.get(OperatorKeys).hasEndedSharedKey();

  test('is accepted while no key of role operator was created', async () => {
    await createKey(await newOperator('operator'), 'viewer');
    await people.identity.relay();
    expect((await admin('GET', KEYS)).status).toBe(200);
    expect(await hasEnded()).toBe(false);
  });

  test('ends with the first key of role operator: at once in identity, and with the event in other services', async () => {
    await createKey(await newOperator('operator'), 'operator');
    const { status, body } = await admin('GET', KEYS);
    expect([status, body.code]).toEqual([403, 'credentials.shared-key-ended']);
    expect(body.detail).toContain('Send the key of an operator');
    expect(await hasEnded()).toBe(false);
    await people.identity.relay();
    expect(await hasEnded()).toBe(true);
  });

  test('stays refused when this key was revoked or has expired, except during a recovery', async () => {
    const operator = await newOperator('operator');
    const { keyId, operatorKey } = await createKey(operator, 'operator');
    expect((await clientWith(operatorKey)('DELETE', `${KEYS}/${keyId}`)).status).toBe(204);
    await people.identity.relay();
    expect((await admin('GET', KEYS)).status).toBe(403);
    expect(await hasEnded()).toBe(true);

    const { clock } = people.identity;
    clock.advance(Date.parse('2026-03-09T12:00:00Z') - clock.now().getTime() - 1);
    expect((await admin('GET', KEYS)).status).toBe(403);
    clock.advance(1);
    const recovered = await createKey(operator, 'operator');
    expect((await clientWith(recovered.operatorKey)('GET', KEYS)).status).toBe(200);
    clock.advance(DAY_MS);
    expect((await clientWith(ADMIN_KEY)('GET', KEYS)).status).toBe(403);
    expect((await clientWith(recovered.operatorKey)('GET', KEYS)).status).toBe(200);
  });
});
