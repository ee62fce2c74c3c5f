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
import { ADMIN_KEY, SEALING_KEY } from '../../test/identity.js';
import { identityService } from '../index.js';

// identity and four replicas of a service of the main API. The replicas know keys only from events.

@Controller('v1/who')
@ForPartners('payments:read')
class WhoController {
  @Get()
  whoami(@Partner() { organisationId }: AuthenticatedPartner): { organisationId: string } {
    return { organisationId };
  }
}

@Module({ imports: [PartnerAuthModule], controllers: [WhoController] })
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
  // Starts last, because an event without a bound queue would wait.
  const settings = { SVC_ADMIN_KEY: ADMIN_KEY, SVC_SEALING_KEY: SEALING_KEY };
  identity = await services.start(identityService, await services.environment(identityService, settings));
});
afterAll(() => services.close());

const admin = (...call: Parameters<ReturnType<typeof httpClient>>) =>
  httpClient(identity, { 'x-admin-key': ADMIN_KEY })(...call);

/** A partner whom all replicas know, with a token. */
async function aKnownPartner() {
  const { organisationId } = (await admin('POST', '/admin/v1/organisations', { name: 'Partner' })).body;
  const path = `/admin/v1/organisations/${organisationId}`;
  const aKey = async () => {
    const { keyId, apiKey } = (await admin('POST', `${path}/keys`, { mode: 'test' })).body as Record<string, string>;
    return { keyId: keyId!, apiKey: apiKey!, revoke: () => admin('DELETE', `${path}/keys/${keyId}`) };
  };
  const { apiToken } = (await admin('POST', `${path}/api-tokens`, { mode: 'test' })).body;
  const key = await aKey();
  const login = await httpClient(identity, { 'x-api-key': key.apiKey })('POST', '/v1/auth/service/login', {
    organisationId,
    apiToken,
  });
  const token: string = login.body.identityToken;
  const statusAt = async (replica: RunningService, apiKey: string): Promise<number> => {
    const headers = { 'x-api-key': apiKey, authorization: `Bearer ${token}` };
    const answer = await fetch(`${await replica.app.getUrl()}/v1/who`, { headers });
    await answer.body?.cancel();
    return answer.status;
  };
  const everywhere = async (apiKey: string) =>
    new Set(await Promise.all(replicas.map((replica) => statusAt(replica, apiKey))));
  const isKnown = (apiKey: string) =>
    waitUntil('every replica to know the key', 10_000, async () => {
      const statuses = await everywhere(apiKey);
      return statuses.size === 1 && statuses.has(200);
    });
  await isKnown(key.apiKey);
  return { key, aKey, isKnown, everywhere, statusAt };
}

test('a key that is revoked while four replicas run is rejected by all of them within 5 s', async () => {
  const took: number[] = [];
  for (let round = 0; round < 3; round++) {
    const partner = await aKnownPartner();
    const begin = Date.now();
    expect((await partner.key.revoke()).status).toBe(204);
    await waitUntil('every replica to refuse the key', 5_000, async () => {
      const statuses = await partner.everywhere(partner.key.apiKey);
      return statuses.size === 1 && statuses.has(401);
    });
    took.push(Date.now() - begin);
    // The key stays rejected.
    for (let i = 0; i < 50; i++) expect(await partner.everywhere(partner.key.apiKey)).toEqual(new Set([401]));
  }
  expect(Math.max(...took)).toBeLessThan(5_000);
});

test('a revoked key is also rejected while a transaction in another database holds back the relay of identity', async () => {
  const partner = await aKnownPartner();
  const older = await openOlderTransaction();
  try {
    const waiting = await partner.aKey();
    expect((await partner.key.revoke()).status).toBe(204);
    await waitUntil('every replica to refuse the key', 5_000, async () => {
      const statuses = await partner.everywhere(partner.key.apiKey);
      return statuses.size === 1 && statuses.has(401);
    });
    // The relay is still held back: a key that was created meanwhile is not yet known.
    expect(await partner.everywhere(waiting.apiKey)).toEqual(new Set([401]));
    await older.end();
    await partner.isKnown(waiting.apiKey);
    expect(await partner.everywhere(partner.key.apiKey)).toEqual(new Set([401]));
  } finally {
    await older.end();
  }
});

test('a key is rotated under load and no request fails', async () => {
  const { key, aKey, isKnown, everywhere, statusAt } = await aKnownPartner();
  let current = key.apiKey;
  let stopped = false;
  const seen = new Map<number, number>();
  const callers = replicas.map(async (replica) => {
    while (!stopped) {
      const status = await statusAt(replica, current);
      seen.set(status, (seen.get(status) ?? 0) + 1);
    }
  });
  const callsUntil = (count: number) =>
    waitUntil(`${count} calls`, 30_000, () => Promise.resolve((seen.get(200) ?? 0) >= count));
  try {
    let last = key;
    for (let rotation = 0; rotation < 3; rotation++) {
      await callsUntil((seen.get(200) ?? 0) + 100);
      const next = await aKey();
      await isKnown(next.apiKey);
      current = next.apiKey;
      // All requests with the old key have their responses by now.
      await callsUntil((seen.get(200) ?? 0) + 100);
      await last.revoke();
      const revoked = last.apiKey;
      await waitUntil('the old key to be refused', 5_000, async () => (await everywhere(revoked)).has(401));
      last = next;
    }
  } finally {
    stopped = true;
    await Promise.all(callers);
  }
  expect([...seen.keys()]).toEqual([200]);
});
