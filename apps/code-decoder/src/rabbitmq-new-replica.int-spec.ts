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

test('a replica with an empty database is ready only after it has all existing sites and keys, and stays ready', async () => {
  const keys = Array.from({ length: 400 }, () => newApiKey('site', 'test'));
  const identityEnv = await services.environment(identity);
  const before = await services.start(identity, identityEnv);
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
    };
    const ofKey = {
      keyId,
      kind: 'site',
      mode: 'test',
      merchantId,
      siteId,
      hash: hashApiKey(key),
      revoked: false,
    } as const;
    await appendEvents(
      before,
      anEvent(SiteChangedV1, String(siteId), 1, site),
      anEvent(ApiKeyChangedV1, keyId, 1, ofKey),
    );
  }
  const tillOf = (index: number) => `/business/api/v1/merchants/1001/sites/${5001 + index}/tills/T/code`;
  const asks = (service: RunningService, index: number) =>
    requestStatus(service, 'PUT', tillOf(index), { 'x-api-key': keys[index]! });

  // A replica from the beginning receives the events as they happen.
  const settings = { SVC_CODES_URL: CODES_URL, SVC_ADMIN_KEY: ADMIN_KEY };
  const first = await services.start(codeDecoderService, await services.environment(codeDecoderService, settings));
  await waitUntil('the first to be ready', 20_000, () => isReady(first));
  expect(await asks(first, 399)).toBe(201);

  await services.stop(before);
  const anew = { ...codeDecoderService, name: 'code-decoder-anew' };
  const lateEnv = await services.environment(anew, settings);
  const late = await services.start(anew, lateEnv);
  expect(await requestStatus(late, 'GET', '/health/ready')).toBe(503);
  expect(await asks(late, 0)).toBe(401);

  const back = await services.start(identity, identityEnv);
  await waitUntil('the late one to be ready', 20_000, () => isReady(late));
  expect(await Promise.all([0, 200, 399].map((index) => asks(late, index)))).toEqual([201, 201, 201]);

  // After a restart without identity it is ready immediately, because its own tables are complete.
  await services.stop(back);
  await services.stop(late);
  const again = await services.start(anew, lateEnv);
  expect(await requestStatus(again, 'GET', '/health/ready')).toBe(200);
  expect(await asks(again, 399)).toBe(200);
});
