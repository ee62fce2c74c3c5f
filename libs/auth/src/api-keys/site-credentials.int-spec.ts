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
};
const KEYLESS: SiteChanged = { ...SITE, siteId: 5002, requireApiKey: false, allowedHosts: ['shop.example'] };
const OTHER: SiteChanged = { ...SITE, merchantId: 1002, siteId: 5003, merchantName: 'Other' };

let keys = 0;

describe('SiteCredentials', () => {
  let test: TestService;
  let credentials: SiteCredentials;

  beforeEach(async () => {
    test = await startTestService({
      name: 'authenticating',
      config: ServiceConfig,
      module: AuthenticatingModule,
      migrations: [Credentials1763500000010],
    });
    credentials = test.service.app.get(SiteCredentials);
    for (const site of [SITE, KEYLESS, OTHER]) await publishSite(site);
  });
  afterEach(() => test.stop());

  const publishSite = (site: SiteChanged, version = 1) =>
    test.deliver(anEvent(SiteChangedV1, String(site.siteId), version, site));
  const publishKey = (key: ApiKeyChanged, version = 1) =>
    test.deliver(anEvent(ApiKeyChangedV1, key.keyId, version, key));

  /** A key that identity has published. */
  async function aKey(fields: Partial<ApiKeyChanged> & Pick<ApiKeyChanged, 'kind'>) {
    const { kind, mode = 'test' } = fields;
    const apiKey = newApiKey(kind, mode);
    const event: ApiKeyChanged = {
      keyId: `00000000-0000-7000-8000-${String(++keys).padStart(12, '0')}`,
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

  const as = ({ merchantId, siteId }: SiteChanged, apiKey?: unknown) =>
    credentials.authenticate({ merchantId: String(merchantId), merchantSiteId: String(siteId), apiKey });
  const INVALID = { code: 'credentials.invalid' } as const;

  it('finds a site by its key', async () => {
    const { apiKey } = await aKey({ kind: 'site' });
    expect(await as(SITE, apiKey)).toEqual({
      merchantId: 1001,
      siteId: 5001,
      merchantName: 'Merchant',
      mode: 'test',
      keyless: false,
      allowedHosts: [],
    });
  });

  it('takes the mode from the key, even if the site requires no key', async () => {
    const { apiKey } = await aKey({ kind: 'site', mode: 'live' });
    expect(await as(SITE, apiKey)).toMatchObject({ mode: 'live', keyless: false });
  });

  it('accepts a merchant key at every site of the merchant and at no other', async () => {
    const { apiKey } = await aKey({ kind: 'merchant' });
    expect(await as(SITE, apiKey)).toMatchObject({ siteId: 5001 });
    expect(await as(KEYLESS, apiKey)).toMatchObject({ siteId: 5002, keyless: false });
    await expect(as(OTHER, apiKey)).rejects.toMatchObject(INVALID);
  });

  it('accepts a site key only at its own site', async () => {
    const { apiKey } = await aKey({ kind: 'site' });
    await expect(as(KEYLESS, apiKey)).rejects.toMatchObject(INVALID);
    await expect(as({ ...SITE, merchantId: 1002 }, apiKey)).rejects.toMatchObject(INVALID);
  });

  it('requires no key at a site without required key, and returns the mode and hosts of the site', async () => {
    expect(await as(KEYLESS)).toMatchObject({
      siteId: 5002,
      keyless: true,
      mode: 'test',
      allowedHosts: ['shop.example'],
    });
    await publishSite({ ...KEYLESS, keylessMode: 'live' }, 2);
    test.clock.advance(1_000);
    expect(await as(KEYLESS)).toMatchObject({ mode: 'live' });
  });

  it('requires a key at every other site', async () => {
    await expect(as(SITE)).rejects.toMatchObject(INVALID);
  });

  it('refuses a wrong key even where no key is required', async () => {
    const { apiKey: others } = await aKey({ kind: 'site', merchantId: 1002, siteId: 5003 });
    const { apiKey: known } = await aKey({ kind: 'site', siteId: 5002 });
    for (const wrong of [
      '',
      'nonsense',
      newApiKey('site', 'test'),
      newApiKey('partner', 'test'),
      others,
      known.toUpperCase(),
      `${known} `,
      [known],
      null,
    ]) {
      await expect(as(KEYLESS, wrong)).rejects.toMatchObject(INVALID);
      await expect(as(SITE, wrong)).rejects.toMatchObject(INVALID);
    }
    expect(await as(KEYLESS, known)).toMatchObject({ keyless: false });
  });

  it('gives the same response for an unknown merchant, an unknown site and a site that requires a key', async () => {
    const { apiKey } = await aKey({ kind: 'site' });
    const KEY =
      'x-api-key has a key that is not known, was revoked, or is of somebody else. Send a valid key of a site or a merchant.';
    const NUMBER = (header: string): string => `The header ${header} must be a number, as in 1001.`;
    const claims: [SiteCredentialHeaders, string][] = [
      [{ merchantId: '9999', merchantSiteId: '5001', apiKey }, KEY],
      [{ merchantId: '1001', merchantSiteId: '9999', apiKey }, KEY],
      [{ merchantId: '1002', merchantSiteId: '5001', apiKey }, KEY],
      [{ merchantId: '1001', merchantSiteId: '5003', apiKey }, KEY],
      [{ merchantId: '1001', merchantSiteId: '5001', apiKey: newApiKey('site', 'test') }, KEY],
      ...['1001', '9999'].map((merchantId): [SiteCredentialHeaders, string] => [
        { merchantId, merchantSiteId: '5001', apiKey: undefined },
        'There is no such site, or it needs its key in the header x-api-key.',
      ]),
      [{ merchantId: undefined, merchantSiteId: '5001', apiKey }, 'The header merchantId is missing.'],
      [{ merchantId: '1001', merchantSiteId: undefined, apiKey }, 'The header merchantSiteId is missing.'],
      ...['1001 ', '01001', '1001.0', "1001' OR '1'='1", '9'.repeat(40), ['1001'], 1001].map(
        (merchantId): [SiteCredentialHeaders, string] => [
          { merchantId, merchantSiteId: '5001', apiKey },
          NUMBER('merchantId'),
        ],
      ),
      [{ merchantId: '1001', merchantSiteId: 5001, apiKey }, NUMBER('merchantSiteId')],
    ];
    for (const [claim, says] of claims) {
      const error: unknown = await credentials.authenticate(claim).catch((refused: unknown) => refused);
      expect(error).toBeInstanceOf(DomainError);
      const { code, message, fields, retryAfterSeconds, cause } = error as DomainError;
      expect([code, message, fields, retryAfterSeconds, cause]).toEqual([INVALID.code, says, [], undefined, undefined]);
    }
  });

  it('refuses a revoked key within a second of the event', async () => {
    const { apiKey, event } = await aKey({ kind: 'site' });
    expect(await as(SITE, apiKey)).toMatchObject({ siteId: 5001 });
    test.clock.advance(500);
    await publishKey({ ...event, revoked: true }, 2);
    test.clock.advance(500);
    await expect(as(SITE, apiKey)).rejects.toMatchObject(INVALID);
  });

  it('caches a key for less than a second, so that a call of a busy site needs no query', async () => {
    const { apiKey, event } = await aKey({ kind: 'site' });
    const found = await as(SITE, apiKey);
    await publishKey({ ...event, revoked: true }, 2);
    test.clock.advance(999);
    expect(await as(SITE, apiKey)).toBe(found);
    test.clock.advance(1);
    await expect(as(SITE, apiKey)).rejects.toMatchObject(INVALID);
  });

  it('does not cache a refusal, so that a new key works at once', async () => {
    const apiKey = newApiKey('site', 'test');
    await expect(as(SITE, apiKey)).rejects.toMatchObject(INVALID);
    await aKey({ kind: 'site', hash: hashApiKey(apiKey) });
    expect(await as(SITE, apiKey)).toMatchObject({ siteId: 5001 });
  });

  it('requires a key within a second of the change of the site', async () => {
    expect(await as(KEYLESS)).toMatchObject({ keyless: true });
    await publishSite({ ...KEYLESS, requireApiKey: true }, 2);
    test.clock.advance(1_000);
    await expect(as(KEYLESS)).rejects.toMatchObject(INVALID);
  });

  it('accepts the old and the new key during a rotation', async () => {
    const [old, next] = [await aKey({ kind: 'site' }), await aKey({ kind: 'site' })];
    expect(await as(SITE, old.apiKey)).toMatchObject({ siteId: 5001 });
    expect(await as(SITE, next.apiKey)).toMatchObject({ siteId: 5001 });
    await publishKey({ ...old.event, revoked: true }, 2);
    test.clock.advance(1_000);
    await expect(as(SITE, old.apiKey)).rejects.toMatchObject(INVALID);
    expect(await as(SITE, next.apiKey)).toMatchObject({ siteId: 5001 });
  });

  it('ignores older events that arrive late', async () => {
    const { apiKey, event } = await aKey({ kind: 'site' });
    await publishKey({ ...event, revoked: true }, 2);
    await publishKey(event, 1);
    await expect(as(SITE, apiKey)).rejects.toMatchObject(INVALID);

    await publishSite({ ...KEYLESS, merchantName: 'New name' }, 3);
    await publishSite({ ...KEYLESS, merchantName: 'Old name' }, 2);
    expect(await as(KEYLESS)).toMatchObject({ merchantName: 'New name' });
  });

  it('accepts a key that arrived before its site', async () => {
    const site = { ...SITE, siteId: 5009 };
    const { apiKey } = await aKey({ kind: 'site', siteId: 5009 });
    await expect(as(site, apiKey)).rejects.toMatchObject(INVALID);
    await publishSite(site);
    expect(await as(site, apiKey)).toMatchObject({ siteId: 5009 });
  });
});
