import { randomUUID } from 'node:crypto';
import { Controller, Get, Module, UseGuards } from '@nestjs/common';
import { ApiKeyChangedV1, type Mode, SiteChangedV1 } from '@svc/contracts';
import { ServiceConfig } from '@svc/service';
import { anEvent, SERVICE_SECURITY_HEADERS, startTestService, type TestService } from '@svc/testing';
import { Credentials1763500000010 } from '../migrations/1763500000010-credentials.js';
import { findActiveKeys } from './active-keys.js';
import { hashApiKey, newApiKey } from './api-key.js';
import { CredentialsConsumer } from './credentials.consumer.js';
import { type AuthenticatedMerchant, CallingMerchant, MerchantKeyGuard } from './merchant-key.guard.js';

@Controller('merchants/:merchantId')
@UseGuards(MerchantKeyGuard)
class CallerController {
  @Get(['caller', 'sites/:siteId/caller'])
  getCaller(@CallingMerchant() merchant: AuthenticatedMerchant): AuthenticatedMerchant {
    return merchant;
  }
}

@Module({ controllers: [CallerController, CredentialsConsumer] })
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
      ...{ requireApiKey: true, allowedHosts: [], keylessMode: 'test', webhookEnabled: false, challengePayers: false },
    }),
  );
});
afterAll(() => service.stop());

interface KeyOptions {
  readonly merchantId?: number;
  readonly mode?: Mode;
  readonly revoked?: boolean;
}

/** Publishes a new key of the site, or of the whole merchant if there is no site id. */
async function publishKey(siteId?: number, { merchantId = MERCHANT, mode = 'test', revoked = false }: KeyOptions = {}) {
  const kind = siteId === undefined ? ('merchant' as const) : ('site' as const);
  const apiKey = newApiKey(kind, mode);
  const owner = { merchantId, ...(siteId === undefined ? {} : { siteId }) };
  const key = { keyId: randomUUID(), kind, mode, ...owner, hash: hashApiKey(apiKey), revoked };
  await service.deliver(anEvent(ApiKeyChangedV1, key.keyId, 1, key));
  return { ...key, apiKey };
}
/** The merchant that the guard admitted, or the status of the error. */
async function getCaller(path: string, headers: Record<string, string>) {
  const response = await service.service.app.inject({ method: 'GET', url: `/merchants/${path}caller`, headers });
  return response.statusCode === 200 ? (JSON.parse(response.body) as AuthenticatedMerchant) : response.statusCode;
}
const keyHeader = ({ apiKey }: { apiKey: string }) => ({ 'x-api-key': apiKey });

test('a merchant key is admitted on the path of its merchant and on every path of a site below it, even if the site does not exist', async () => {
  const key = await publishKey();
  const merchant = { keyId: key.keyId, mode: 'test', merchantId: MERCHANT };
  expect(await getCaller(`${MERCHANT}/`, keyHeader(key))).toEqual({ ...merchant, siteExists: true });
  expect(await getCaller(`${MERCHANT}/sites/${SITE}/`, keyHeader(key))).toEqual({
    ...merchant,
    siteId: SITE,
    siteExists: true,
  });
  const unknown = { ...merchant, siteId: OTHER_SITE, siteExists: false };
  expect(await getCaller(`${MERCHANT}/sites/${OTHER_SITE}/`, keyHeader(key))).toEqual(unknown);
});

test('a site key gives access to its site, also on the path of the whole merchant', async () => {
  const key = await publishKey(SITE, { mode: 'live' });
  const site = { keyId: key.keyId, mode: 'live', merchantId: MERCHANT, siteId: SITE, siteExists: true };
  expect(await getCaller(`${MERCHANT}/`, keyHeader(key))).toEqual(site);
  expect(await getCaller(`${MERCHANT}/sites/${SITE}/`, keyHeader(key))).toEqual(site);
  expect(await getCaller(`${MERCHANT}/sites/${OTHER_SITE}/`, keyHeader(key))).toBe(403);
});

test('a merchant key is rejected on the paths of another merchant that has a site with the same number', async () => {
  const key = await publishKey(undefined, { merchantId: OTHER_MERCHANT });
  expect(await getCaller(`${OTHER_MERCHANT}/sites/${SITE}/`, keyHeader(key))).toMatchObject({ siteExists: false });
  for (const path of [`${MERCHANT}/`, `${MERCHANT}/sites/${SITE}/`])
    expect(await getCaller(path, keyHeader(key))).toBe(403);
});

test('a key is accepted as a Bearer token, but only if the header x-api-key is not sent', async () => {
  const key = await publishKey();
  const { apiKey, keyId } = key;
  for (const scheme of ['Bearer', 'bearer'])
    expect(await getCaller(`${MERCHANT}/`, { authorization: `${scheme} ${apiKey}` })).toMatchObject({ keyId });
  expect(await getCaller(`${MERCHANT}/`, { authorization: `Basic ${apiKey}` })).toBe(401);
  expect(await getCaller(`${MERCHANT}/`, { authorization: apiKey })).toBe(401);
  expect(await getCaller(`${MERCHANT}/`, { ...keyHeader(key), authorization: 'Bearer x' })).toMatchObject({ keyId });
  expect(await getCaller(`${MERCHANT}/`, { 'x-api-key': 'x', authorization: `Bearer ${apiKey}` })).toBe(401);
});

test('the guard responds 401 to an unknown or revoked key on any path, and 400 to a valid key on a path with an invalid id', async () => {
  const revoked = await publishKey(undefined, { revoked: true });
  const unknown = { apiKey: newApiKey('merchant', 'test') };
  for (const headers of [{}, keyHeader(revoked), keyHeader(unknown), { 'x-api-key': 'x' }])
    for (const path of [`${MERCHANT}/`, `${OTHER_MERCHANT}/`, 'x/', 'x/sites/y/'])
      expect(await getCaller(path, headers as Record<string, string>)).toBe(401);
  const key = await publishKey();
  for (const path of ['x/', `${MERCHANT}/sites/x/`, `${OTHER_MERCHANT}/sites/x/`, `0${MERCHANT}/`])
    expect(await getCaller(path, keyHeader(key))).toBe(400);
});

test('a 403 tells the holder of a valid key which id in the path is not of the key, the same whether it exists or not', async () => {
  const key = await publishKey(SITE);
  const readError = async (path: string): Promise<unknown> => {
    const url = `/merchants/${path}caller`;
    const { statusCode, headers, body } = await service.service.app.inject({
      method: 'GET',
      url,
      headers: keyHeader(key),
    });
    expect([statusCode, headers['content-type'], headers['x-error-code'], headers['link']]).toEqual([
      403,
      'application/problem+json; charset=utf-8',
      'credentials.forbidden',
      '</errors/credentials.forbidden>; rel="help"',
    ]);
    const { instance, ...problem } = JSON.parse(body) as { instance: string };
    expect(instance).toBe(headers['x-request-id']);
    return problem;
  };
  const newProblem = (detail: string): unknown => ({
    type: '/errors/credentials.forbidden',
    title: 'These credentials do not allow this.',
    status: 403,
    code: 'credentials.forbidden',
    detail,
    errors: [{ errorReference: '40', message: detail }],
  });
  for (const id of [OTHER_MERCHANT, 9999])
    expect(await readError(`${id}/`)).toEqual(
      newProblem(
        `The API key is not of merchant ${id}. Send the merchantId of the key in the path, or a key of that merchant.`,
      ),
    );
  for (const id of [OTHER_SITE, 9999])
    expect(await readError(`${MERCHANT}/sites/${id}/`)).toEqual(
      newProblem(`The API key is not of site ${id}. Send the siteId of the key in the path, or a key of that site.`),
    );
});

test.each([
  [{}, 'credentials.key-missing'],
  [{ 'x-api-key': '' }, 'credentials.key-missing'],
  [{ authorization: 'Basic x' }, 'credentials.key-missing'],
  [{ 'x-api-key': 'svc_test_site_cut' }, 'credentials.key-malformed'],
  [{ authorization: 'Bearer eyJhbGciOiJFUzI1NiJ9.e30.x' }, 'credentials.key-malformed'],
  [{ 'x-api-key': newApiKey('partner', 'test') }, 'credentials.merchant-key-needed'],
  [{ authorization: `Bearer ${newApiKey('partner', 'live')}` }, 'credentials.merchant-key-needed'],
  [{ 'x-api-key': newApiKey('site', 'test') }, 'credentials.invalid'],
])('the 401 to the headers %j has no body, and its headers contain the code %s', async (headers, code) => {
  const url = `/merchants/${MERCHANT}/caller`;
  const response = await service.service.app.inject({ method: 'GET', url, headers });
  const { 'x-request-id': requestId, date: _date, connection: _connection, ...rest } = response.headers;
  expect([response.statusCode, response.body, requestId]).toEqual([401, '', expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  expect(rest).toEqual({
    ...SERVICE_SECURITY_HEADERS,
    'cache-control': 'no-store',
    'content-length': '0',
    'x-error-code': code,
    link: `</errors/${code}>; rel="help"`,
  });
});

test('an open connection continues only with a key that exists and is not revoked', async () => {
  const [active, revoked] = [await publishKey(), await publishKey(SITE, { revoked: true })];
  const keyIds = [active.keyId, revoked.keyId, randomUUID()];
  expect(await findActiveKeys(service.dataSource, keyIds)).toEqual(new Set([active.keyId]));
});
