/**
 * Which administration endpoints a key admits: a table that is made from the routes, so that a new endpoint is in it. Each
 * endpoint is called with the key of each role, with the shared key after the first operator, and with ended keys.
 */
import { randomUUID } from 'node:crypto';
import type { OperatorRole } from '@svc/contracts';
import { addSecondFactor, ADMIN_KEY, type MainApi, startMainApi } from '../test/main-api.js';

let api: MainApi;
const keys = new Map<string, string>();
beforeAll(async () => {
  api = await startMainApi({ hostedGateway: true });
  const email = `${randomUUID()}@platform.example`;
  await api.administer('POST', '/operators', { email, role: 'operator' });
  await api.administer('POST', '/people/sign-in-link', { email });
  const { operators } = await api.administer('GET', '/operators');
  await addSecondFactor(api, (operators as unknown as { personId: string }[])[0]!.personId);
  const create = async (role: OperatorRole) => api.administer('POST', '/operator-keys', { email, role, days: 1 });
  const revoked = await create('viewer');
  await api.administer('DELETE', `/operator-keys/${revoked['keyId']}`);
  keys.set('revoked', revoked['operatorKey']!);
  keys.set('viewer', (await create('viewer'))['operatorKey']!);
  keys.set('operator', (await create('operator'))['operatorKey']!);
  keys.set('shared', ADMIN_KEY);
  keys.set('unknown', `svc_operator_${'x'.repeat(43)}`);
  await api.relayAllEvents();
});
afterAll(() => api?.stop());

const listEndpoints = (): string[] => api.adminEndpoints.filter((endpoint) => / \/admin\//.test(endpoint));

/** Calls an endpoint with ids that do not exist. Returns the status, and the code of an error. */
async function call(endpoint: string, key: string): Promise<[status: number, code: string | undefined]> {
  const [method, template] = endpoint.split(' ') as [string, string];
  const path = template.replaceAll(/:(\w+)/g, (_, name: string) =>
    ['merchantId', 'siteId'].includes(name) ? '999999' : randomUUID(),
  );
  const headers = { 'x-admin-key': keys.get(key)! };
  const { status, text } = await api.callAdmin({ method, path, headers, ...(method === 'GET' ? {} : { body: {} }) });
  const code = status >= 400 && text !== '' ? (JSON.parse(text) as { code: string }).code : undefined;
  return [status, code];
}

/** Calls each endpoint, and returns those whose result is another one. */
async function findOthers(
  key: string,
  isExpected: (result: readonly [number, string | undefined], method: string) => boolean,
): Promise<unknown[]> {
  const others: unknown[] = [];
  for (const endpoint of listEndpoints()) {
    const result = await call(endpoint, key);
    if (!isExpected(result, endpoint.split(' ')[0]!)) others.push([endpoint, ...result]);
  }
  return others;
}

const isRefused = ([status]: readonly [number, unknown]): boolean => status === 401 || status === 403;

test('all services have administration endpoints that read, and endpoints that change', () => {
  expect(listEndpoints().filter((endpoint) => endpoint.startsWith('GET ')).length).toBeGreaterThan(20);
  expect(listEndpoints().filter((endpoint) => !endpoint.startsWith('GET ')).length).toBeGreaterThan(20);
});

test('a viewer reads with every endpoint, and changes nothing', async () => {
  const others = await findOthers('viewer', (result, method) =>
    method === 'GET' ? !isRefused(result) : result[0] === 403 && result[1] === 'credentials.forbidden',
  );
  expect(others).toEqual([]);
});

test('an unknown and a revoked key are refused everywhere', async () => {
  for (const key of ['unknown', 'revoked']) expect(await findOthers(key, ([status]) => status === 401)).toEqual([]);
});

test('the shared key is refused everywhere after the first operator, with an error that says what to do', async () => {
  const others = await findOthers(
    'shared',
    ([status, code]) => status === 403 && code === 'credentials.shared-key-ended',
  );
  expect(others).toEqual([]);
});

test('an operator reads and changes with every endpoint', async () => {
  expect(await findOthers('operator', (result) => !isRefused(result))).toEqual([]);
});

test('every service checks the expiry with its own clock', async () => {
  api.clock.advance(24 * 60 * 60_000);
  for (const key of ['viewer', 'operator']) expect(await findOthers(key, ([status]) => status === 401)).toEqual([]);
});
