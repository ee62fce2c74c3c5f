import { newSealedKeyPair, openPrivateKey, type SealedKeyPair } from '@svc/auth';
import { SealingKeyPublishedV1, SigningSecretChangedV1, SiteChangedV1, WebhookSecretChangedV1 } from '@svc/contracts';
import { anEvent, httpClient, type TestService } from '@svc/testing';
import { compactDecrypt } from 'jose';
import { ADMIN_KEY, SEALING_KEY, startIdentity } from '../../test/identity.js';

describe('sites', () => {
  let test: TestService;
  let admin: ReturnType<typeof httpClient>;
  let merchant: string;
  let merchantId: number;
  let pair: SealedKeyPair;

  beforeAll(async () => {
    test = await startIdentity();
    pair = await newSealedKeyPair('dispatcher-1', SEALING_KEY);
    await test.deliver(anEvent(SealingKeyPublishedV1, 'dispatcher-1', 1, { publicJwk: pair.publicJwk }));
    admin = httpClient(test.service, { 'x-admin-key': ADMIN_KEY });
  });
  afterAll(() => test.stop());
  beforeEach(async () => {
    ({ merchantId } = (await admin('POST', '/admin/v1/merchants', { name: 'Merchant' })).body);
    merchant = `/admin/v1/merchants/${merchantId}`;
  });

  /** The site as later responses show it: without its secrets. */
  const create = async (fields: object = {}) => {
    const request = { name: 'Shop', siteReference: 'SHOP-1', ...fields };
    const { webhookSecrets, ...site } = (await admin('POST', `${merchant}/sites`, request)).body;
    expect(Object.keys(webhookSecrets)).toEqual(['test', 'live']);
    return site;
  };
  /** An event omits a missing address. */
  const asPublished = ({ webhookUrl, ...site }: { webhookUrl: string | null }): object =>
    webhookUrl === null ? site : { ...site, webhookUrl };
  const published = async (siteId: number) =>
    (await test.published(SiteChangedV1))
      .filter(({ aggregateId }) => aggregateId === String(siteId))
      .map(({ payload, aggregateVersion }) => ({ ...payload, aggregateVersion }));

  it('numbers sites from 5001, requires a key by default, and publishes them', async () => {
    const answer = await admin('POST', `${merchant}/sites`, { name: 'Shop', siteReference: 'SHOP-1' });
    const site = {
      siteId: 5001,
      name: 'Shop',
      siteReference: 'SHOP-1',
      requireApiKey: true,
      allowedHosts: [],
      keylessMode: 'test',
      webhookEnabled: false,
    };
    expect(answer).toMatchObject({ status: 201 });
    expect(answer.body).toEqual({ ...site, webhookUrl: null, webhookSecrets: expect.anything() });
    expect(await published(5001)).toEqual([{ merchantId, merchantName: 'Merchant', ...site, aggregateVersion: 1 }]);
    expect((await admin('GET', merchant)).body.sites).toEqual([{ ...site, webhookUrl: null }]);
  });

  it('gives a site a webhook secret of each mode, shows them once and publishes them sealed', async () => {
    const answer = await admin('POST', `${merchant}/sites`, { name: 'Shop', siteReference: 'SHOP-1' });
    expect(answer).toMatchObject({ status: 201, headers: { 'cache-control': 'no-store' } });
    const { siteId, webhookSecrets } = answer.body;
    const ofSite = <T extends { payload: { siteId?: number } }>(events: T[]): T['payload'][] =>
      events.map(({ payload }) => payload).filter((payload) => payload.siteId === siteId);
    const signing = ofSite(await test.published(SigningSecretChangedV1));
    const metadata = ofSite(await test.published(WebhookSecretChangedV1));
    expect(signing.map(({ mode, purpose, revoked }) => [mode, purpose, revoked])).toEqual([
      ['test', 'webhook-secret', false],
      ['live', 'webhook-secret', false],
    ]);
    expect(metadata).toEqual(
      signing.map(({ secretId, mode }) => ({ secretId, mode, merchantId, siteId, revoked: false })),
    );
    const privateKey = openPrivateKey('dispatcher-1', pair.sealedPrivateKey, SEALING_KEY);
    for (const { mode, sealed } of signing) {
      const { plaintext } = await compactDecrypt(sealed, privateKey);
      expect(new TextDecoder().decode(plaintext)).toBe(webhookSecrets[mode]);
    }
    const { secrets } = (await admin('GET', `${merchant}/sites/${siteId}/webhook-secrets`)).body;
    expect(secrets).toMatchObject([
      { mode: 'live', revoked: false },
      { mode: 'test', revoked: false },
    ]);
  });

  it('stores the hosts of a site without required key in the format of URLs', async () => {
    const site = await create({
      requireApiKey: false,
      allowedHosts: ['Shop.Example', '::1', 'shop.example', '127.0.0.1'],
      keylessMode: 'live',
    });
    expect(site).toMatchObject({
      requireApiKey: false,
      allowedHosts: ['shop.example', '[::1]', '127.0.0.1'],
      keylessMode: 'live',
    });
    expect(await published(site.siteId)).toMatchObject([asPublished(site)]);
  });

  it.each([
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(101) }],
    ['siteReference', { siteReference: null }],
    ['siteReference', { siteReference: 'x'.repeat(101) }],
    ['requireApiKey', { requireApiKey: 'false' }],
    ['requireApiKey', { requireApiKey: null }],
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
  ])('refuses a site because of its %s: %j', async (field, fields) => {
    const answer = await admin('POST', `${merchant}/sites`, { name: 'Shop', siteReference: 'SHOP-1', ...fields });
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.body.errors.map((error: { field: string }) => error.field)).toEqual([field]);
    expect((await admin('GET', merchant)).body.sites).toEqual([]);
  });

  it('names every invalid field', async () => {
    const { body } = await admin('POST', `${merchant}/sites`, { keylessMode: 'x' });
    const fields = body.errors.map((error: { field: string }) => error.field);
    expect(fields.toSorted()).toEqual(['keylessMode', 'name', 'siteReference']);
  });

  it('has one site for each reference of a merchant, even if two are created concurrently', async () => {
    const answers = await Promise.all(
      [1, 2, 3].map(() => admin('POST', `${merchant}/sites`, { name: 'Shop', siteReference: 'SHOP-1' })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
    const refused = answers.find(({ status }) => status === 409)!;
    expect(refused.body.errors).toMatchObject([{ field: 'siteReference' }]);

    const other = (await admin('POST', '/admin/v1/merchants', { name: 'Other' })).body;
    const elsewhere = await admin('POST', `/admin/v1/merchants/${other.merchantId}/sites`, {
      name: 'Shop',
      siteReference: 'SHOP-1',
    });
    expect(elsewhere.status).toBe(201);
  });

  it('changes the given fields, keeps the others and the other sites, and publishes the next version', async () => {
    const site = await create();
    const sibling = await create({ siteReference: 'SHOP-2' });
    const answer = await admin('PATCH', `${merchant}/sites/${site.siteId}`, {
      requireApiKey: false,
      allowedHosts: ['LOCALHOST'],
    });
    const changed = { ...site, requireApiKey: false, allowedHosts: ['localhost'] };
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual(changed);
    expect(await published(site.siteId)).toMatchObject([
      { ...asPublished(site), aggregateVersion: 1 },
      { ...asPublished(changed), aggregateVersion: 2 },
    ]);
    expect((await admin('GET', merchant)).body.sites).toEqual([changed, sibling]);
  });

  it('can disable and enable a webhook without changing its address, and publishes each change (M6)', async () => {
    const webhook = { webhookUrl: 'https://shop.example/hook', webhookEnabled: true };
    const site = await create(webhook);
    const path = `${merchant}/sites/${site.siteId}`;
    expect((await admin('PATCH', path, { webhookEnabled: false })).body).toEqual({ ...site, webhookEnabled: false });
    expect((await admin('PATCH', path, { webhookEnabled: true })).body).toEqual(site);
    expect(await admin('PATCH', path, { webhookUrl: null })).toMatchObject({ status: 400 });
    await admin('PATCH', path, { webhookUrl: null, webhookEnabled: false });
    expect((await admin('GET', merchant)).body.sites).toEqual([{ ...site, webhookUrl: null, webhookEnabled: false }]);
    const events = await published(site.siteId);
    expect(events).toMatchObject([webhook, { ...webhook, webhookEnabled: false }, webhook, { webhookEnabled: false }]);
    expect(events.at(-1)).not.toHaveProperty('webhookUrl');
  });

  it('publishes nothing when nothing changes', async () => {
    const site = await create();
    for (const body of [{}, { name: 'Shop' }, site]) {
      expect(await admin('PATCH', `${merchant}/sites/${site.siteId}`, body)).toMatchObject({ status: 200, body: site });
    }
    expect(await published(site.siteId)).toHaveLength(1);
  });

  it.each([
    ['name', { name: null }],
    ['siteReference', { siteReference: '' }],
    ['requireApiKey', { requireApiKey: null }],
    ['requireApiKey', { requireApiKey: 1 }],
    ['allowedHosts', { allowedHosts: null }],
    ['allowedHosts', { requireApiKey: false }],
    ['keylessMode', { keylessMode: 'Live' }],
    ['webhookUrl', { webhookEnabled: true }],
    ['webhookUrl', { webhookUrl: 'http://shop.example/hook' }],
    ['webhookEnabled', { webhookEnabled: null }],
  ])('refuses a change because of %s: %j', async (field, change) => {
    const site = await create();
    const answer = await admin('PATCH', `${merchant}/sites/${site.siteId}`, change);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ field }] } });
    expect((await admin('GET', merchant)).body.sites).toEqual([site]);
  });

  it('refuses to remove the last host of a site without required key', async () => {
    const site = await create({ requireApiKey: false, allowedHosts: ['shop.example'] });
    const answer = await admin('PATCH', `${merchant}/sites/${site.siteId}`, { allowedHosts: [] });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ field: 'allowedHosts' }] } });
  });

  it('rejects the reference of another site', async () => {
    await create();
    const second = await create({ siteReference: 'SHOP-2' });
    const answer = await admin('PATCH', `${merchant}/sites/${second.siteId}`, { siteReference: 'SHOP-1' });
    expect(answer).toMatchObject({ status: 409, body: { errors: [{ field: 'siteReference' }] } });
  });

  it('loses none of several concurrent changes', async () => {
    const site = await create();
    const changes = [{ name: 'Renamed' }, { allowedHosts: ['a.example'] }, { keylessMode: 'live' }];
    await Promise.all(changes.map((change) => admin('PATCH', `${merchant}/sites/${site.siteId}`, change)));
    const after = { ...site, name: 'Renamed', allowedHosts: ['a.example'], keylessMode: 'live' };
    expect((await admin('GET', merchant)).body.sites).toEqual([after]);
    const events = await published(site.siteId);
    expect(events.map(({ aggregateVersion }) => aggregateVersion)).toEqual([1, 2, 3, 4]);
    expect(events.at(-1)).toMatchObject(asPublished(after));
  });

  it('does not find a site of another merchant', async () => {
    const site = await create();
    const other = (await admin('POST', '/admin/v1/merchants', { name: 'Other' })).body;
    for (const path of [`${other.merchantId}/sites/${site.siteId}`, `${merchantId}/sites/1`, `${merchantId}/sites/x`]) {
      expect(await admin('PATCH', `/admin/v1/merchants/${path}`, { name: 'Mine' })).toMatchObject({ status: 404 });
    }
    expect(await admin('POST', '/admin/v1/merchants/1/sites', { name: 'S', siteReference: 'S' })).toMatchObject({
      status: 404,
    });
  });

  it('allows at most 1000 sites for a merchant', async () => {
    await test.dataSource.query(
      `INSERT INTO sites (merchant_id, name, site_reference, require_api_key, allowed_hosts, keyless_mode, created_at, version)
       SELECT $1, 'Till', 'TILL-' || i, true, '[]', 'test', $2, 1 FROM generate_series(1, 999) AS i`,
      [merchantId, test.clock.now()],
    );
    const answers = await Promise.all(
      ['X', 'Y'].map((siteReference) => admin('POST', `${merchant}/sites`, { name: 'Till', siteReference })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409]);
  });
});
