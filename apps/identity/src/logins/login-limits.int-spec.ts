/**
 * Tests the limit of failed logins from an IP address (A5). All customers of a partner may use the same address,
 * because their logins come from the partner's server.
 */
import { randomUUID } from 'node:crypto';
import { httpClient, type TestService } from '@svc/testing';
import { createPartner, logIn, partnerClient, startIdentity, type TestPartner } from '../../test/identity.js';
import { LoginLimits } from './login-limits.js';

const PASSWORD = 'correct horse battery';
/** The address from which the requests of this test arrive. */
const ADDRESS = '127.0.0.1';

let identity: TestService;
let limits: LoginLimits;
let partner: TestPartner;
let call: ReturnType<typeof httpClient>;
beforeAll(async () => {
  identity = await startIdentity();
  limits = identity.service.app.get(LoginLimits);
});
afterAll(() => identity.stop());
beforeEach(async () => {
  partner = await createPartner(identity);
  call = partnerClient(identity, partner, await logIn(identity, partner));
});

const owner = () => ({ organisationId: partner.organisationId, mode: 'test' }) as const;
const login = (email: string, password: string) => call('POST', '/v1/auth/customers/login', { email, password });
async function createCustomer(email: string): Promise<void> {
  const { userId } = (await call('POST', '/v1/auth/users', { email, password: PASSWORD })).body as { userId: string };
  await call('POST', '/v1/auth/customers/register', { userId });
}

/** Makes this number of failed logins from the address, each with a different email. */
const addFailures = async (address: string, count: number) => {
  for (let i = 0; i < count; i++) await (await limits.begin(owner(), `${randomUUID()}@example.com`, address)).failed();
};

test('each customer who logged in from an address in the last day allows five more failures from the address', async () => {
  await createCustomer('thandi@example.com');
  await createCustomer('sipho@example.com');
  // A customer counts only once, so repeated logins of one customer do not increase the limit again.
  for (const email of ['thandi@example.com', 'sipho@example.com', 'thandi@example.com', 'thandi@example.com'])
    expect((await login(email, PASSWORD)).status).toBe(200);
  // Almost a day later, the partner needs a new token.
  identity.clock.advance(24 * 60 * 60_000 - 60_000);
  call = partnerClient(identity, partner, await logIn(identity, partner));
  // The limit is 110: 100, plus 5 for each of the two customers.
  await addFailures(ADDRESS, 109);
  expect((await login('thandi@example.com', PASSWORD)).status).toBe(200);
  expect((await login('unknown@example.com', PASSWORD)).status).toBe(401);
  // The address is locked for every email, even with the right password.
  for (const [email, password] of [
    ['thandi@example.com', PASSWORD],
    ['sipho@example.com', 'wrong password'],
    ['unknown@example.com', PASSWORD],
  ] as const)
    expect(await login(email, password)).toMatchObject({ status: 429, headers: { 'retry-after': '900' } });
  // Another address has its own limit, which is 100 because no customer has logged in from it.
  await addFailures('203.0.113.9', 100);
  await expect(addFailures('203.0.113.9', 1)).rejects.toMatchObject({ code: 'request.rate-limited' });
});

test('the login of a customer no longer increases the limit after a day, and its row is deleted', async () => {
  await createCustomer('thandi@example.com');
  expect((await login('thandi@example.com', PASSWORD)).status).toBe(200);
  identity.clock.advance(24 * 60 * 60_000);
  await addFailures(ADDRESS, 100);
  await expect(addFailures(ADDRESS, 1)).rejects.toMatchObject({ code: 'request.rate-limited' });
  const rows = await identity.dataSource.query<unknown[]>('SELECT 1 FROM login_successes WHERE at <= $1', [
    new Date(identity.clock.now().getTime() - 24 * 60 * 60_000),
  ]);
  expect(rows).toEqual([]);
});

/** Inserts this number of failures of the address hash, with the current time. */
const insertFailures = (address: string, count: number) =>
  identity.dataSource.query(
    `INSERT INTO login_failures SELECT gen_random_uuid(), $1, $2 FROM generate_series(1, $3::int)`,
    [address, identity.clock.now(), count],
  );

test('the login of a customer no longer increases the limit after a day, even before its row is deleted', async () => {
  for (let i = 0; i < 30; i++) await (await limits.begin(owner(), `customer${i}@example.com`, ADDRESS)).succeeded();
  const [{ address }] = await identity.dataSource.query<[{ address: string }]>(
    'SELECT address FROM login_successes GROUP BY address ORDER BY count(*) DESC LIMIT 1',
  );
  identity.clock.advance(24 * 60 * 60_000);
  // With 30 customers the limit would be 250. The limit without customers is 100, and these failures reach it.
  await insertFailures(address, 100);
  await expect(addFailures(ADDRESS, 1)).rejects.toMatchObject({ code: 'request.rate-limited' });
});

test('a failure no longer counts after 15 minutes, even before its row is deleted', async () => {
  await addFailures(ADDRESS, 100);
  const [{ address }] = await identity.dataSource.query<[{ address: string }]>(
    'SELECT subject AS address FROM login_failures GROUP BY subject ORDER BY count(*) DESC LIMIT 1',
  );
  await insertFailures(address, 150);
  identity.clock.advance(15 * 60_000);
  await expect(addFailures(ADDRESS, 1)).resolves.toBeUndefined();
});

test('logins in progress do not count as failures of an address, so more than 100 logins may be concurrent', async () => {
  const attempts = await Promise.all(
    Array.from({ length: 120 }, (_, i) => limits.begin(owner(), `customer${i}@example.com`, ADDRESS)),
  );
  for (const attempt of attempts) await attempt.succeeded();
  expect(attempts).toHaveLength(120);
});

test('the failures of customers do not lock the address for others if each customer stays below the limit of an email', async () => {
  for (let i = 0; i < 60; i++) {
    const email = `customer${i}@example.com`;
    for (let failure = 0; failure < 4; failure++) await (await limits.begin(owner(), email, ADDRESS)).failed();
    await (await limits.begin(owner(), email, ADDRESS)).succeeded();
  }
  await createCustomer('thandi@example.com');
  expect((await login('thandi@example.com', PASSWORD)).status).toBe(200);
});

test('an address is locked after 10 000 failures, even if thousands of customers logged in from it', async () => {
  await createCustomer('thandi@example.com');
  expect((await login('thandi@example.com', PASSWORD)).status).toBe(200);
  const [row] = await identity.dataSource.query<[{ address: string }]>(
    'SELECT address FROM login_successes ORDER BY at DESC LIMIT 1',
  );
  await identity.dataSource.query(
    `INSERT INTO login_successes SELECT $1, encode(sha256(i::text::bytea), 'hex'), $2 FROM generate_series(1, 3000) AS i`,
    [row.address, identity.clock.now()],
  );
  await insertFailures(row.address, 9999);
  // This login is the last failure that is allowed.
  expect((await login('unknown@example.com', PASSWORD)).status).toBe(401);
  expect((await login('thandi@example.com', PASSWORD)).status).toBe(429);
});
