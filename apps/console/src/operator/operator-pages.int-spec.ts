/** The pages of operators over the administration API, which the test answers in place of the other services. */
import { createMerchant, startConsole, type TestConsole } from '../../test/console.js';
import { answerAdministration } from '../../test/operators.js';

const ID = '019ca8d7-25ab-777e-8b20-51e25d3ed4e3';

let app: TestConsole;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());

const operator = () => app.signIn([], { operatorRole: 'operator' });
const viewer = () => app.signIn([], { operatorRole: 'viewer' });

test('services show their version, lag and dead letters, and one that does not respond does not hide the others', async () => {
  await answerAdministration(app, {
    'GET /status/identity': { statusCode: 500, body: {} },
    'GET /notifications/circuits': {
      circuits: [
        {
          merchantId: 1,
          endpoint: 'shop.example:443',
          failures: 5,
          openUntil: '2026-03-01T10:05:00.000Z',
          pending: 12,
        },
      ],
    },
  });
  const { status, text } = await viewer().get('/operator/services');
  expect(status).toBe(200);
  expect(text).toContain('identity does not respond');
  expect(text).toContain('1.2.3 2026-03-01 09:00:00 7 s 3 0 connected');
  expect(text).toContain('1 shop.example:443 5 2026-03-01 10:05:00 12');
});

describe('dead letters', () => {
  const letter = {
    messageId: ID,
    type: 'payment.succeeded.v1',
    aggregateId: 'a',
    error: 'Error: <b>broken',
    deliveries: 5,
  };
  const page = { deadLetters: [{ ...letter, failedAt: '2026-03-01T10:00:00.000Z' }], after: 'cursor~1' };
  const path = '/operator/services/code-decoder';

  test('are listed, replayed and dropped by an operator, who is the author', async () => {
    const sent = await answerAdministration(app, { 'GET /dead-letters/code-decoder': page });
    const browser = operator();
    const { text, html } = await browser.get(`${path}?after=x~y`);
    expect(text).toContain('payment.succeeded.v1 a Error:');
    expect(html).toContain('&lt;b>broken');
    expect(html).toContain('href="/operator/services/code-decoder?after=cursor~1"');
    expect((await browser.post(`${path}/${ID}/replay`)).text).toContain('The event was handled.');
    expect((await browser.post(`${path}/${ID}/drop`)).text).toContain('The event was dropped.');
    expect((await browser.post(`${path}/replays`)).text).toContain('2 replayed, 1 failed again.');
    const author = { personId: browser.person.personId, mayChange: true };
    expect(sent.filter(({ method }) => method !== 'GET')).toEqual([
      { ...author, method: 'POST', path: `/dead-letters/code-decoder/${ID}/replay` },
      { ...author, method: 'DELETE', path: `/dead-letters/code-decoder/${ID}` },
      { ...author, method: 'POST', path: '/dead-letters/code-decoder/replays' },
    ]);
    expect(sent[0]).toMatchObject({ path: '/dead-letters/code-decoder?after=x~y' });
  });

  test('have no buttons for a viewer', async () => {
    await answerAdministration(app, { 'GET /dead-letters/code-decoder': page });
    expect((await viewer().get(path)).html).not.toContain('method="post" action="/operator');
  });

  test('show why a replay is refused', async () => {
    await answerAdministration(app, {
      [`POST /dead-letters/code-decoder/${ID}/replay`]: {
        statusCode: 409,
        body: { errors: [{ message: 'Nothing handles it.' }] },
      },
    });
    const { status, text } = await operator().post(`${path}/${ID}/replay`);
    expect([status, text.includes('Nothing handles it.')]).toEqual([422, true]);
  });

  test('of an unknown service do not exist', async () => {
    await answerAdministration(app);
    expect((await operator().get('/operator/services/other')).status).toBe(404);
    expect((await operator().post('/operator/services/other/replays')).status).toBe(404);
  });
});

test('open cases link to the timeline and the merchant', async () => {
  const common = {
    sinceUTCDate: '2026-03-01T09:00:00.000Z',
    svcId: '0123456789ABCDEFGH',
    merchantId: 7,
    mode: 'live',
    acquirer: 'adyen',
  };
  await answerAdministration(app, {
    'GET /open-cases': {
      cases: [{ ...common, kind: 'unknownOutcome', acquirerReference: null, state: 'unknown', detail: '3 queries' }],
    },
  });
  const { text, html } = await viewer().get('/operator/cases');
  expect(text).toContain('Charges without an outcome');
  expect(text).toContain('2026-03-01 09:00:00 0123456789ABCDEFGH 7 live adyen unknown 3 queries');
  expect(html).toContain('href="/operator/timeline?find=0123456789ABCDEFGH"');
  expect(html).toContain('href="/operator/merchants/7"');
});

test('a day is compared on request, and a run shows its differences', async () => {
  const sent = await answerAdministration(app, {
    [`GET /reconciliations/${ID}`]: {
      ...{ day: '2026-02-28', merchantId: null, state: 'done', watermark: '2026-03-01T00:00:00.000Z', failure: null },
      result: {
        ...{
          differences: 1,
          open: 2,
          isWholeDay: true,
          pastRetention: [],
          merchants: [{ merchantId: 7, payments: 3 }],
        },
        listedDifferences: [{ book: 'history', svcId: '0123456789ABCDEFGH', problem: 'missing' }],
      },
    },
  });
  const browser = operator();
  expect((await browser.post('/operator/reconciliations', { day: '2026-02-28' })).text).toContain('was requested');
  expect(sent.find(({ method }) => method === 'POST')).toMatchObject({
    path: '/reconciliations',
    body: { day: '2026-02-28' },
  });
  const { text } = await browser.get(`/operator/reconciliations/${ID}`);
  expect(text).toContain('history 0123456789ABCDEFGH missing');
  expect((await browser.get('/operator/reconciliations/none')).status).toBe(200);
});

describe('on-boarding', () => {
  test('creates a merchant, its owner, a site, a key and an account, and shows secrets once', async () => {
    const sent = await answerAdministration(app, {
      'POST /merchants/1/people': {
        invitationId: ID,
        path: '/invitations/abc',
        expiresUTCDate: '2026-03-02T09:00:00.000Z',
      },
      'POST /merchants/1/sites': { siteId: 5, webhookSecrets: { test: 'whsec_a', live: 'whsec_b' } },
      'POST /merchants/1/keys': { keyId: ID, apiKey: 'svc_test_merchant_x', mode: 'test' },
    });
    const browser = operator();
    const created = await browser.post('/operator/merchants', { name: 'Karoo', timeZone: 'Africa/Nairobi' });
    expect([created.status, created.headers['location']]).toEqual([303, '/operator/merchants/1']);
    expect((await browser.post('/operator/merchants/1/people', { email: 'a@b.example' })).text).toContain(
      '/invitations/abc',
    );
    const { text } = await browser.post('/operator/merchants/1/sites', { name: 'Shop', siteReference: 'S1' });
    expect(text).toContain('whsec_a');
    expect(text).toContain('whsec_b');
    expect((await browser.post('/operator/merchants/1/keys', { mode: 'live' })).text).toContain('svc_test_merchant_x');
    await browser.post('/operator/merchants/1/account', { mode: 'live', accountReference: 'ACC', acquirer: '' });
    expect((await browser.get('/operator/merchants/1')).text).not.toContain('whsec_a');
    expect(sent.filter(({ method }) => method !== 'GET').map(({ path, body }) => [path, body])).toEqual([
      ['/merchants', { name: 'Karoo', timeZone: 'Africa/Nairobi' }],
      ['/merchants/1/people', { email: 'a@b.example', role: 'owner' }],
      [
        '/merchants/1/sites',
        { name: 'Shop', siteReference: 'S1', requireApiKey: true, allowedHosts: [], keylessMode: 'test' },
      ],
      ['/merchants/1/keys', { mode: 'live' }],
      ['/merchant-accounts', { merchantId: 1, mode: 'live', accountReference: 'ACC' }],
    ]);
  });

  test('changes settings, fees, features and grants', async () => {
    const others = [{ organisationId: 'other', vouchers: true, externalPayments: false }];
    const merchant = {
      merchantId: 1,
      name: 'K',
      createdUTCDate: '2026-01-05T08:00:00.000Z',
      minimumAmount: 100,
      maximumAmount: null,
    };
    const sent = await answerAdministration(app, {
      'GET /merchants/1': { ...merchant, features: {}, grants: others, fees: {}, timeZones: [], sites: [] },
    });
    const browser = operator();
    await browser.post('/operator/merchants/1/settings', { name: 'K2', minimumAmount: '200', maximumAmount: '' });
    await browser.post('/operator/merchants/1/fees', {
      testBasisPoints: '290',
      testFixedAmount: '150',
      liveBasisPoints: '',
      liveFixedAmount: '',
    });
    await browser.post('/operator/merchants/1/features', { tipEnabled: 'on', orderReferenceLabel: 'Table' });
    await browser.post('/operator/merchants/1/grants', { organisationId: ID.toUpperCase(), externalPayments: 'on' });
    await browser.post('/operator/merchants/1/grants', { organisationId: 'other' });
    expect(sent.filter(({ method }) => method === 'PATCH').map(({ body }) => body)).toEqual([
      { name: 'K2', minimumAmount: 200, maximumAmount: null },
      { fees: { test: { basisPoints: 290, fixedAmount: 150 }, live: { basisPoints: 0, fixedAmount: 0 } } },
      {
        features: {
          amount: { editable: false },
          orderReference: { label: 'Table', editable: false, required: false },
          tip: { enabled: true },
        },
      },
      { grants: [...others, { organisationId: ID, vouchers: false, externalPayments: true }] },
      { grants: [] },
    ]);
  });

  test('shows the message of a refused form, and changes nothing for an unknown form or a field that is no number', async () => {
    const sent = await answerAdministration(app, {
      'POST /merchants': { statusCode: 400, body: { errors: [{ message: 'name must have 1 to 100 characters' }] } },
    });
    const browser = operator();
    const { status, text } = await browser.post('/operator/merchants', { name: '' });
    expect([status, text.includes('name must have 1 to 100 characters')]).toEqual([422, true]);
    expect((await browser.post('/operator/merchants/1/other')).status).toBe(404);
    expect((await browser.post('/operator/merchants/1/toString')).status).toBe(404);
    expect((await browser.post('/operator/merchants/x/settings')).status).toBe(404);
    expect((await browser.post('/operator/merchants/1/fees', { testBasisPoints: '2.9' })).status).toBe(400);
    expect(sent.filter(({ method, path }) => method !== 'GET' && path !== '/merchants')).toEqual([]);
  });

  test('creates a partner, its key and its token', async () => {
    const sent = await answerAdministration(app, {
      [`POST /organisations/${ID}/keys`]: { keyId: ID, apiKey: 'svc_test_partner_x' },
      [`POST /organisations/${ID}/api-tokens`]: { tokenId: ID, apiToken: 'token-x' },
    });
    const browser = operator();
    expect((await browser.post('/operator/partners', { name: 'Bank app' })).headers['location']).toBe(
      `/operator/partners/${ID}`,
    );
    expect((await browser.post(`/operator/partners/${ID}/keys`, { mode: 'live' })).text).toContain(
      'svc_test_partner_x',
    );
    expect((await browser.post(`/operator/partners/${ID}/api-tokens`, {})).text).toContain('token-x');
    expect(sent.filter(({ method }) => method === 'POST').map(({ body }) => body)).toEqual([
      { name: 'Bank app' },
      { mode: 'live' },
      { mode: 'test' },
    ]);
    expect((await browser.get('/operator/partners/x')).status).toBe(404);
  });
});

test('the audit log has its newest entries first, and a link to older ones', async () => {
  const entries = Array.from({ length: 100 }, (_, index) => ({
    ...{ entryId: 500 - index, changedUTCDate: '2026-03-01T09:00:00.000Z', service: 'identity', actor: 'operator:x' },
    ...{ requestId: 'r', action: 'site.changed', merchantId: 7, before: { name: 'A' }, after: { name: 'B' } },
  }));
  const sent = await answerAdministration(app, { 'GET /audit-log': { entries, nextAfter: 500 } });
  const { text, html } = await viewer().get('/operator/audit-log');
  expect(text).toContain('site.changed operator:x identity 7');
  expect(text).toMatch(/A.*B.* r /);
  expect(html).toContain('href="/operator/audit-log?before=401"');
  await viewer().get('/operator/audit-log?before=401');
  await viewer().get('/operator/audit-log?before=nonsense');
  expect(sent.map(({ path }) => path)).toEqual([
    '/audit-log?before=999999999999999',
    '/audit-log?before=401',
    '/audit-log?before=999999999999999',
  ]);
});

test('a viewer sends no request that may change something', async () => {
  const sent = await answerAdministration(app);
  for (const path of [
    'cases',
    'reconciliations',
    'services',
    'merchants',
    'merchants/1',
    'partners',
    `partners/${ID}`,
    'audit-log',
  ])
    expect([path, (await viewer().get(`/operator/${path}`)).status]).toEqual([path, 200]);
  expect(sent.length).toBeGreaterThan(10);
  expect(sent.filter(({ mayChange, method }) => mayChange || method !== 'GET')).toEqual([]);
});

test('the owner of a merchant finds none of the pages', async () => {
  const merchant = await createMerchant(app);
  const sent = await answerAdministration(app);
  const owner = app.signIn([merchant.grant('owner')]);
  expect((await owner.get('/operator/services')).status).toBe(404);
  expect(sent).toEqual([]);
});
