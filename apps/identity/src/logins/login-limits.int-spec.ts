/** How many logins of an address may fail (A5): a partner's server is one address for all its customers. */
import { randomUUID } from 'node:crypto';
import { httpClient, type TestService } from '@svc/testing';
import { aPartner, clientOf, logIn, startIdentity, type TestPartner } from '../../test/identity.js';
import { LoginLimits } from './login-limits.js';

const PASSWORD = 'correct horse battery';
/** Of the test's own calls. */
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
  partner = await aPartner(identity);
  call = clientOf(identity, partner, await logIn(identity, partner));
});

const owner = () => ({ organisationId: partner.organisationId, mode: 'test' }) as const;
const login = (email: string, password: string) => call('POST', '/v1/auth/customers/login', { email, password });
async function aCustomer(email: string): Promise<void> {
  const { userId } = (await call('POST', '/v1/auth/users', { email, password: PASSWORD })).body as { userId: string };
  await call('POST', '/v1/auth/customers/register', { userId });
}

/** Failures of the address, as that many wrong passwords for different emails leave them. */
const failFrom = async (address: string, count: number) => {
  for (let i = 0; i < count; i++) await (await limits.begin(owner(), `${randomUUID()}@example.com`, address)).failed();
};

test('allows an address five more failures for each customer who logged in from it within a day', async () => {
  await aCustomer('thandi@example.com');
  await aCustomer('sipho@example.com');
  // A customer counts once: repeated logins with one account allow no further guesses.
  for (const email of ['thandi@example.com', 'sipho@example.com', 'thandi@example.com', 'thandi@example.com'])
    expect((await login(email, PASSWORD)).status).toBe(200);
  identity.clock.advance(24 * 60 * 60_000 - 60_000);
  call = clientOf(identity, partner, await logIn(identity, partner));
  await failFrom(ADDRESS, 109);
  expect((await login('thandi@example.com', PASSWORD)).status).toBe(200);
  expect((await login('unknown@example.com', PASSWORD)).status).toBe(401);
  // The response is the same for every email and password.
  for (const [email, password] of [
    ['thandi@example.com', PASSWORD],
    ['sipho@example.com', 'wrong password'],
    ['unknown@example.com', PASSWORD],
  ] as const)
    expect(await login(email, password)).toMatchObject({ status: 429, headers: { 'retry-after': '900' } });
  // Another address is not locked, and has no customers.
  await failFrom('203.0.113.9', 100);
  await expect(failFrom('203.0.113.9', 1)).rejects.toMatchObject({ code: 'request.rate-limited' });
});

test('stops counting the login of a customer after a day', async () => {
  await aCustomer('thandi@example.com');
  expect((await login('thandi@example.com', PASSWORD)).status).toBe(200);
  identity.clock.advance(24 * 60 * 60_000);
  await failFrom(ADDRESS, 100);
  await expect(failFrom(ADDRESS, 1)).rejects.toMatchObject({ code: 'request.rate-limited' });
  const rows = await identity.dataSource.query<unknown[]>('SELECT 1 FROM login_successes WHERE at <= $1', [
    new Date(identity.clock.now().getTime() - 24 * 60 * 60_000),
  ]);
  expect(rows).toEqual([]);
});

/** As many failures of an address as that, at this moment. */
const insertFailures = (address: string, count: number) =>
  identity.dataSource.query(
    `INSERT INTO login_failures SELECT gen_random_uuid(), $1, $2 FROM generate_series(1, $3::int)`,
    [address, identity.clock.now(), count],
  );

test('ignores a customer login of a day ago, even before its row is deleted', async () => {
  for (let i = 0; i < 30; i++) await (await limits.begin(owner(), `customer${i}@example.com`, ADDRESS)).succeeded();
  const [{ address }] = await identity.dataSource.query<[{ address: string }]>(
    'SELECT address FROM login_successes GROUP BY address ORDER BY count(*) DESC LIMIT 1',
  );
  identity.clock.advance(24 * 60 * 60_000);
  await insertFailures(address, 100);
  await expect(failFrom(ADDRESS, 1)).rejects.toMatchObject({ code: 'request.rate-limited' });
});

test('ignores a failure of a quarter of an hour ago, even before its row is deleted', async () => {
  await failFrom(ADDRESS, 100);
  const [{ address }] = await identity.dataSource.query<[{ address: string }]>(
    'SELECT subject AS address FROM login_failures GROUP BY subject ORDER BY count(*) DESC LIMIT 1',
  );
  await insertFailures(address, 150);
  identity.clock.advance(15 * 60_000);
  await expect(failFrom(ADDRESS, 1)).resolves.toBeUndefined();
});

test('allows many concurrent logins with right passwords: a login in progress does not count as a failure', async () => {
  const underWay = await Promise.all(
    Array.from({ length: 120 }, (_, i) => limits.begin(owner(), `customer${i}@example.com`, ADDRESS)),
  );
  for (const one of underWay) await one.succeeded();
  expect(underWay).toHaveLength(120);
});

test('allows customers to mistype up to the limit of an email, without a lock for other customers', async () => {
  for (let i = 0; i < 60; i++) {
    const email = `customer${i}@example.com`;
    for (let wrong = 0; wrong < 4; wrong++) await (await limits.begin(owner(), email, ADDRESS)).failed();
    await (await limits.begin(owner(), email, ADDRESS)).succeeded();
  }
  await aCustomer('thandi@example.com');
  expect((await login('thandi@example.com', PASSWORD)).status).toBe(200);
});

test('has a maximum for every address, however many customers it has', async () => {
  await aCustomer('thandi@example.com');
  expect((await login('thandi@example.com', PASSWORD)).status).toBe(200);
  const [row] = await identity.dataSource.query<[{ address: string }]>(
    'SELECT address FROM login_successes ORDER BY at DESC LIMIT 1',
  );
  await identity.dataSource.query(
    `INSERT INTO login_successes SELECT $1, encode(sha256(i::text::bytea), 'hex'), $2 FROM generate_series(1, 3000) AS i`,
    [row.address, identity.clock.now()],
  );
  await insertFailures(row.address, 9999);
  expect((await login('unknown@example.com', PASSWORD)).status).toBe(401);
  expect((await login('thandi@example.com', PASSWORD)).status).toBe(429);
});
