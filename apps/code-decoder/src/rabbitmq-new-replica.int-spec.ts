import { randomUUID } from 'node:crypto';
import { hashApiKey, newApiKey } from '@svc/auth';
import { ApiKeyChangedV1, SiteChangedV1 } from '@svc/contracts';
import type { RunningService } from '@svc/service';
import {
  anEvent,
  appendEvents,
  DistributedServices,
  isReady,
  requestStatus,
  stubService,
  waitUntil,
} from '@svc/testing';
import { ADMIN_KEY, CODES_URL } from '../test/decoder.js';
import { codeDecoderService } from './index.js';

const identity = stubService('identity');

let services: DistributedServices;
beforeAll(async () => (services = await DistributedServices.start()), 90_000);
afterAll(() => services.close());

test('a replica with an empty database is ready only after it has received all existing sites and keys', async () => {
  const keys = Array.from({ length: 400 }, () => newApiKey('site', 'test'));
  const identityEnv = await services.environment(identity);
  const firstIdentity = await services.start(identity, identityEnv);
  for (const [index, key] of keys.entries()) {
    const [merchantId, siteId, keyId] = [1001, 5001 + index, randomUUID()];
    const site = {
      merchantId,
      siteId,
      merchantName: 'Karoo Books',
      siteReference: `S${index}`,
      name: 'Shop',
      requireApiKey: true,
      allowedHosts: [],
      keylessMode: 'test' as const,
      webhookEnabled: false,
      challengePayers: false,
    };
    const keyPayload = {
      keyId,
      kind: 'site',
      mode: 'test',
      merchantId,
      siteId,
      hash: hashApiKey(key),
      revoked: false,
    } as const;
    await appendEvents(
      firstIdentity,
      anEvent(SiteChangedV1, String(siteId), 1, site),
      anEvent(ApiKeyChangedV1, keyId, 1, keyPayload),
    );
  }
  const tillPath = (index: number) => `/business/api/v1/merchants/1001/sites/${5001 + index}/tills/T/code`;
  /** The status of a request to create the till's code, with the key of the site with this index. */
  const requestTillCode = (service: RunningService, index: number) =>
    requestStatus(service, 'PUT', tillPath(index), { 'x-api-key': keys[index]! });

  // The first replica starts while the identity service runs, and receives its events.
  const settings = { SVC_CODES_URL: CODES_URL, SVC_ADMIN_KEY: ADMIN_KEY };
  const firstReplica = await services.start(
    codeDecoderService,
    await services.environment(codeDecoderService, settings),
  );
  await waitUntil('the first replica to be ready', 20_000, () => isReady(firstReplica));
  expect(await requestTillCode(firstReplica, 399)).toBe(201);

  await services.stop(firstIdentity);
  const newService = { ...codeDecoderService, name: 'code-decoder-anew' };
  const newReplicaEnv = await services.environment(newService, settings);
  const newReplica = await services.start(newService, newReplicaEnv);
  expect(await requestStatus(newReplica, 'GET', '/health/ready')).toBe(503);
  expect(await requestTillCode(newReplica, 0)).toBe(401);

  const secondIdentity = await services.start(identity, identityEnv);
  await waitUntil('the new replica to be ready', 20_000, () => isReady(newReplica));
  expect(await Promise.all([0, 200, 399].map((index) => requestTillCode(newReplica, index)))).toEqual([201, 201, 201]);

  // After a restart the replica is ready even without the identity service, because its own tables are complete.
  await services.stop(secondIdentity);
  await services.stop(newReplica);
  const restartedReplica = await services.start(newService, newReplicaEnv);
  expect(await requestStatus(restartedReplica, 'GET', '/health/ready')).toBe(200);
  expect(await requestTillCode(restartedReplica, 399)).toBe(200);
});
