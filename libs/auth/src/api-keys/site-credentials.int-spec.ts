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
  const INVALID = { code: 'credentials.invalid' } as const;

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

  it('rejects an unknown merchant, an unknown site and a wrong key with the same error code', async () => {
    const { apiKey } = await publishNewKey({ kind: 'site' });
    const KEY_MESSAGE =
      'x-api-key has a key that is not known, was revoked, or is of somebody else. Send a valid key of a site or a merchant.';
    const numberMessage = (header: string): string => `The header ${header} must be a number, as in 1001.`;
    const rejectedHeaders: [SiteCredentialHeaders, string][] = [
      [{ merchantId: '9999', merchantSiteId: '5001', apiKey }, KEY_MESSAGE],
      [{ merchantId: '1001', merchantSiteId: '9999', apiKey }, KEY_MESSAGE],
      [{ merchantId: '1002', merchantSiteId: '5001', apiKey }, KEY_MESSAGE],
      [{ merchantId: '1001', merchantSiteId: '5003', apiKey }, KEY_MESSAGE],
      [{ merchantId: '1001', merchantSiteId: '5001', apiKey: newApiKey('site', 'test') }, KEY_MESSAGE],
      ...['1001', '9999'].map((merchantId): [SiteCredentialHeaders, string] => [
        { merchantId, merchantSiteId: '5001', apiKey: undefined },
        'There is no such site, or it needs its key in the header x-api-key.',
      ]),
      [{ merchantId: undefined, merchantSiteId: '5001', apiKey }, 'The header merchantId is missing.'],
      [{ merchantId: '1001', merchantSiteId: undefined, apiKey }, 'The header merchantSiteId is missing.'],
      ...['1001 ', '01001', '1001.0', "1001' OR '1'='1", '9'.repeat(40), ['1001'], 1001].map(
        (merchantId): [SiteCredentialHeaders, string] => [
          { merchantId, merchantSiteId: '5001', apiKey },
          numberMessage('merchantId'),
        ],
      ),
      [{ merchantId: '1001', merchantSiteId: 5001, apiKey }, numberMessage('merchantSiteId')],
    ];
    for (const [headers, expectedMessage] of rejectedHeaders) {
      const error: unknown = await credentials.authenticate(headers).catch((rejection: unknown) => rejection);
      expect(error).toBeInstanceOf(DomainError);
      const { code, message, fields, retryAfterSeconds, cause } = error as DomainError;
      expect([code, message, fields, retryAfterSeconds, cause]).toEqual([
        INVALID.code,
        expectedMessage,
        [],
        undefined,
        undefined,
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
