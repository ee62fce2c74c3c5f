import { randomUUID } from 'node:crypto';
import { Controller, Get, Module, UseGuards } from '@nestjs/common';
import { ApiKeyChangedV1, type Mode, SiteChangedV1 } from '@svc/contracts';
import { ServiceConfig } from '@svc/service';
import { anEvent, startTestService, type TestService } from '@svc/testing';
import { Credentials1763500000010 } from '../migrations/1763500000010-credentials.js';
import { hashApiKey, newApiKey } from './api-key.js';
import { CredentialsConsumer } from './credentials.consumer.js';
import { type AuthenticatedMerchant, CallingMerchant, MerchantKeyGuard } from './merchant-key.guard.js';

@Controller('merchants/:merchantId')
@UseGuards(MerchantKeyGuard)
class WhoController {
  @Get(['who', 'sites/:siteId/who'])
  whoami(@CallingMerchant() merchant: AuthenticatedMerchant): AuthenticatedMerchant {
    return merchant;
  }
}

@Module({ controllers: [WhoController, CredentialsConsumer] })
class BusinessApiModule {}

const [MERCHANT, OTHER_MERCHANT, SITE, OTHER_SITE] = [1001, 1002, 5001, 5002];

let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    ...{ name: 'business-api', config: ServiceConfig, module: BusinessApiModule },
    migrations: [Credentials1763500000010],
  });
  await service.deliver(
    anEvent(SiteChangedV1, String(SITE), 1, {
      ...{ merchantId: MERCHANT, siteId: SITE, merchantName: 'Karoo Books', siteReference: 'WEB', name: 'Shop' },
      ...{ requireApiKey: true, allowedHosts: [], keylessMode: 'test' },
    }),
  );
});
afterAll(() => service.stop());

interface KeyOptions {
  readonly merchantId?: number;
  readonly mode?: Mode;
  readonly revoked?: boolean;
}

async function aKey(siteId?: number, { merchantId = MERCHANT, mode = 'test', revoked = false }: KeyOptions = {}) {
  const kind = siteId === undefined ? ('merchant' as const) : ('site' as const);
  const apiKey = newApiKey(kind, mode);
  const owner = { merchantId, ...(siteId === undefined ? {} : { siteId }) };
  const key = { keyId: randomUUID(), kind, mode, ...owner, hash: hashApiKey(apiKey), revoked };
  await service.deliver(anEvent(ApiKeyChangedV1, key.keyId, 1, key));
  return { ...key, apiKey };
}
async function who(path: string, headers: Record<string, string>) {
  const answer = await service.service.app.inject({ method: 'GET', url: `/merchants/${path}who`, headers });
  return answer.statusCode === 200 ? (JSON.parse(answer.body) as AuthenticatedMerchant) : answer.statusCode;
}
const withKey = ({ apiKey }: { apiKey: string }) => ({ 'x-api-key': apiKey });

test('a merchant key gives access to all sites of the merchant, and on the path of a site to that site', async () => {
  const key = await aKey();
  const merchant = { keyId: key.keyId, mode: 'test', merchantId: MERCHANT };
  expect(await who(`${MERCHANT}/`, withKey(key))).toEqual({ ...merchant, siteExists: true });
  expect(await who(`${MERCHANT}/sites/${SITE}/`, withKey(key))).toEqual({
    ...merchant,
    siteId: SITE,
    siteExists: true,
  });
  const unknown = { ...merchant, siteId: OTHER_SITE, siteExists: false };
  expect(await who(`${MERCHANT}/sites/${OTHER_SITE}/`, withKey(key))).toEqual(unknown);
});

test('a site key gives access to its site, also on the path of the whole merchant', async () => {
  const key = await aKey(SITE, { mode: 'live' });
  const site = { keyId: key.keyId, mode: 'live', merchantId: MERCHANT, siteId: SITE, siteExists: true };
  expect(await who(`${MERCHANT}/`, withKey(key))).toEqual(site);
  expect(await who(`${MERCHANT}/sites/${SITE}/`, withKey(key))).toEqual(site);
  expect(await who(`${MERCHANT}/sites/${OTHER_SITE}/`, withKey(key))).toBe(403);
});

test('a site of another merchant with the same number is refused', async () => {
  const key = await aKey(undefined, { merchantId: OTHER_MERCHANT });
  expect(await who(`${OTHER_MERCHANT}/sites/${SITE}/`, withKey(key))).toMatchObject({ siteExists: false });
  for (const path of [`${MERCHANT}/`, `${MERCHANT}/sites/${SITE}/`]) expect(await who(path, withKey(key))).toBe(403);
});

test('the key may be a Bearer token; x-api-key takes precedence', async () => {
  const key = await aKey();
  const { apiKey, keyId } = key;
  for (const scheme of ['Bearer', 'bearer'])
    expect(await who(`${MERCHANT}/`, { authorization: `${scheme} ${apiKey}` })).toMatchObject({ keyId });
  expect(await who(`${MERCHANT}/`, { authorization: `Basic ${apiKey}` })).toBe(401);
  expect(await who(`${MERCHANT}/`, { authorization: apiKey })).toBe(401);
  expect(await who(`${MERCHANT}/`, { ...withKey(key), authorization: 'Bearer x' })).toMatchObject({ keyId });
  expect(await who(`${MERCHANT}/`, { 'x-api-key': 'x', authorization: `Bearer ${apiKey}` })).toBe(401);
});

test('an unknown or revoked key is a 401 before the path is checked, and an invalid id a 400 before a 403', async () => {
  const revoked = await aKey(undefined, { revoked: true });
  const unknown = { apiKey: newApiKey('merchant', 'test') };
  for (const headers of [{}, withKey(revoked), withKey(unknown), { 'x-api-key': 'x' }])
    for (const path of [`${MERCHANT}/`, `${OTHER_MERCHANT}/`, 'x/', 'x/sites/y/'])
      expect(await who(path, headers as Record<string, string>)).toBe(401);
  const key = await aKey();
  for (const path of ['x/', `${MERCHANT}/sites/x/`, `${OTHER_MERCHANT}/sites/x/`, `0${MERCHANT}/`])
    expect(await who(path, withKey(key))).toBe(400);
});
