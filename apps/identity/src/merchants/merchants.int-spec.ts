import { MerchantChangedV1, SiteChangedV1 } from '@svc/contracts';
import { httpClient, type TestService } from '@svc/testing';
import { ADMIN_KEY, startIdentity } from '../../test/identity.js';
import { countSites } from '../sites/site.repository.js';

const MERCHANTS = '/admin/v1/merchants';

describe('the administration API of merchants', () => {
  let identity: TestService;
  let admin: ReturnType<typeof httpClient>;

  beforeAll(async () => {
    identity = await startIdentity();
    admin = httpClient(identity.service, { 'x-admin-key': ADMIN_KEY });
  });
  afterAll(() => identity.stop());

  it('creates merchants with ids from 1001, and returns them', async () => {
    const created = await admin('POST', MERCHANTS, { name: 'Karoo Roastery', extra: 'ignored' });
    expect(created).toMatchObject({ status: 201 });
    expect(created.body).toEqual({
      merchantId: 1001,
      name: 'Karoo Roastery',
      createdUTCDate: '2026-03-01T10:00:00.000Z',
      features: {},
      minimumAmount: 100,
      maximumAmount: null,
      fees: {},
      grants: [],
      timeZones: [{ zone: 'Africa/Johannesburg' }],
    });
    expect(await admin('GET', `${MERCHANTS}/1001`)).toMatchObject({
      status: 200,
      body: { ...created.body, sites: [] },
    });
  });

  it.each([
    ['missing', {}],
    ['null', { name: null }],
    ['a number', { name: 7 }],
    ['empty', { name: '' }],
    ['only white space', { name: '  ' }],
    ['too long', { name: 'x'.repeat(101) }],
    ['only control characters', { name: '\u0000\t' }],
  ])('rejects a new merchant whose name is %s', async (_, body) => {
    const response = await admin('POST', MERCHANTS, body);
    expect(response).toMatchObject({
      status: 400,
      body: { status: 400, errors: [{ errorReference: '40', field: 'name' }] },
    });
    expect(response.headers['content-type']).toContain('application/problem+json');
    expect(response.body.instance).toBe(response.headers['x-request-id']);
  });

  it('shows a control character in a name as a space, and creates the merchant', async () => {
    const response = await admin('POST', MERCHANTS, { name: 'Big\tShop\u0000' });
    expect(response).toMatchObject({ status: 201, body: { name: 'Big Shop ' } });
  });

  it('rejects a body that is not JSON', async () => {
    const headers = { 'x-admin-key': ADMIN_KEY, 'content-type': 'application/json' };
    const response = await identity.service.app.inject({
      method: 'POST',
      url: MERCHANTS,
      headers,
      payload: '{"name":',
    });
    expect([response.statusCode, response.json()]).toEqual([
      400,
      expect.objectContaining({ detail: 'The body is not valid JSON.' }),
    ]);
  });

  it('responds 404 for an unknown or invalid id', async () => {
    for (const id of ['999', '0', '01001', '-1', '1e3', 'abc', '9'.repeat(30)]) {
      expect(await admin('GET', `${MERCHANTS}/${id}`)).toMatchObject({ status: 404, body: { status: 404 } });
      expect(await admin('PATCH', `${MERCHANTS}/${id}`, { name: 'Other' })).toMatchObject({ status: 404 });
    }
  });

  it('publishes all sites of a merchant again when the merchant gets a new name, but not when the name stays the same', async () => {
    const { merchantId } = (await admin('POST', MERCHANTS, { name: 'Before' })).body;
    const sites = [];
    for (const siteReference of ['A', 'B']) {
      const path = `${MERCHANTS}/${merchantId}/sites`;
      const { webhookSecrets: _, ...site } = (await admin('POST', path, { name: siteReference, siteReference })).body;
      sites.push(site);
    }
    const renamed = await admin('PATCH', `${MERCHANTS}/${merchantId}`, { name: 'After' });
    expect(renamed).toMatchObject({ status: 200, body: { merchantId, name: 'After' } });
    expect(await admin('PATCH', `${MERCHANTS}/${merchantId}`, { name: 'After' })).toMatchObject({ status: 200 });

    const events = (await identity.published(SiteChangedV1)).filter(({ payload }) => payload.merchantId === merchantId);
    const published = events.map(({ payload, aggregateVersion }) => [
      payload.siteId,
      payload.merchantName,
      aggregateVersion,
    ]);
    const [firstSite, secondSite] = sites.map(({ siteId }) => siteId);
    expect(published.toSorted()).toEqual([
      [firstSite, 'After', 2],
      [firstSite, 'Before', 1],
      [secondSite, 'After', 2],
      [secondSite, 'Before', 1],
    ]);
    expect((await admin('GET', `${MERCHANTS}/${merchantId}`)).body).toMatchObject({ name: 'After', sites });
  });

  it('does not increment the versions of another merchant’s sites when a merchant gets a new name', async () => {
    const [renamed, other] = [
      (await admin('POST', MERCHANTS, { name: 'Before' })).body,
      (await admin('POST', MERCHANTS, { name: 'Other' })).body,
    ];
    const path = `${MERCHANTS}/${other.merchantId}/sites`;
    const { siteId } = (await admin('POST', path, { name: 'Other', siteReference: 'A' })).body;
    expect(await admin('PATCH', `${MERCHANTS}/${renamed.merchantId}`, { name: 'After' })).toMatchObject({
      status: 200,
    });
    expect(await admin('PATCH', `${path}/${siteId}`, { name: 'Changed' })).toMatchObject({ status: 200 });
    const events = (await identity.published(SiteChangedV1)).filter(({ payload }) => payload.siteId === siteId);
    expect(events.map(({ aggregateVersion }) => aggregateVersion)).toEqual([1, 2]);
  });

  it('lists merchants with the number of their sites, in pages of 50', async () => {
    for (let i = 0; i < 101; i++) await admin('POST', MERCHANTS, { name: `Merchant ${i}` });
    const listedMerchants = [];
    let pages = 0;
    for (let after: number | undefined = 0; after !== undefined; pages++) {
      const { status, body } = await admin('GET', `${MERCHANTS}?after=${after}`);
      expect(status).toBe(200);
      expect(body.merchants.length).toBeLessThanOrEqual(50);
      listedMerchants.push(...body.merchants);
      after = body.nextAfter;
    }
    expect(pages).toBe(3);
    const [{ count }] = await identity.dataSource.query<[{ count: number }]>('SELECT count(*) FROM merchants');
    expect(new Set(listedMerchants.map(({ merchantId }) => merchantId)).size).toBe(count);
    expect(listedMerchants.find(({ name }) => name === 'After')).toMatchObject({ siteCount: 2 });
    expect(listedMerchants.find(({ name }) => name === 'Merchant 0')).toMatchObject({ siteCount: 0 });
    expect(listedMerchants.filter((merchant) => 'sites' in merchant)).toEqual([]);
    expect(listedMerchants.map(({ merchantId }) => merchantId)).toEqual(
      listedMerchants.map(({ merchantId }) => merchantId).toSorted(),
    );
  });

  it('counts only the sites of the merchants that are passed to countSites', async () => {
    const [merchantId] = await Promise.all(
      ['Counted', 'Not counted'].map(async (name) => {
        const merchant = (await admin('POST', MERCHANTS, { name })).body as { merchantId: number };
        await admin('POST', `${MERCHANTS}/${merchant.merchantId}/sites`, { name, siteReference: 'SHOP' });
        return merchant.merchantId;
      }),
    );
    expect(await countSites(identity.dataSource.manager, [merchantId!])).toEqual(new Map([[merchantId, 1]]));
  });

  it.each(['x', '-1', '1.5', '', '1&after=2'])('rejects %j as the query parameter "after"', async (after) => {
    const response = await admin('GET', `${MERCHANTS}?after=${after}`);
    expect(response).toMatchObject({ status: 400, body: { errors: [{ field: 'after' }] } });
  });

  it('responds 401 with an empty body to all requests without the administration key, including invalid requests', async () => {
    const wrongHeaders: Record<string, string>[] = [
      {},
      { 'x-admin-key': '' },
      { 'x-admin-key': `${ADMIN_KEY}x` },
      { 'x-api-key': ADMIN_KEY },
    ];
    const { body: merchant } = await admin('POST', MERCHANTS, { name: 'Merchant' });
    const merchantPath = `${MERCHANTS}/${merchant.merchantId}`;
    const { siteId } = (await admin('POST', `${merchantPath}/sites`, { name: 'Site', siteReference: 'S' })).body;
    const id = '00000000-0000-7000-8000-000000000000';
    for (const headers of wrongHeaders) {
      const unauthorisedClient = httpClient(identity.service, headers);
      for (const [method, path] of [
        ['POST', MERCHANTS],
        ['GET', MERCHANTS],
        ['GET', merchantPath],
        ['PATCH', merchantPath],
        ['POST', `${merchantPath}/sites`],
        ['PATCH', `${merchantPath}/sites/${siteId}`],
        ['POST', `${merchantPath}/keys`],
        ['GET', `${merchantPath}/keys`],
        ['DELETE', `${merchantPath}/keys/${id}`],
        ['POST', `${merchantPath}/sites/${siteId}/keys`],
        ['GET', `${merchantPath}/sites/${siteId}/keys`],
        ['DELETE', `${merchantPath}/sites/${siteId}/keys/${id}`],
        ['POST', `${merchantPath}/sites/${siteId}/webhook-secrets`],
        ['GET', `${merchantPath}/sites/${siteId}/webhook-secrets`],
        ['DELETE', `${merchantPath}/sites/${siteId}/webhook-secrets/${id}`],
        ['GET', '/admin/v1/audit-log'],
      ] as const) {
        const response = await unauthorisedClient(
          method,
          path,
          method === 'GET' || method === 'DELETE' ? undefined : { name: '' },
        );
        expect([method, path, response.status, response.body]).toEqual([method, path, 401, undefined]);
      }
    }
  });

  describe('the settings of a merchant', () => {
    const readPublishedSettings = async (merchantId: number) =>
      (await identity.published(MerchantChangedV1))
        .filter(({ payload }) => payload.merchantId === merchantId)
        .map(({ payload, aggregateVersion }) => ({ ...payload, aggregateVersion }));
    const createOrganisation = async () =>
      (await admin('POST', '/admin/v1/organisations', { name: 'Partner' })).body.organisationId as string;

    it('have no features and grants at first, and each change replaces the features or grants and is published once', async () => {
      const { merchantId } = (await admin('POST', MERCHANTS, { name: 'Merchant' })).body;
      const organisationId = await createOrganisation();
      const features = {
        amount: { editable: true },
        orderReference: { label: 'Table', editable: false, required: true },
        tip: { enabled: true },
      };
      const grants = [{ organisationId, vouchers: true, externalPayments: false }];
      const response = await admin('PATCH', `${MERCHANTS}/${merchantId}`, {
        features: { ...features, more: 1 },
        grants,
      });
      expect(response).toMatchObject({ status: 200 });
      expect(response.body).toMatchObject({ features, grants });
      await admin('PATCH', `${MERCHANTS}/${merchantId}`, { features, grants });
      await admin('PATCH', `${MERCHANTS}/${merchantId}`, { features: { tip: {} }, name: 'Other' });
      const timeZones = [{ zone: 'Africa/Johannesburg' }];
      const merchant = { merchantId, name: 'Merchant', minimumAmount: 100, fees: {}, timeZones };
      expect(await readPublishedSettings(merchantId)).toEqual([
        { ...merchant, features: {}, grants: [], aggregateVersion: 1 },
        { ...merchant, features, grants, aggregateVersion: 2 },
        { ...merchant, name: 'Other', features: { tip: {} }, grants, aggregateVersion: 3 },
      ]);
      expect((await admin('GET', `${MERCHANTS}/${merchantId}`)).body).toMatchObject({ features: { tip: {} }, grants });
    });

    it('have a minimum amount of 100 cents at first, and a change is published and logged', async () => {
      const created = (await admin('POST', MERCHANTS, { name: 'Merchant' })).body;
      const path = `${MERCHANTS}/${created.merchantId}`;
      expect(created.minimumAmount).toBe(100);
      expect((await admin('PATCH', path, { minimumAmount: 500 })).body.minimumAmount).toBe(500);
      await admin('PATCH', path, { features: { amount: { editable: true } } });
      expect((await admin('GET', path)).body.minimumAmount).toBe(500);
      expect((await readPublishedSettings(created.merchantId)).map(({ minimumAmount }) => minimumAmount)).toEqual([
        100, 500, 500,
      ]);
      const [entry] = await identity.dataSource.query(
        `SELECT before, after FROM audit_log WHERE merchant_id = $1 ORDER BY entry_id OFFSET 1 LIMIT 1`,
        [created.merchantId],
      );
      expect(entry).toEqual({ before: { minimumAmount: 100 }, after: { minimumAmount: 500 } });
    });

    it('have no maximum amount at first; a change is published and logged, and null removes the maximum', async () => {
      const created = (await admin('POST', MERCHANTS, { name: 'Merchant' })).body;
      const path = `${MERCHANTS}/${created.merchantId}`;
      expect(created.maximumAmount).toBeNull();
      expect((await admin('PATCH', path, { maximumAmount: 500_000 })).body.maximumAmount).toBe(500_000);
      await admin('PATCH', path, { features: { amount: { editable: true } } });
      expect((await admin('GET', path)).body.maximumAmount).toBe(500_000);
      expect((await admin('PATCH', path, { maximumAmount: null })).body.maximumAmount).toBeNull();
      expect((await readPublishedSettings(created.merchantId)).map(({ maximumAmount }) => maximumAmount)).toEqual([
        ...[undefined, 500_000, 500_000, undefined],
      ]);
      const entries = await identity.dataSource.query(
        `SELECT before, after FROM audit_log WHERE merchant_id = $1 AND after ? 'maximumAmount' ORDER BY entry_id`,
        [created.merchantId],
      );
      expect(entries).toEqual([
        { before: { maximumAmount: null }, after: { maximumAmount: 500_000 } },
        { before: { maximumAmount: 500_000 }, after: { maximumAmount: null } },
      ]);
    });

    it('cannot have a maximum amount below the minimum amount', async () => {
      const { merchantId } = (await admin('POST', MERCHANTS, { name: 'Merchant' })).body;
      const path = `${MERCHANTS}/${merchantId}`;
      expect((await admin('PATCH', path, { maximumAmount: 99 })).status).toBe(400);
      expect((await admin('PATCH', path, { maximumAmount: 100 })).status).toBe(200);
      const { status, body } = await admin('PATCH', path, { minimumAmount: 101 });
      expect([status, body.errors]).toMatchObject([400, [{ field: 'maximumAmount' }]]);
      expect((await admin('PATCH', path, { minimumAmount: 101, maximumAmount: 101 })).status).toBe(200);
    });

    it('have no fees at first, and a change replaces the fees of both modes, and is published and logged', async () => {
      const created = (await admin('POST', MERCHANTS, { name: 'Merchant' })).body;
      const path = `${MERCHANTS}/${created.merchantId}`;
      const [testFees, liveFees] = [
        { test: { basisPoints: 290, fixedAmount: 0 } },
        { live: { basisPoints: 310, fixedAmount: 150 } },
      ];
      expect(created.fees).toEqual({});
      expect((await admin('PATCH', path, { fees: testFees })).body.fees).toEqual(testFees);
      expect((await admin('PATCH', path, { fees: liveFees })).body.fees).toEqual(liveFees);
      await admin('PATCH', path, { minimumAmount: 200 });
      expect((await admin('GET', path)).body.fees).toEqual(liveFees);
      expect((await readPublishedSettings(created.merchantId)).map(({ fees }) => fees)).toEqual([
        {},
        testFees,
        liveFees,
        liveFees,
      ]);
      const [entry] = await identity.dataSource.query(
        `SELECT before, after FROM audit_log WHERE merchant_id = $1 ORDER BY entry_id OFFSET 2 LIMIT 1`,
        [created.merchantId],
      );
      expect(entry).toEqual({ before: { fees: testFees }, after: { fees: liveFees } });
    });

    it('do not contain a grant without a permission', async () => {
      const { merchantId } = (await admin('POST', MERCHANTS, { name: 'Merchant' })).body;
      const grants = [{ organisationId: await createOrganisation() }];
      expect((await admin('PATCH', `${MERCHANTS}/${merchantId}`, { grants })).body.grants).toEqual([]);
    });

    it.each<[string, object, string[]?]>([
      ['features', { features: null }],
      ['features', { features: [] }],
      ['features.amount', { features: { amount: true } }],
      ['features.amount.editable', { features: { amount: { editable: 'yes' } } }],
      ['features.orderReference.label', { features: { orderReference: { label: 'x'.repeat(101) } } }],
      ['minimumAmount', { minimumAmount: null }],
      ['minimumAmount', { minimumAmount: 0 }],
      ['minimumAmount', { minimumAmount: 1.5 }],
      ['minimumAmount', { minimumAmount: '500' }],
      ['minimumAmount', { minimumAmount: 100_000_000_001 }],
      ['maximumAmount', { maximumAmount: 0 }],
      ['maximumAmount', { maximumAmount: 1.5 }],
      ['maximumAmount', { maximumAmount: '500' }],
      ['maximumAmount', { maximumAmount: 100_000_000_001 }],
      ['fees', { fees: null }],
      ['fees.live', { fees: { live: null } }],
      ['fees.live.basisPoints', { fees: { live: { basisPoints: 1_001, fixedAmount: 0 } } }],
      ['fees.live.basisPoints', { fees: { live: { basisPoints: -1, fixedAmount: 0 } } }],
      ['fees.test.fixedAmount', { fees: { test: { basisPoints: 0, fixedAmount: 10_001 } } }],
      ['fees.test.fixedAmount', { fees: { test: { basisPoints: 0 } } }],
      ['timeZone', { timeZone: null }],
      ['timeZone', { timeZone: '' }],
      ['timeZone', { timeZone: 2 }],
      ['timeZone', { timeZone: '+02:00' }],
      ['timeZone', { timeZone: 'Africa/Pretoria' }],
      ['features.tip.enabled', { features: { tip: { enabled: null } } }],
      ['grants', { grants: {} }],
      ['grants', { grants: ['x'] }],
      ['grants[0].organisationId', { grants: [{ organisationId: 'x', vouchers: true }] }],
      ['grants[0].vouchers', { grants: [{ organisationId: crypto.randomUUID(), vouchers: 1 }] }],
      ['grants', { grants: [{ organisationId: crypto.randomUUID(), vouchers: true }] }],
      ['name', { name: null, features: {} }],
    ])('are not changed by a request with an invalid value of %s: %j', async (field, body, fields = [field]) => {
      const { merchantId } = (await admin('POST', MERCHANTS, { name: 'Merchant' })).body;
      const response = await admin('PATCH', `${MERCHANTS}/${merchantId}`, body);
      expect(response.status).toBe(400);
      expect(response.body.errors.map((error: { field: string }) => error.field)).toEqual(fields);
      expect(await readPublishedSettings(merchantId)).toHaveLength(1);
    });

    it('are not changed by a request with two grants for one organisation', async () => {
      const { merchantId } = (await admin('POST', MERCHANTS, { name: 'Merchant' })).body;
      const organisationId = await createOrganisation();
      const grants = [organisationId, organisationId.toUpperCase()].map((id) => ({
        organisationId: id,
        vouchers: true,
      }));
      expect(await admin('PATCH', `${MERCHANTS}/${merchantId}`, { grants })).toMatchObject({
        status: 400,
        body: { errors: [{ field: 'grants', message: 'grants must name each organisation once' }] },
      });
    });
  });
});
