/** A session is created only if its webhook can be signed. Mode, site and API version determine the signing keys. */
import { randomUUID } from 'node:crypto';
import { hashApiKey, newApiKey } from '@svc/auth';
import {
  ApiKeyChangedV1,
  type HostedApiVersion,
  type Mode,
  SiteChangedV1,
  WebhookSecretChangedV1,
} from '@svc/contracts';
import { anEvent } from '@svc/testing';
import { buildSessionRequest, type Gateway, type HttpResponse, startGateway } from '../../test/gateway.js';
import { FindMissingKeys } from './find-missing-keys.js';

type KeyKind = 'site' | 'merchant';

let gateway: Gateway;
let nextId = 900_001;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

/** Creates a site without any key. The result contains functions that create keys of this site. */
async function createSite(overrides: { requireApiKey?: boolean; keylessMode?: Mode } = {}) {
  const [merchantId, siteId] = [nextId++, nextId++];
  const site = {
    ...{
      merchantId,
      siteId,
      merchantName: 'Karoo',
      siteReference: 'web',
      name: 'Web',
      webhookEnabled: false,
      challengePayers: false,
    },
    ...{ requireApiKey: true, keylessMode: 'test' as const, allowedHosts: ['shop.example'], ...overrides },
  };
  await gateway.deliver(anEvent(SiteChangedV1, String(siteId), 1, site));
  return {
    merchantId,
    siteId,
    createKey: async (kind: KeyKind, mode: Mode = 'test') => {
      const [keyId, apiKey] = [randomUUID(), newApiKey(kind, mode)];
      const payload = {
        ...{ keyId, kind, mode, merchantId, hash: hashApiKey(apiKey) },
        ...(kind === 'site' ? { siteId } : {}),
      };
      const publish = (revoked: boolean) =>
        gateway.deliver(anEvent(ApiKeyChangedV1, keyId, revoked ? 2 : 1, { ...payload, revoked }));
      await publish(false);
      return { apiKey, revoke: () => publish(true) };
    },
    createSecret: async (mode: Mode = 'test', owner: { merchantId?: number; siteId?: number } = {}) => {
      const secretId = randomUUID();
      const payload = { secretId, mode, merchantId, siteId, ...owner };
      const publish = (revoked: boolean) =>
        gateway.deliver(anEvent(WebhookSecretChangedV1, secretId, revoked ? 2 : 1, { ...payload, revoked }));
      await publish(false);
      return { revoke: () => publish(true) };
    },
    createSession: (apiKey?: string, version: HostedApiVersion = 'v3.1', requestId?: string): Promise<HttpResponse> =>
      gateway.call('POST', `/api/${version}/sessions`, {
        headers: {
          ...{ merchantid: String(merchantId), merchantsiteid: String(siteId) },
          ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
        },
        payload: buildSessionRequest(requestId === undefined ? {} : { requestId }),
      }),
  };
}

/** Status code, status text, and the missing keys that the error message names. */
const readRejection = ({ status, body }: HttpResponse): [number, string, string] => [
  status,
  body.status,
  /Missing: (.*?)\. /.exec(body.errors?.[0].message)?.[1] ?? 'nothing',
];

test('API v3.1 needs a signing key of the site, and API v3 a signing key of the merchant, whichever key the caller sends', async () => {
  const site = await createSite();
  await site.createSecret();
  const { merchantId, siteId } = site;
  const merchantKey = await site.createKey('merchant');
  expect(readRejection(await site.createSession(merchantKey.apiKey, 'v3.1'))).toEqual([
    ...[422, 'BadRequest'],
    `an API key of site ${siteId} in mode test (it signs v3.1)`,
  ]);
  expect((await site.createSession(merchantKey.apiKey, 'v3')).status).toBe(201);

  const ownKey = await site.createKey('site');
  expect((await site.createSession(ownKey.apiKey, 'v3.1')).status).toBe(201);
  await merchantKey.revoke();
  gateway.clock.advance(1_000);
  expect(readRejection(await site.createSession(ownKey.apiKey, 'v3'))).toEqual([
    ...[422, 'BadRequest'],
    `an API key of merchant ${merchantId} in mode test (it signs v3)`,
  ]);
});

test('a session needs a webhook secret of the same site and mode, and can be created as soon as the secret has arrived', async () => {
  const site = await createSite();
  const { apiKey } = await site.createKey('site', 'live');
  await site.createSecret('test');
  await site.createSecret('live', { siteId: nextId++ });
  await site.createSecret('live', { merchantId: nextId++ });
  const missing = `a webhook secret of site ${site.siteId} in mode live`;
  expect(readRejection(await site.createSession(apiKey))).toEqual([422, 'BadRequest', missing]);

  const secret = await site.createSecret('live');
  expect((await site.createSession(apiKey)).status).toBe(201);
  await secret.revoke();
  gateway.clock.advance(1_000);
  expect(readRejection(await site.createSession(apiKey))).toEqual([422, 'BadRequest', missing]);
});

test('a live session needs a live key of the site, so a test key is not enough', async () => {
  const site = await createSite();
  await site.createSecret('live');
  await site.createSecret('test');
  await site.createKey('site', 'test');
  const merchantKey = await site.createKey('merchant', 'live');
  expect(readRejection(await site.createSession(merchantKey.apiKey, 'v3.1'))).toEqual([
    ...[422, 'BadRequest'],
    `an API key of site ${site.siteId} in mode live (it signs v3.1)`,
  ]);
});

test.each([
  ['API version', { apiVersion: 'v3' as const }],
  ['mode', { mode: 'live' as const }],
  ['site', { siteId: 1 }],
  ['merchant', { merchantId: 1 }],
])('keys that were found are not assumed for another %s in the same second', async (_, other) => {
  const { merchantId, siteId, createKey, createSecret } = await createSite();
  await createKey('site');
  await createSecret();
  const findMissingKeys = gateway.service.app.get(FindMissingKeys);
  const site = { merchantId, siteId, mode: 'test' as const, apiVersion: 'v3.1' as const };
  expect(await findMissingKeys.execute(site)).toEqual([]);
  expect(await findMissingKeys.execute({ ...site, ...other })).not.toEqual([]);
});

test('a site that needs no key in its requests still needs signing keys of its mode', async () => {
  const site = await createSite({ requireApiKey: false, keylessMode: 'live' });
  await site.createKey('site', 'test');
  await site.createSecret('test');
  expect(readRejection(await site.createSession())).toEqual([
    ...[422, 'BadRequest'],
    `an API key of site ${site.siteId} in mode live (it signs v3.1) and a webhook secret of site ${site.siteId} in mode live`,
  ]);
  await site.createKey('site', 'live');
  await site.createSecret('live');
  expect((await site.createSession()).status).toBe(201);
});

test('a repeated request returns the session that was created before the webhook secret was revoked', async () => {
  const site = await createSite();
  const secret = await site.createSecret();
  const { apiKey } = await site.createKey('site');
  const requestId = randomUUID();
  const first = await site.createSession(apiKey, 'v3.1', requestId);
  await secret.revoke();
  gateway.clock.advance(1_000);
  const repeated = await site.createSession(apiKey, 'v3.1', requestId);
  expect(repeated).toMatchObject({ status: 201, headers: { 'idempotency-replayed': 'true' }, body: first.body });
  expect((await site.createSession(apiKey)).status).toBe(422);
});
