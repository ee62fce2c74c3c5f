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
import { type Answer, aSessionRequest, type Gateway, startGateway } from '../../test/gateway.js';

type Kind = 'site' | 'merchant';

let gateway: Gateway;
let nextId = 900_001;

beforeAll(async () => {
  gateway = await startGateway();
  // A secret of another site, after which identity is known to publish webhook secrets.
  await gateway.aMerchant();
});
afterAll(() => gateway.stop());

/** A site without any key, and functions that add keys. */
async function aSite(over: { requireApiKey?: boolean; keylessMode?: Mode } = {}) {
  const [merchantId, siteId] = [nextId++, nextId++];
  const site = {
    ...{ merchantId, siteId, merchantName: 'Karoo', siteReference: 'web', name: 'Web' },
    ...{ requireApiKey: true, keylessMode: 'test' as const, allowedHosts: ['shop.example'], ...over },
  };
  await gateway.deliver(anEvent(SiteChangedV1, String(siteId), 1, site));
  return {
    merchantId,
    siteId,
    key: async (kind: Kind, mode: Mode = 'test') => {
      const [keyId, apiKey] = [randomUUID(), newApiKey(kind, mode)];
      const payload = {
        ...{ keyId, kind, mode, merchantId, hash: hashApiKey(apiKey) },
        ...(kind === 'site' ? { siteId } : {}),
      };
      const change = (revoked: boolean) =>
        gateway.deliver(anEvent(ApiKeyChangedV1, keyId, revoked ? 2 : 1, { ...payload, revoked }));
      await change(false);
      return { apiKey, revoke: () => change(true) };
    },
    secret: async (mode: Mode = 'test', of: { merchantId?: number; siteId?: number } = {}) => {
      const secretId = randomUUID();
      const payload = { secretId, mode, merchantId, siteId, ...of };
      const change = (revoked: boolean) =>
        gateway.deliver(anEvent(WebhookSecretChangedV1, secretId, revoked ? 2 : 1, { ...payload, revoked }));
      await change(false);
      return { revoke: () => change(true) };
    },
    createSession: (apiKey?: string, version: HostedApiVersion = 'v3.1', requestId?: string): Promise<Answer> =>
      gateway.call('POST', `/api/${version}/sessions`, {
        headers: {
          ...{ merchantid: String(merchantId), merchantsiteid: String(siteId) },
          ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
        },
        payload: aSessionRequest(requestId === undefined ? {} : { requestId }),
      }),
  };
}

const refusalOf = ({ status, body }: Answer): [number, string, string] => [
  status,
  body.status,
  /Missing: (.*?)\. /.exec(body.errors?.[0].message)?.[1] ?? 'nothing',
];

test('v3.1 needs a signing key of the site, and v3 one of the merchant, whichever key the caller sends', async () => {
  const site = await aSite();
  await site.secret();
  const { merchantId, siteId } = site;
  const merchants = await site.key('merchant');
  expect(refusalOf(await site.createSession(merchants.apiKey, 'v3.1'))).toEqual([
    ...[422, 'BadRequest'],
    `an API key of site ${siteId} in mode test (it signs v3.1)`,
  ]);
  expect((await site.createSession(merchants.apiKey, 'v3')).status).toBe(201);

  const own = await site.key('site');
  expect((await site.createSession(own.apiKey, 'v3.1')).status).toBe(201);
  await merchants.revoke();
  gateway.clock.advance(1_000);
  expect(refusalOf(await site.createSession(own.apiKey, 'v3'))).toEqual([
    ...[422, 'BadRequest'],
    `an API key of merchant ${merchantId} in mode test (it signs v3)`,
  ]);
});

test('a session needs a webhook secret of the same site and mode, which is valid as soon as it arrives', async () => {
  const site = await aSite();
  const { apiKey } = await site.key('site', 'live');
  await site.secret('test');
  await site.secret('live', { siteId: nextId++ });
  await site.secret('live', { merchantId: nextId++ });
  const missing = `a webhook secret of site ${site.siteId} in mode live`;
  expect(refusalOf(await site.createSession(apiKey))).toEqual([422, 'BadRequest', missing]);

  const secret = await site.secret('live');
  expect((await site.createSession(apiKey)).status).toBe(201);
  await secret.revoke();
  gateway.clock.advance(1_000);
  expect(refusalOf(await site.createSession(apiKey))).toEqual([422, 'BadRequest', missing]);
});

test('a key of the other mode is not a signing key', async () => {
  const site = await aSite();
  await site.secret('live');
  await site.secret('test');
  await site.key('site', 'test');
  const merchants = await site.key('merchant', 'live');
  expect(refusalOf(await site.createSession(merchants.apiKey, 'v3.1'))).toEqual([
    ...[422, 'BadRequest'],
    `an API key of site ${site.siteId} in mode live (it signs v3.1)`,
  ]);
});

test('a site whose requests need no key still needs signing keys of its mode', async () => {
  const site = await aSite({ requireApiKey: false, keylessMode: 'live' });
  await site.key('site', 'test');
  await site.secret('test');
  expect(refusalOf(await site.createSession())).toEqual([
    ...[422, 'BadRequest'],
    `an API key of site ${site.siteId} in mode live (it signs v3.1) and a webhook secret of site ${site.siteId} in mode live`,
  ]);
  await site.key('site', 'live');
  await site.secret('live');
  expect((await site.createSession()).status).toBe(201);
});

test('a repeated request returns the session that was created before the secret was revoked', async () => {
  const site = await aSite();
  const secret = await site.secret();
  const { apiKey } = await site.key('site');
  const requestId = randomUUID();
  const first = await site.createSession(apiKey, 'v3.1', requestId);
  await secret.revoke();
  gateway.clock.advance(1_000);
  const again = await site.createSession(apiKey, 'v3.1', requestId);
  expect(again).toMatchObject({ status: 201, headers: { 'idempotency-replayed': 'true' }, body: first.body });
  expect((await site.createSession(apiKey)).status).toBe(422);
});

test('while identity has not published any webhook secret, as before a rollout, sessions do not need one', async () => {
  const before = await startGateway();
  const merchant = await before.aMerchant();
  await before.dataSource.query('DELETE FROM known_webhook_secrets');
  expect(await before.createSession(merchant)).toMatch(/^[0-9a-f-]{36}$/);
  await before.stop();
});
