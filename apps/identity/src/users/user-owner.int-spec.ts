/**
 * Tests that a user, a customer and a login belong to one organisation and mode. The same email in another organisation
 * or mode belongs to another user.
 */
import { CustomerRegisteredV1 } from '@svc/contracts';
import type { TestService } from '@svc/testing';
import {
  type Client,
  createPartner,
  logIn,
  partnerClient,
  startIdentity,
  type TestPartner,
} from '../../test/identity.js';

let identity: TestService;
/**
 * Three clients: of an organisation in test mode, of the same organisation in live mode, and of another organisation in
 * test mode.
 */
let clients: readonly Client[];
beforeAll(async () => {
  identity = await startIdentity();
  const firstPartner = await createPartner(identity);
  const partners: TestPartner[] = [
    firstPartner,
    await createPartner(identity, 'live', firstPartner.organisationId),
    await createPartner(identity),
  ];
  clients = await Promise.all(
    partners.map(async (partner) => partnerClient(identity, partner, await logIn(identity, partner))),
  );
});
afterAll(() => identity.stop());

const passwordFor = (index: number): string => `correct horse battery ${index}`;
const createUser = async (index: number, email: string): Promise<string> => {
  const { status, body } = await clients[index]!('POST', '/v1/auth/users', { email, password: passwordFor(index) });
  expect(status).toBe(201);
  return body.userId as string;
};

test('a user can be registered as a customer only by its own organisation and mode', async () => {
  const users = [
    await createUser(0, 'registered@example.com'),
    await createUser(1, 'registered@example.com'),
    await createUser(2, 'registered@example.com'),
  ];
  const registerWithEachClient = async (userId: string): Promise<number[]> =>
    Promise.all(
      clients.map(async (client) => (await client('POST', '/v1/auth/customers/register', { userId })).status),
    );
  expect([
    await registerWithEachClient(users[0]!),
    await registerWithEachClient(users[1]!),
    await registerWithEachClient(users[2]!),
  ]).toEqual([
    [201, 404, 404],
    [404, 201, 404],
    [404, 404, 201],
  ]);
});

test('a customer is published once, with the name of its user', async () => {
  const user = { email: 'ayesha@example.com', password: passwordFor(0), firstName: 'Ayesha' };
  const { userId } = (await clients[0]!('POST', '/v1/auth/users', user)).body;
  const register = () => clients[0]!('POST', '/v1/auth/customers/register', { userId });
  const [{ body }] = [await register(), await register()];
  const events = (await identity.published(CustomerRegisteredV1)).filter(
    ({ aggregateId }) => aggregateId === body.customerReference,
  );
  const { customerReference, organisationId } = body;
  expect(events.map(({ payload }) => payload)).toEqual([
    { customerReference, organisationId, mode: 'test', firstName: 'Ayesha', lastName: '' },
  ]);
});

test('the same email has a separate password and customer in each organisation and mode', async () => {
  const references: string[] = [];
  for (const [index, client] of clients.entries()) {
    const userId = await createUser(index, 'shared@example.com');
    const { body } = await client('POST', '/v1/auth/customers/register', { userId });
    references.push(body.customerReference as string);
    expect((await client('POST', '/v1/auth/customers/register', { userId })).body).toEqual(body);
  }
  expect(new Set(references).size).toBe(clients.length);
  for (const [index, client] of clients.entries())
    for (const passwordIndex of clients.keys()) {
      const login = { email: 'shared@example.com', password: passwordFor(passwordIndex) };
      const { status, body } = await client('POST', '/v1/auth/customers/login', login);
      expect([status, body?.customer?.id]).toEqual(
        passwordIndex === index ? [200, references[index]] : [401, undefined],
      );
    }
});

test('a user who is not registered as a customer cannot log in', async () => {
  await createUser(0, 'unregistered@example.com');
  const { status } = await clients[0]!('POST', '/v1/auth/customers/login', {
    email: 'unregistered@example.com',
    password: passwordFor(0),
  });
  expect(status).toBe(401);
});
