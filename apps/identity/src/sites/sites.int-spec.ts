import { decryptPrivateKey, newSealedKeyPair, type SealedKeyPair } from '@svc/auth';
import { SealingKeyPublishedV1, SigningSecretChangedV1, SiteChangedV1, WebhookSecretChangedV1 } from '@svc/contracts';
import { anEvent, httpClient, type TestService } from '@svc/testing';
import { compactDecrypt } from 'jose';
import { ADMIN_KEY, SEALING_KEY, startIdentity } from '../../test/identity.js';

describe('the administration API of sites', () => {
  let identity: TestService;
  let admin: ReturnType<typeof httpClient>;
  let merchantPath: string;
  let merchantId: number;
  let pair: SealedKeyPair;

  beforeAll(async () => {
    identity = await startIdentity();
    pair = await newSealedKeyPair('dispatcher-1', SEALING_KEY);
    await identity.deliver(anEvent(SealingKeyPublishedV1, 'dispatcher-1', 1, { publicJwk: pair.publicJwk }));
    admin = httpClient(identity.service, { 'x-admin-key': ADMIN_KEY });
  });
  afterAll(() => identity.stop());
  beforeEach(async () => {
    ({ merchantId } = (await admin('POST', '/admin/v1/merchants', { name: 'Merchant' })).body);
    merchantPath = `/admin/v1/merchants/${merchantId}`;
  });

  /** Creates a site and returns it without its secrets, because later responses do not contain the secrets. */
  const createSite = async (fields: object = {}) => {
    const request = { name: 'Shop', siteReference: 'SHOP-1', ...fields };
    const { webhookSecrets, ...site } = (await admin('POST', `${merchantPath}/sites`, request)).body;
    expect(Object.keys(webhookSecrets)).toEqual(['test', 'live']);
    return site;
  };
  /** Returns the expected payload of the site's event, which omits a webhookUrl that is null. */
  const toEventPayload = ({ webhookUrl, ...site }: { webhookUrl: string | null }): object =>
    webhookUrl === null ? site : { ...site, webhookUrl };
  const publishedVersions = async (siteId: number) =>
    (await identity.published(SiteChangedV1))
      .filter(({ aggregateId }) => aggregateId === String(siteId))
      .map(({ payload, aggregateVersion }) => ({ ...payload, aggregateVersion }));

  it('creates sites with ids from 5001 that require a key by default, and publishes them', async () => {
    const response = await admin('POST', `${merchantPath}/sites`, { name: 'Shop', siteReference: 'SHOP-1' });
    const site = {
      siteId: 5001,
      name: 'Shop',
      siteReference: 'SHOP-1',
      requireApiKey: true,
      allowedHosts: [],
      keylessMode: 'test',
      webhookEnabled: false,
      challengePayers: false,
    };
    expect(response).toMatchObject({ status: 201 });
    expect(response.body).toEqual({ ...site, webhookUrl: null, webhookSecrets: expect.anything() });
    expect(await publishedVersions(5001)).toEqual([
      { merchantId, merchantName: 'Merchant', ...site, aggregateVersion: 1 },
    ]);
    expect((await admin('GET', merchantPath)).body.sites).toEqual([{ ...site, webhookUrl: null }]);
  });

  it('creates a webhook secret of each mode for a new site, returns the secrets once, and publishes them encrypted', async () => {
    const response = await admin('POST', `${merchantPath}/sites`, { name: 'Shop', siteReference: 'SHOP-1' });
    expect(response).toMatchObject({ status: 201, headers: { 'cache-control': 'no-store' } });
    const { siteId, webhookSecrets } = response.body;
    const payloadsOfSite = <T extends { payload: { siteId?: number } }>(events: T[]): T['payload'][] =>
      events.map(({ payload }) => payload).filter((payload) => payload.siteId === siteId);
    const signingSecrets = payloadsOfSite(await identity.published(SigningSecretChangedV1));
    const secretMetadata = payloadsOfSite(await identity.published(WebhookSecretChangedV1));
    expect(signingSecrets.map(({ mode, purpose, revoked }) => [mode, purpose, revoked])).toEqual([
      ['test', 'webhook-secret', false],
      ['live', 'webhook-secret', false],
    ]);
    expect(secretMetadata).toEqual(
      signingSecrets.map(({ secretId, mode }) => ({ secretId, mode, merchantId, siteId, revoked: false })),
    );
    const privateKey = decryptPrivateKey('dispatcher-1', pair.sealedPrivateKey, SEALING_KEY);
    for (const { mode, sealed } of signingSecrets) {
      const { plaintext } = await compactDecrypt(sealed, privateKey);
      expect(new TextDecoder().decode(plaintext)).toBe(webhookSecrets[mode]);
    }
    const { secrets } = (await admin('GET', `${merchantPath}/sites/${siteId}/webhook-secrets`)).body;
    expect(secrets).toMatchObject([
      { mode: 'live', revoked: false },
      { mode: 'test', revoked: false },
    ]);
  });

  it('stores the allowed hosts of a site in the format of URLs', async () => {
    const site = await createSite({
      requireApiKey: false,
      allowedHosts: ['Shop.Example', '::1', 'shop.example', '127.0.0.1'],
      keylessMode: 'live',
    });
    expect(site).toMatchObject({
      requireApiKey: false,
      allowedHosts: ['shop.example', '[::1]', '127.0.0.1'],
      keylessMode: 'live',
    });
    expect(await publishedVersions(site.siteId)).toMatchObject([toEventPayload(site)]);
  });

  it('takes a field of a new site that is null for a missing field, which has its default', async () => {
    const nulls = {
      requireApiKey: null,
      allowedHosts: null,
      keylessMode: null,
      webhookUrl: null,
      webhookEnabled: null,
      challengePayers: null,
    };
    const { status, body } = await admin('POST', `${merchantPath}/sites`, {
      name: 'Shop',
      siteReference: 'S',
      ...nulls,
    });
    const defaults = { requireApiKey: true, allowedHosts: [], keylessMode: 'test', webhookUrl: null };
    expect([status, body]).toEqual([201, expect.objectContaining(defaults)]);
  });

  it.each([
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(101) }],
    ['siteReference', { siteReference: null }],
    ['siteReference', { siteReference: 'x'.repeat(101) }],
    ['requireApiKey', { requireApiKey: 'false' }],
    ['allowedHosts', { allowedHosts: 'shop.example' }],
    ['allowedHosts', { allowedHosts: ['shop.example:443'] }],
    ['allowedHosts', { allowedHosts: [7] }],
    ['allowedHosts', { allowedHosts: Array.from({ length: 51 }, (_, i) => `host${i}.example`) }],
    ['allowedHosts', { requireApiKey: false }],
    ['allowedHosts', { requireApiKey: false, allowedHosts: [] }],
    ['keylessMode', { keylessMode: 'production' }],
    ['webhookUrl', { webhookEnabled: true }],
    ['webhookUrl', { webhookUrl: 'http://shop.example/hook' }],
    ['webhookUrl', { webhookUrl: `https://shop.example/${'x'.repeat(2048)}` }],
    ['webhookUrl', { webhookUrl: 7 }],
    ['webhookEnabled', { webhookEnabled: 'true' }],
    ['challengePayers', { challengePayers: 1 }],
  ])('rejects a new site with an invalid %s: %j', async (field, fields) => {
    const response = await admin('POST', `${merchantPath}/sites`, { name: 'Shop', siteReference: 'SHOP-1', ...fields });
    expect(response).toMatchObject({ status: 400 });
    expect(response.body.errors.map((error: { field: string }) => error.field)).toEqual([field]);
    expect((await admin('GET', merchantPath)).body.sites).toEqual([]);
  });

  it('responds with the name of every invalid field', async () => {
    const { body } = await admin('POST', `${merchantPath}/sites`, { keylessMode: 'x' });
    const fields = body.errors.map((error: { field: string }) => error.field);
    expect(fields.toSorted()).toEqual(['keylessMode', 'name', 'siteReference']);
  });

  it('does not create two sites of a merchant with the same siteReference, even if requests are concurrent', async () => {
    const responses = await Promise.all(
      [1, 2, 3].map(() => admin('POST', `${merchantPath}/sites`, { name: 'Shop', siteReference: 'SHOP-1' })),
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
    const conflict = responses.find(({ status }) => status === 409)!;
    expect(conflict.body.errors).toMatchObject([{ field: 'siteReference' }]);

    const other = (await admin('POST', '/admin/v1/merchants', { name: 'Other' })).body;
    const otherMerchantResponse = await admin('POST', `/admin/v1/merchants/${other.merchantId}/sites`, {
      name: 'Shop',
      siteReference: 'SHOP-1',
    });
    expect(otherMerchantResponse.status).toBe(201);
  });

  it('changes only the fields of the request and only the site of the request, and publishes the next version', async () => {
    const site = await createSite();
    const otherSite = await createSite({ siteReference: 'SHOP-2' });
    const response = await admin('PATCH', `${merchantPath}/sites/${site.siteId}`, {
      requireApiKey: false,
      allowedHosts: ['LOCALHOST'],
    });
    const changed = { ...site, requireApiKey: false, allowedHosts: ['localhost'] };
    expect(response).toMatchObject({ status: 200 });
    expect(response.body).toEqual(changed);
    expect(await publishedVersions(site.siteId)).toMatchObject([
      { ...toEventPayload(site), aggregateVersion: 1 },
      { ...toEventPayload(changed), aggregateVersion: 2 },
    ]);
    expect((await admin('GET', merchantPath)).body.sites).toEqual([changed, otherSite]);
  });

  it('disables and enables a webhook without changing its URL, and publishes each change (M6)', async () => {
    const webhook = { webhookUrl: 'https://shop.example/hook', webhookEnabled: true };
    const site = await createSite(webhook);
    const path = `${merchantPath}/sites/${site.siteId}`;
    expect((await admin('PATCH', path, { webhookEnabled: false })).body).toEqual({ ...site, webhookEnabled: false });
    expect((await admin('PATCH', path, { webhookEnabled: true })).body).toEqual(site);
    expect(await admin('PATCH', path, { webhookUrl: null })).toMatchObject({ status: 400 });
    await admin('PATCH', path, { webhookUrl: null, webhookEnabled: false });
    expect((await admin('GET', merchantPath)).body.sites).toEqual([
      { ...site, webhookUrl: null, webhookEnabled: false },
    ]);
    const events = await publishedVersions(site.siteId);
    expect(events).toMatchObject([webhook, { ...webhook, webhookEnabled: false }, webhook, { webhookEnabled: false }]);
    expect(events.at(-1)).not.toHaveProperty('webhookUrl');
  });

  it('publishes nothing if a request changes nothing', async () => {
    const site = await createSite();
    for (const body of [{}, { name: 'Shop' }, site]) {
      expect(await admin('PATCH', `${merchantPath}/sites/${site.siteId}`, body)).toMatchObject({
        status: 200,
        body: site,
      });
    }
    expect(await publishedVersions(site.siteId)).toHaveLength(1);
  });

  it.each([
    ['name', { name: null }],
    ['siteReference', { siteReference: '' }],
    ['requireApiKey', { requireApiKey: 1 }],
    ['allowedHosts', { allowedHosts: null }],
    ['allowedHosts', { requireApiKey: false }],
    ['keylessMode', { keylessMode: 'Live' }],
    ['webhookUrl', { webhookEnabled: true }],
    ['webhookUrl', { webhookUrl: 'http://shop.example/hook' }],
    ['webhookEnabled', { webhookEnabled: null }],
    ['challengePayers', { challengePayers: null }],
  ])('rejects a change with an invalid %s: %j', async (field, change) => {
    const site = await createSite();
    const response = await admin('PATCH', `${merchantPath}/sites/${site.siteId}`, change);
    expect(response).toMatchObject({ status: 400, body: { errors: [{ field }] } });
    expect((await admin('GET', merchantPath)).body.sites).toEqual([site]);
  });

  it('rejects a change that removes the last allowed host of a site with requireApiKey false', async () => {
    const site = await createSite({ requireApiKey: false, allowedHosts: ['shop.example'] });
    const response = await admin('PATCH', `${merchantPath}/sites/${site.siteId}`, { allowedHosts: [] });
    expect(response).toMatchObject({ status: 400, body: { errors: [{ field: 'allowedHosts' }] } });
  });

  it('rejects a change if another site already has the new siteReference', async () => {
    await createSite();
    const second = await createSite({ siteReference: 'SHOP-2' });
    const response = await admin('PATCH', `${merchantPath}/sites/${second.siteId}`, { siteReference: 'SHOP-1' });
    expect(response).toMatchObject({ status: 409, body: { errors: [{ field: 'siteReference' }] } });
  });

  it('applies and publishes each of several concurrent changes', async () => {
    const site = await createSite();
    const changes = [{ name: 'Renamed' }, { allowedHosts: ['a.example'] }, { keylessMode: 'live' }];
    await Promise.all(changes.map((change) => admin('PATCH', `${merchantPath}/sites/${site.siteId}`, change)));
    const changedSite = { ...site, name: 'Renamed', allowedHosts: ['a.example'], keylessMode: 'live' };
    expect((await admin('GET', merchantPath)).body.sites).toEqual([changedSite]);
    const events = await publishedVersions(site.siteId);
    expect(events.map(({ aggregateVersion }) => aggregateVersion)).toEqual([1, 2, 3, 4]);
    expect(events.at(-1)).toMatchObject(toEventPayload(changedSite));
  });

  it('responds 404 for a site of another merchant, or an unknown or invalid id', async () => {
    const site = await createSite();
    const other = (await admin('POST', '/admin/v1/merchants', { name: 'Other' })).body;
    for (const path of [`${other.merchantId}/sites/${site.siteId}`, `${merchantId}/sites/1`, `${merchantId}/sites/x`]) {
      expect(await admin('PATCH', `/admin/v1/merchants/${path}`, { name: 'Renamed' })).toMatchObject({ status: 404 });
    }
    expect(await admin('POST', '/admin/v1/merchants/1/sites', { name: 'S', siteReference: 'S' })).toMatchObject({
      status: 404,
    });
  });

  it('creates at most 1000 sites for a merchant, even if requests are concurrent', async () => {
    await identity.dataSource.query(
      `INSERT INTO sites (merchant_id, name, site_reference, require_api_key, allowed_hosts, keyless_mode, webhook_enabled, challenge_payers, created_at, version)
       SELECT $1, 'Till', 'TILL-' || i, true, '[]', 'test', false, false, $2, 1 FROM generate_series(1, 999) AS i`,
      [merchantId, identity.clock.now()],
    );
    const responses = await Promise.all(
      ['X', 'Y'].map((siteReference) => admin('POST', `${merchantPath}/sites`, { name: 'Till', siteReference })),
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 409]);
  });
});
