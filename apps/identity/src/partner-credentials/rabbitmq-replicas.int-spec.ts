import { Controller, Get, Module } from '@nestjs/common';
import {
  type AuthenticatedPartner,
  ForPartners,
  Partner,
  PartnerAuthModule,
  PartnerCredentials1763500000020,
} from '@svc/auth';
import { type RunningService, ServiceConfig, type ServiceDefinition } from '@svc/service';
import { DistributedServices, httpClient, openOlderTransaction, waitUntil } from '@svc/testing';
import { ADMIN_KEY, CONSOLE_URL, SEALING_KEY } from '../../test/identity.js';
import { identityService } from '../index.js';

// Tests identity with four replicas of a service of the main API, which receives keys only as events.

@Controller('v1/caller')
@ForPartners('payments:read')
class CallerController {
  @Get()
  getCaller(@Partner() { organisationId }: AuthenticatedPartner): { organisationId: string } {
    return { organisationId };
  }
}

@Module({ imports: [PartnerAuthModule], controllers: [CallerController] })
class MainApiModule {}

const mainApi: ServiceDefinition = {
  name: 'main-api',
  config: ServiceConfig,
  module: MainApiModule,
  migrations: [PartnerCredentials1763500000020],
};

let services: DistributedServices;
let identity: RunningService;
let replicas: RunningService[] = [];

beforeAll(async () => {
  services = await DistributedServices.start();
  const env = await services.environment(mainApi);
  replicas = [];
  for (let i = 0; i < 4; i++) {
    const replica = await services.start(mainApi, env);
    await replica.app.listen(0, '127.0.0.1');
    replicas.push(replica);
  }
  // identity starts last, because it cannot publish events before the queues of the replicas are bound.
  const settings = { SVC_ADMIN_KEY: ADMIN_KEY, SVC_SEALING_KEY: SEALING_KEY, SVC_CONSOLE_URL: CONSOLE_URL };
  identity = await services.start(identityService, await services.environment(identityService, settings));
});
afterAll(() => services.close());

const admin = (...call: Parameters<ReturnType<typeof httpClient>>) =>
  httpClient(identity, { 'x-admin-key': ADMIN_KEY })(...call);

/** Creates a partner with a key and a token, and waits until all replicas accept them. */
async function createPartner() {
  const { organisationId } = (await admin('POST', '/admin/v1/organisations', { name: 'Partner' })).body;
  const path = `/admin/v1/organisations/${organisationId}`;
  const createKey = async () => {
    const { keyId, apiKey } = (await admin('POST', `${path}/keys`, { mode: 'test' })).body as Record<string, string>;
    return { keyId: keyId!, apiKey: apiKey!, revoke: () => admin('DELETE', `${path}/keys/${keyId}`) };
  };
  const { apiToken } = (await admin('POST', `${path}/api-tokens`, { mode: 'test' })).body;
  const key = await createKey();
  const login = await httpClient(identity, { 'x-api-key': key.apiKey })('POST', '/v1/auth/service/login', {
    organisationId,
    apiToken,
  });
  const token: string = login.body.identityToken;
  const requestStatus = async (replica: RunningService, apiKey: string): Promise<number> => {
    const headers = { 'x-api-key': apiKey, authorization: `Bearer ${token}` };
    const response = await fetch(`${await replica.app.getUrl()}/v1/caller`, { headers });
    await response.body?.cancel();
    return response.status;
  };
  const statusesOfReplicas = async (apiKey: string) =>
    new Set(await Promise.all(replicas.map((replica) => requestStatus(replica, apiKey))));
  const waitUntilAccepted = (apiKey: string) =>
    waitUntil('every replica to accept the key', 10_000, async () => {
      const statuses = await statusesOfReplicas(apiKey);
      return statuses.size === 1 && statuses.has(200);
    });
  await waitUntilAccepted(key.apiKey);
  return { key, createKey, waitUntilAccepted, statusesOfReplicas, requestStatus };
}

test('when a key is revoked, all four replicas reject it within 5 s', async () => {
  const durationsMs: number[] = [];
  for (let round = 0; round < 3; round++) {
    const partner = await createPartner();
    const startedAt = Date.now();
    expect((await partner.key.revoke()).status).toBe(204);
    await waitUntil('every replica to reject the key', 5_000, async () => {
      const statuses = await partner.statusesOfReplicas(partner.key.apiKey);
      return statuses.size === 1 && statuses.has(401);
    });
    durationsMs.push(Date.now() - startedAt);
    // The key stays rejected.
    for (let i = 0; i < 50; i++) expect(await partner.statusesOfReplicas(partner.key.apiKey)).toEqual(new Set([401]));
  }
  expect(Math.max(...durationsMs)).toBeLessThan(5_000);
});

test('a new key is accepted and a revoked key is rejected while a transaction in another database is open', async () => {
  const partner = await createPartner();
  await using olderTransaction = await openOlderTransaction();
  const newKey = await partner.createKey();
  expect((await partner.key.revoke()).status).toBe(204);
  await waitUntil('every replica to reject the key', 5_000, async () => {
    const statuses = await partner.statusesOfReplicas(partner.key.apiKey);
    return statuses.size === 1 && statuses.has(401);
  });
  await partner.waitUntilAccepted(newKey.apiKey);
  await olderTransaction.end();
  expect(await partner.statusesOfReplicas(partner.key.apiKey)).toEqual(new Set([401]));
});

test('no request fails while a key is rotated under load', async () => {
  const { key, createKey, waitUntilAccepted, statusesOfReplicas, requestStatus } = await createPartner();
  let currentApiKey = key.apiKey;
  let isStopped = false;
  const countByStatus = new Map<number, number>();
  const requestLoops = replicas.map(async (replica) => {
    while (!isStopped) {
      const status = await requestStatus(replica, currentApiKey);
      countByStatus.set(status, (countByStatus.get(status) ?? 0) + 1);
    }
  });
  const waitForSuccesses = (count: number) =>
    waitUntil(`${count} calls`, 30_000, () => Promise.resolve((countByStatus.get(200) ?? 0) >= count));
  try {
    let oldKey = key;
    for (let rotation = 0; rotation < 3; rotation++) {
      await waitForSuccesses((countByStatus.get(200) ?? 0) + 100);
      const newKey = await createKey();
      await waitUntilAccepted(newKey.apiKey);
      currentApiKey = newKey.apiKey;
      // Now all requests with the old key have received their responses.
      await waitForSuccesses((countByStatus.get(200) ?? 0) + 100);
      await oldKey.revoke();
      const revoked = oldKey.apiKey;
      await waitUntil('the old key to be rejected', 5_000, async () => (await statusesOfReplicas(revoked)).has(401));
      oldKey = newKey;
    }
  } finally {
    isStopped = true;
    await Promise.all(requestLoops);
  }
  expect([...countByStatus.keys()]).toEqual([200]);
});
