import { Module } from '@nestjs/common';
import { type ApiKeyChanged, ApiKeyChangedV1, type SiteChanged, SiteChangedV1 } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { ServiceConfig } from '@svc/service';
import { anEvent, startTestService, type TestService } from '@svc/testing';
import { Credentials1763500000010 } from '../migrations/1763500000010-credentials.js';
import { hashApiKey, newApiKey } from './api-key.js';
import { CredentialsConsumer } from './credentials.consumer.js';
import { type SiteCredentialHeaders, SiteCredentials } from './site-credentials.js';

@Module({ controllers: [CredentialsConsumer], providers: [SiteCredentials] })
class AuthenticatingModule {}

const SITE: SiteChanged = {
  merchantId: 1001,
  merchantName: 'Merchant',
  siteId: 5001,
  siteReference: 'SHOP',
  name: 'Shop',
  requireApiKey: true,
  allowedHosts: [],
  keylessMode: 'test',
  webhookEnabled: false,
  challengePayers: false,
};
const KEYLESS_SITE: SiteChanged = { ...SITE, siteId: 5002, requireApiKey: false, allowedHosts: ['shop.example'] };
const OTHER_MERCHANT_SITE: SiteChanged = { ...SITE, merchantId: 1002, siteId: 5003, merchantName: 'Other' };

let keyCount = 0;

describe('SiteCredentials', () => {
  let service: TestService;
  let credentials: SiteCredentials;

  beforeEach(async () => {
    service = await startTestService({
      name: 'authenticating',
      config: ServiceConfig,
      module: AuthenticatingModule,
      migrations: [Credentials1763500000010],
    });
    credentials = service.service.app.get(SiteCredentials);
    for (const site of [SITE, KEYLESS_SITE, OTHER_MERCHANT_SITE]) await publishSite(site);
  });
  afterEach(() => service.stop());

  const publishSite = (site: SiteChanged, version = 1) =>
    service.deliver(anEvent(SiteChangedV1, String(site.siteId), version, site));
  const publishKey = (key: ApiKeyChanged, version = 1) =>
    service.deliver(anEvent(ApiKeyChangedV1, key.keyId, version, key));

  /** Publishes a new key, as identity does, and returns it. */
  async function publishNewKey(fields: Partial<ApiKeyChanged> & Pick<ApiKeyChanged, 'kind'>) {
    const { kind, mode = 'test' } = fields;
    const apiKey = newApiKey(kind, mode);
    const event: ApiKeyChanged = {
      keyId: `00000000-0000-7000-8000-${String(++keyCount).padStart(12, '0')}`,
      mode,
      merchantId: 1001,
      ...(kind === 'site' ? { siteId: 5001 } : {}),
      hash: hashApiKey(apiKey),
      revoked: false,
      ...fields,
    };
    await publishKey(event);
    return { apiKey, event };
  }

  const authenticate = ({ merchantId, siteId }: SiteChanged, apiKey?: unknown) =>
    credentials.authenticate({ merchantId: String(merchantId), merchantSiteId: String(siteId), apiKey });
  const INVALID = { code: expect.stringMatching(/^credentials[.]/) as string } as const;

  it('returns the site for its key', async () => {
    const { apiKey } = await publishNewKey({ kind: 'site' });
    expect(await authenticate(SITE, apiKey)).toEqual({
      merchantId: 1001,
      siteId: 5001,
      merchantName: 'Merchant',
      mode: 'test',
      keyless: false,
      allowedHosts: [],
    });
  });

  it('returns the mode of the key, even if the site requires no key', async () => {
    const { apiKey } = await publishNewKey({ kind: 'site', mode: 'live' });
    expect(await authenticate(SITE, apiKey)).toMatchObject({ mode: 'live', keyless: false });
  });

  it('accepts a merchant key at every site of the merchant and at no site of another merchant', async () => {
    const { apiKey } = await publishNewKey({ kind: 'merchant' });
    expect(await authenticate(SITE, apiKey)).toMatchObject({ siteId: 5001 });
    expect(await authenticate(KEYLESS_SITE, apiKey)).toMatchObject({ siteId: 5002, keyless: false });
    await expect(authenticate(OTHER_MERCHANT_SITE, apiKey)).rejects.toMatchObject(INVALID);
  });

  it('rejects another key, no key and another merchant also immediately after it has accepted the right key', async () => {
    const { apiKey } = await publishNewKey({ kind: 'site' });
    const otherKey = newApiKey('site', 'test');
    expect(await authenticate(SITE, apiKey)).toMatchObject({ siteId: 5001 });
    for (const [site, key] of [
      [SITE, otherKey],
      [SITE, undefined],
      [{ ...SITE, merchantId: 1002 }, apiKey],
      [KEYLESS_SITE, apiKey],
    ] as const)
      await expect(authenticate(site, key)).rejects.toMatchObject(INVALID);
  });

  it('accepts a site key only at its own site', async () => {
    const { apiKey } = await publishNewKey({ kind: 'site' });
    await expect(authenticate(KEYLESS_SITE, apiKey)).rejects.toMatchObject(INVALID);
    await expect(authenticate({ ...SITE, merchantId: 1002 }, apiKey)).rejects.toMatchObject(INVALID);
  });

  it('admits a call without a key to a site with requireApiKey false, and returns the mode and allowed hosts of the site', async () => {
    expect(await authenticate(KEYLESS_SITE)).toMatchObject({
      siteId: 5002,
      keyless: true,
      mode: 'test',
      allowedHosts: ['shop.example'],
    });
    await publishSite({ ...KEYLESS_SITE, keylessMode: 'live' }, 2);
    service.clock.advance(1_000);
    expect(await authenticate(KEYLESS_SITE)).toMatchObject({ mode: 'live' });
  });

  it('rejects a call without a key to a site with requireApiKey true', async () => {
    await expect(authenticate(SITE)).rejects.toMatchObject(INVALID);
  });

  it('rejects a wrong key even at a site that requires no key', async () => {
    const { apiKey: otherSiteKey } = await publishNewKey({ kind: 'site', merchantId: 1002, siteId: 5003 });
    const { apiKey: validKey } = await publishNewKey({ kind: 'site', siteId: 5002 });
    for (const wrongKey of [
      '',
      'nonsense',
      newApiKey('site', 'test'),
      newApiKey('partner', 'test'),
      otherSiteKey,
      validKey.toUpperCase(),
      `${validKey} `,
      [validKey],
      null,
    ]) {
      await expect(authenticate(KEYLESS_SITE, wrongKey)).rejects.toMatchObject(INVALID);
      await expect(authenticate(SITE, wrongKey)).rejects.toMatchObject(INVALID);
    }
    expect(await authenticate(KEYLESS_SITE, validKey)).toMatchObject({ keyless: false });
  });

  const rejectionOf = async (headers: SiteCredentialHeaders): Promise<unknown> => {
    const error: unknown = await credentials.authenticate(headers).catch((rejection: unknown) => rejection);
    expect(error).toBeInstanceOf(DomainError);
    const { code, message, entry, fields, retryAfterSeconds, cause } = error as DomainError;
    expect([entry.httpStatus, fields, retryAfterSeconds, cause]).toEqual([401, [], undefined, undefined]);
    return [code, message];
  };

  it('rejects an unknown key with the same error, whether the merchant and the site exist or not', async () => {
    for (const merchantId of ['1001', '9999'])
      for (const merchantSiteId of ['5001', '9999'])
        expect(await rejectionOf({ merchantId, merchantSiteId, apiKey: newApiKey('site', 'test') })).toEqual([
          'credentials.invalid',
          'x-api-key has a key that is not known, was revoked, or is of somebody else. Send a valid key of a site or a merchant.',
        ]);
  });

  it('tells the holder of a valid key which header does not belong to the key, not whether the other id exists', async () => {
    const { apiKey: siteKey } = await publishNewKey({ kind: 'site' });
    const { apiKey: merchantKey } = await publishNewKey({ kind: 'merchant' });
    for (const apiKey of [siteKey, merchantKey])
      for (const merchantId of ['1002', '9999'])
        expect(await rejectionOf({ merchantId, merchantSiteId: '5003', apiKey })).toEqual([
          'credentials.invalid',
          `This key is not of merchant ${merchantId}: send the merchantId of the key, or a key of that merchant.`,
        ]);
    // A site of the same merchant, a site of another merchant, and no site.
    for (const siteId of ['5002', '5003', '9999'])
      expect(await rejectionOf({ merchantId: '1001', merchantSiteId: siteId, apiKey: siteKey })).toEqual([
        'credentials.invalid',
        `This key is not of site ${siteId}: send the merchantSiteId of the key, or a key of that site.`,
      ]);
    for (const siteId of ['5003', '9999'])
      expect(await rejectionOf({ merchantId: '1001', merchantSiteId: siteId, apiKey: merchantKey })).toEqual([
        'credentials.invalid',
        `The merchant of this key has no site ${siteId}: send one of its sites in merchantSiteId.`,
      ]);
  });

  it('treats a revoked key with wrong ids like a key that never existed', async () => {
    const { apiKey, event } = await publishNewKey({ kind: 'site' });
    await publishKey({ ...event, revoked: true }, 2);
    expect(await rejectionOf({ merchantId: '1001', merchantSiteId: '9999', apiKey })).toEqual([
      'credentials.invalid',
      'x-api-key has a key that is not known, was revoked, or is of somebody else. Send a valid key of a site or a merchant.',
    ]);
  });

  it('names the header that is missing or malformed', async () => {
    const { apiKey } = await publishNewKey({ kind: 'site' });
    const numberMessage = (header: string): string => `The header ${header} must be a number, as in 1001.`;
    const invalid = (change: object, message: string) =>
      [{ merchantId: '1001', merchantSiteId: '5001', apiKey, ...change }, ['credentials.invalid', message]] as const;
    for (const [headers, expected] of [
      invalid({ merchantId: undefined }, 'The header merchantId is missing.'),
      invalid({ merchantSiteId: undefined }, 'The header merchantSiteId is missing.'),
      ...['1001 ', '01001', '1001.0', "1001' OR '1'='1", '9'.repeat(40), ['1001'], 1001].map((merchantId) =>
        invalid({ merchantId }, numberMessage('merchantId')),
      ),
      invalid({ merchantSiteId: 5001 }, numberMessage('merchantSiteId')),
    ])
      expect(await rejectionOf(headers)).toEqual(expected);

    for (const merchantId of ['1001', '9999']) {
      const headers = { merchantId, merchantSiteId: '5001', apiKey: undefined };
      expect(await rejectionOf(headers)).toEqual([
        'credentials.key-missing',
        'There is no such site, or it needs its key in the header x-api-key.',
      ]);
      expect(await rejectionOf({ ...headers, authorization: `Bearer ${apiKey}` })).toEqual([
        'credentials.key-missing',
        'The hosted gateway does not read the header Authorization: send the key of the site or its merchant in x-api-key.',
      ]);
    }
  });

  it('rejects a revoked key within a second of the event', async () => {
    const { apiKey, event } = await publishNewKey({ kind: 'site' });
    expect(await authenticate(SITE, apiKey)).toMatchObject({ siteId: 5001 });
    service.clock.advance(500);
    await publishKey({ ...event, revoked: true }, 2);
    service.clock.advance(500);
    await expect(authenticate(SITE, apiKey)).rejects.toMatchObject(INVALID);
  });

  it('caches a site and its key for less than a second, so that frequent calls need no query', async () => {
    const { apiKey, event } = await publishNewKey({ kind: 'site' });
    const found = await authenticate(SITE, apiKey);
    await publishKey({ ...event, revoked: true }, 2);
    service.clock.advance(999);
    expect(await authenticate(SITE, apiKey)).toBe(found);
    service.clock.advance(1);
    await expect(authenticate(SITE, apiKey)).rejects.toMatchObject(INVALID);
  });

  it('does not cache a rejection, so that a new key works immediately', async () => {
    const apiKey = newApiKey('site', 'test');
    await expect(authenticate(SITE, apiKey)).rejects.toMatchObject(INVALID);
    await publishNewKey({ kind: 'site', hash: hashApiKey(apiKey) });
    expect(await authenticate(SITE, apiKey)).toMatchObject({ siteId: 5001 });
  });

  it('requires a key within a second after requireApiKey of the site was set to true', async () => {
    expect(await authenticate(KEYLESS_SITE)).toMatchObject({ keyless: true });
    await publishSite({ ...KEYLESS_SITE, requireApiKey: true }, 2);
    service.clock.advance(1_000);
    await expect(authenticate(KEYLESS_SITE)).rejects.toMatchObject(INVALID);
  });

  it('accepts the old and the new key during a rotation', async () => {
    const [oldKey, newKey] = [await publishNewKey({ kind: 'site' }), await publishNewKey({ kind: 'site' })];
    expect(await authenticate(SITE, oldKey.apiKey)).toMatchObject({ siteId: 5001 });
    expect(await authenticate(SITE, newKey.apiKey)).toMatchObject({ siteId: 5001 });
    await publishKey({ ...oldKey.event, revoked: true }, 2);
    service.clock.advance(1_000);
    await expect(authenticate(SITE, oldKey.apiKey)).rejects.toMatchObject(INVALID);
    expect(await authenticate(SITE, newKey.apiKey)).toMatchObject({ siteId: 5001 });
  });

  it('ignores older events that arrive late', async () => {
    const { apiKey, event } = await publishNewKey({ kind: 'site' });
    await publishKey({ ...event, revoked: true }, 2);
    await publishKey(event, 1);
    await expect(authenticate(SITE, apiKey)).rejects.toMatchObject(INVALID);

    await publishSite({ ...KEYLESS_SITE, merchantName: 'New name' }, 3);
    await publishSite({ ...KEYLESS_SITE, merchantName: 'Old name' }, 2);
    expect(await authenticate(KEYLESS_SITE)).toMatchObject({ merchantName: 'New name' });
  });

  it('accepts a key whose event arrived before the event of its site', async () => {
    const site = { ...SITE, siteId: 5009 };
    const { apiKey } = await publishNewKey({ kind: 'site', siteId: 5009 });
    await expect(authenticate(site, apiKey)).rejects.toMatchObject(INVALID);
    await publishSite(site);
    expect(await authenticate(site, apiKey)).toMatchObject({ siteId: 5009 });
  });
});
