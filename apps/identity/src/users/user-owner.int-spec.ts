/** A user, a customer and a login belong to one organisation and mode: the same email elsewhere is another user. */
import { CustomerRegisteredV1 } from '@svc/contracts';
import type { TestService } from '@svc/testing';
import { createPartner, type Client, partnerClient, logIn, startIdentity, type TestPartner } from '../../test/identity.js';

let identity: TestService;
let clients: readonly Client[];
beforeAll(async () => {
  identity = await startIdentity();
  const ours = await createPartner(identity);
  const partners: TestPartner[] = [
    ours,
    await createPartner(identity, 'live', ours.organisationId),
    await createPartner(identity),
  ];
  clients = await Promise.all(
    partners.map(async (partner) => partnerClient(identity, partner, await logIn(identity, partner))),
  );
});
afterAll(() => identity.stop());

const passwordOf = (nth: number): string => `correct horse battery ${nth}`;
const newUser = async (nth: number, email: string): Promise<string> => {
  const { status, body } = await clients[nth]!('POST', '/v1/auth/users', { email, password: passwordOf(nth) });
  expect(status).toBe(201);
  return body.userId as string;
};

test('a user is registered as a customer only by its own organisation and mode', async () => {
  const users = [
    await newUser(0, 'one@example.com'),
    await newUser(1, 'one@example.com'),
    await newUser(2, 'one@example.com'),
  ];
  const statuses = async (userId: string): Promise<number[]> =>
    Promise.all(
      clients.map(async (client) => (await client('POST', '/v1/auth/customers/register', { userId })).status),
    );
  expect([await statuses(users[0]!), await statuses(users[1]!), await statuses(users[2]!)]).toEqual([
    [201, 404, 404],
    [404, 201, 404],
    [404, 404, 201],
  ]);
});

test('a customer is published once, with the name of its user', async () => {
  const account = { email: 'named@example.com', password: passwordOf(0), firstName: 'Ayesha' };
  const { userId } = (await clients[0]!('POST', '/v1/auth/users', account)).body;
  const register = () => clients[0]!('POST', '/v1/auth/customers/register', { userId });
  const [{ body }] = [await register(), await register()];
  const told = (await identity.published(CustomerRegisteredV1)).filter(
    ({ aggregateId }) => aggregateId === body.customerReference,
  );
  const { customerReference, organisationId } = body;
  expect(told.map(({ payload }) => payload)).toEqual([
    { customerReference, organisationId, mode: 'test', firstName: 'Ayesha', lastName: '' },
  ]);
});

test('the same email has a separate password and customer in each organisation and mode', async () => {
  const references: string[] = [];
  for (const [nth, client] of clients.entries()) {
    const userId = await newUser(nth, 'two@example.com');
    const { body } = await client('POST', '/v1/auth/customers/register', { userId });
    references.push(body.customerReference as string);
    expect((await client('POST', '/v1/auth/customers/register', { userId })).body).toEqual(body);
  }
  expect(new Set(references).size).toBe(clients.length);
  for (const [nth, client] of clients.entries())
    for (const other of clients.keys()) {
      const login = { email: 'two@example.com', password: passwordOf(other) };
      const { status, body } = await client('POST', '/v1/auth/customers/login', login);
      expect([status, body?.customer?.id]).toEqual(other === nth ? [200, references[nth]] : [401, undefined]);
    }
});

test('a user who is not a customer cannot log in, even if other users of the organisation can', async () => {
  await newUser(0, 'three@example.com');
  const { status } = await clients[0]!('POST', '/v1/auth/customers/login', {
    email: 'three@example.com',
    password: passwordOf(0),
  });
  expect(status).toBe(401);
});
