import { randomUUID } from 'node:crypto';
import {
  ChangeSiteWebhookV1,
  type CreateCredential,
  CreateCredentialV1,
  type CredentialEntry,
  type CredentialScope,
  type DeliveryWithAttempts,
  type ErrorCode,
  GetDeliveryContentV1,
  GetDeliveryV1,
  ListCredentialsV1,
  type ListDeliveries,
  ListDeliveriesV1,
  ReadSiteWebhookV1,
  ResendDeliveryV1,
  type RevokeCredential,
  RevokeCredentialV1,
  SendTestWebhookV1,
  type SiteWebhookSettings,
} from '@svc/contracts';
import type { ReplyEnvelope } from '@svc/messaging';
import { createMerchant, startConsole, type TestConsole, type TestMerchant } from '../../test/console.js';

const SECRET = 'svc_test_site_SECRETSECRETSECRETSECRETSECRETSECRETSECRETS';
const NAME = 'Thandi';
const id = '019ca8d7-25ab-777e-8b20-51e25d3ed4e3';

let app: TestConsole;
let merchant: TestMerchant;
let other: TestMerchant;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());
beforeEach(async () => {
  [merchant, other] = [await createMerchant(app), await createMerchant(app)];
});

const path = (rest = '', mode = 'test'): string => `/${merchant.merchantId}/${mode}/developers${rest}`;
const ok = (reply: unknown): ReplyEnvelope => ({ ok: true, reply });
const refuse = (code: ErrorCode, message = code as string): ReplyEnvelope => ({ ok: false, code, message, fields: [] });

const delivery = (changes: Partial<DeliveryWithAttempts> = {}): DeliveryWithAttempts => ({
  id,
  webhookId: id,
  recipient: 'site',
  type: 'payment',
  sessionId: null,
  paymentReference: '1H2J3K4M5N6P7Q8R92',
  paymentStatus: 'Success',
  url: 'https://shop.example/webhooks',
  state: 'exhausted',
  attemptCount: 1,
  createdUTCDate: '2026-03-01T08:00:00.000Z',
  deliveredUTCDate: null,
  nextAttemptUTCDate: null,
  missingKeys: null,
  lastAttempt: null,
  attempts: [
    {
      attemptNumber: 1,
      startedUTCDate: '2026-03-01T08:00:01.000Z',
      durationMs: 12,
      outcome: 'refused',
      statusCode: 500,
      errorClass: null,
      hint: null,
      response: '<b>broken</b>',
    },
  ],
  ...changes,
});

describe('deliveries', () => {
  const requests: ListDeliveries[] = [];
  beforeEach(async () => {
    requests.length = 0;
    await app.respondTo(ListDeliveriesV1, (request) => {
      requests.push(request);
      const { attempts, ...listed } = delivery();
      return ok({ deliveries: [{ ...listed, lastAttempt: attempts[0]! }], hasMore: true, after: id });
    });
    await app.respondTo(GetDeliveryV1, () => ok(delivery()));
    await app.respondTo(GetDeliveryContentV1, () =>
      ok({
        body: `{"type":"payment","customer":{"firstName":"${NAME}","lastName":""}}`,
        headers: [{ name: 'webhook-signature', value: 'v1,abc' }],
      }),
    );
  });

  test('the list has the deliveries of one site, with the filters of the address in the merchant’s own day', async () => {
    const [site, second] = merchant.sites;
    const browser = app.signIn([merchant.grant('support')]);
    const { status, text, html } = await browser.get(path());
    expect(status).toBe(200);
    expect(text).toContain('2026-03-01 10:00 Payment to the webhook of the site 1H2J3K4M5N6P7Q8R92 Failed 500 1');
    expect(html).toContain(`href="${path(`/deliveries/${id}?site=${site}`)}"`);
    expect(html).toContain(`href="${path(`?site=${site}&amp;after=${id}`)}"`);
    await browser.get(path(`?site=${second}&state=gone&day=2026-03-01&after=${id}`));
    await browser.get(path('?state=x&day=x&after=x', 'live'));
    const owner = { merchantId: merchant.merchantId, siteId: site, mode: 'test' };
    expect(requests).toEqual([
      { owner },
      {
        owner: { ...owner, siteId: second },
        state: 'gone',
        after: id,
        from: '2026-02-28T22:00:00.000Z',
        until: '2026-03-01T22:00:00.000Z',
      },
      { owner: { ...owner, mode: 'live' } },
    ]);
  });

  test('a site of another merchant, and a site without a role, does not exist', async () => {
    const [site, second] = merchant.sites;
    const browser = app.signIn([merchant.grant('developer', site), other.grant('owner')]);
    for (const foreign of [second, other.sites[0], 'x', '1e3', 'merchant'])
      for (const page of [
        `?site=${foreign}`,
        `/deliveries/${id}?site=${foreign}`,
        `/keys?site=${foreign}`,
        `/webhook?site=${foreign}`,
      ])
        expect([page, (await browser.get(path(page))).status]).toEqual([page, 404]);
    for (const form of [`/deliveries/${id}/resend`, '/keys', `/keys/${id}/revoke`, '/webhook', '/webhook/test'])
      expect([form, (await browser.post(path(form), { site: String(second), kind: 'api-key' })).status]).toEqual([
        form,
        404,
      ]);
    expect(requests).toEqual([]);
    expect((await browser.get(path(`?site=${site}`))).html).not.toContain('Shop 2');
  });

  test('one delivery shows its attempts and what is sent, without names of customers', async () => {
    const [site] = merchant.sites;
    const asSupport = await app.signIn([merchant.grant('support')]).get(path(`/deliveries/${id}?site=${site}`));
    expect(asSupport.text).toContain('1 2026-03-01 10:00 500 &lt;b>broken&lt;/b> 12 ms');
    expect(asSupport.text).toContain('webhook-signature: v1,abc');
    expect(asSupport.text).toContain('"firstName":"•••"');
    const asDeveloper = await app.signIn([merchant.grant('developer')]).get(path(`/deliveries/${id}?site=${site}`));
    expect(asDeveloper.text).toContain('"firstName":"•••"');
    expect(asSupport.html + asDeveloper.html).not.toContain(NAME);
    expect(asDeveloper.headers['cache-control']).toBe('no-store');
  });

  test('a delivery is sent again at its site and mode; a refusal is shown beside it', async () => {
    const owners: unknown[] = [];
    const people: unknown[] = [];
    await app.respondTo(ResendDeliveryV1, ({ owner, personId }) => {
      owners.push(owner);
      people.push(personId);
      return owners.length === 1 ? ok({ due: true }) : refuse('request.rate-limited', 'Wait a moment.');
    });
    const [, site] = merchant.sites;
    const browser = app.signIn([merchant.grant('support')]);
    const { status, headers } = await browser.post(path(`/deliveries/${id}/resend`, 'live'), { site: String(site) });
    expect([status, headers['location']]).toEqual([303, path(`/deliveries/${id}?site=${site}&done=resent`, 'live')]);
    expect((await browser.get(String(headers['location']))).text).toContain('The webhook is being sent again.');
    const refused = await browser.post(path(`/deliveries/${id}/resend`), { site: String(site) });
    expect([refused.status, refused.text]).toEqual([429, expect.stringContaining('Wait a moment.')]);
    const owner = { merchantId: merchant.merchantId, siteId: site };
    expect(owners).toEqual([
      { ...owner, mode: 'live' },
      { ...owner, mode: 'test' },
    ]);
    expect(people).toEqual([browser.person.personId, browser.person.personId]);
  });

  test('a delivery that does not exist is not found', async () => {
    await app.respondTo(GetDeliveryV1, () => refuse('resource.not-found'));
    expect((await app.signIn([merchant.grant('owner')]).get(path(`/deliveries/${id}`))).status).toBe(404);
  });
});

describe('keys and secrets', () => {
  let credentials: CredentialEntry[];
  const lists: CredentialScope[] = [];
  const created: CreateCredential[] = [];
  const revoked: RevokeCredential[] = [];
  beforeEach(async () => {
    for (const requests of [lists, created, revoked]) requests.length = 0;
    const entry = { credentialId: id, createdUTCDate: '2026-01-01T00:00:00.000Z' };
    credentials = [{ kind: 'api-key', prefix: 'svc_test_site_AAAAAA', ...entry }];
    await app.respondTo(ListCredentialsV1, (request) => {
      lists.push(request);
      return ok({ credentials });
    });
    await app.respondTo(CreateCredentialV1, (request) => {
      if (credentials.some(({ credentialId }) => credentialId === request.credentialId))
        return refuse('resource.conflict', 'This key exists already.');
      created.push(request);
      const { kind, credentialId } = request;
      credentials = [{ kind, credentialId, createdUTCDate: entry.createdUTCDate }, ...credentials];
      return ok({ secret: SECRET });
    });
    await app.respondTo(RevokeCredentialV1, (request) => {
      revoked.push(request);
      return ok({ revoked: true });
    });
  });

  const scope = (changes: object = {}) => ({
    actor: { sessionHash: expect.any(String), browser: expect.any(String), requestId: expect.any(String) },
    merchantId: merchant.merchantId,
    siteId: merchant.sites[0],
    mode: 'test',
    ...changes,
  });

  test('a secret is shown once in the answer to its form; a reload and the list do not have it', async () => {
    const browser = app.signIn([merchant.grant('developer')]);
    const form = { site: String(merchant.sites[0]), kind: 'api-key', key: randomUUID() };
    const shown = await browser.post(path('/keys'), form);
    expect([shown.status, shown.headers['cache-control'], shown.headers['location']]).toEqual([
      200,
      'no-store',
      undefined,
    ]);
    expect(shown.text).toContain(`API key: Copy it now ${SECRET}`);
    const reload = await browser.post(path('/keys'), form);
    expect(reload.status).toBe(422);
    expect(reload.text).toContain('The secret was shown once and cannot be shown again.');
    expect(created).toEqual([{ ...scope(), kind: 'api-key', credentialId: form.key }]);
    for (const { html } of [reload, await browser.get(path('/keys'))]) expect(html).not.toContain(SECRET);
  });

  test('a key is replaced with the chosen overlap', async () => {
    const browser = app.signIn([merchant.grant('owner')]);
    const form = { site: 'merchant', kind: 'api-key', key: randomUUID(), replaces: id, hours: '72' };
    expect((await browser.post(path('/keys', 'live'), form)).text).toContain(SECRET);
    const { siteId: _, ...merchantScope } = scope({ mode: 'live' });
    const replaces = { credentialId: id, overlapHours: 72 };
    expect(created).toEqual([{ ...merchantScope, kind: 'api-key', credentialId: form.key, replaces }]);
    expect(lists.at(-1)).toEqual(merchantScope);
  });

  test.each([
    { kind: 'x' },
    { key: 'x' },
    { replaces: 'x', hours: '24' },
    { replaces: id },
    { replaces: id, hours: '0' },
    { replaces: id, hours: '9999' },
  ])('the form with %j is refused beside the list', async (changes) => {
    const form = { site: String(merchant.sites[0]), kind: 'api-key', key: randomUUID(), ...changes };
    const { status, text } = await app.signIn([merchant.grant('owner')]).post(path('/keys'), form);
    expect([status, text]).toEqual([422, expect.stringContaining('The form was incomplete.')]);
    expect(created).toEqual([]);
  });

  test('the last valid key ends only with a confirmation, another one without', async () => {
    const browser = app.signIn([merchant.grant('developer')]);
    const form = { site: String(merchant.sites[0]), kind: 'api-key' };
    expect((await browser.get(path('/keys'))).text).toContain('This is the last valid one.');
    const warned = await browser.post(path(`/keys/${id}/revoke`), form);
    expect([warned.status, warned.text]).toEqual([422, expect.stringContaining('This is the last valid one.')]);
    expect(revoked).toEqual([]);
    const { status, headers } = await browser.post(path(`/keys/${id}/revoke`), { ...form, last: 'on' });
    expect([status, headers['location']]).toEqual([303, path(`/keys?site=${merchant.sites[0]}&done=revoked`)]);
    credentials = [{ ...credentials[0]!, credentialId: randomUUID() }, ...credentials];
    expect((await browser.post(path(`/keys/${id}/revoke`), form)).status).toBe(303);
    expect(revoked).toEqual([1, 2].map(() => ({ ...scope(), kind: 'api-key', credentialId: id })));
  });

  test('ended keys, and keys that end, say so and an ended one has no form', async () => {
    const later = '2026-03-02T08:00:00.000Z';
    credentials = [
      { ...credentials[0]!, endsUTCDate: later },
      {
        ...credentials[0]!,
        credentialId: randomUUID(),
        endsUTCDate: later,
        revokedUTCDate: '2026-02-01T08:00:00.000Z',
      },
    ];
    const { text, html } = await app.signIn([merchant.grant('developer')]).get(path('/keys'));
    expect(text).toContain('Valid until 2026-03-02 10:00');
    expect(text).toContain('Ended 2026-02-01 10:00');
    expect(html.match(/\/revoke"/g)).toHaveLength(1);
  });

  test('a developer of one site sees neither the keys of the merchant nor those of another site', async () => {
    const [site] = merchant.sites;
    const { status, html } = await app.signIn([merchant.grant('developer', site)]).get(path('/keys'));
    expect([status, html.includes('Shop 2'), html.includes('keys for all sites')]).toEqual([200, false, false]);
    expect(lists).toEqual([scope()]);
  });
});

test.each(['/keys', `/keys/${id}/revoke`, '/webhook'])(
  'the form to %s of a person who has not confirmed for ten minutes leads to the confirmation',
  async (form) => {
    const authenticatedUTCDate = app.clock.later(-600_000).toISOString();
    const browser = app.signIn([merchant.grant('owner')], { authenticatedUTCDate });
    const referer = `http://127.0.0.1:7307${path('/keys')}`;
    const body = { site: String(merchant.sites[0]), kind: 'api-key', key: randomUUID() };
    const { status, headers } = await browser.post(path(form), body, { referer });
    expect([status, headers['location']]).toEqual([303, `/account/confirm?next=${encodeURIComponent(path('/keys'))}`]);
  },
);

describe('the webhook of a site', () => {
  let settings: SiteWebhookSettings;
  beforeEach(async () => {
    settings = { webhookUrl: 'https://shop.example/webhooks', webhookEnabled: true };
    await app.respondTo(ReadSiteWebhookV1, () => ok(settings));
  });

  test('is shown and changed at the chosen site', async () => {
    const changes: object[] = [];
    await app.respondTo(ChangeSiteWebhookV1, (request) => {
      changes.push(request);
      return ok({ webhookUrl: request.webhookUrl, webhookEnabled: request.webhookEnabled });
    });
    const [, site] = merchant.sites;
    const browser = app.signIn([merchant.grant('developer')]);
    const shown = await browser.get(path(`/webhook?site=${site}`));
    expect(shown.html).toContain('value="https://shop.example/webhooks"');
    const form = { site: String(site), url: ' https://new.example/hook ', enabled: 'on' };
    const { status, headers } = await browser.post(path('/webhook'), form);
    expect([status, headers['location']]).toEqual([303, path(`/webhook?site=${site}&done=saved`)]);
    expect((await browser.post(path('/webhook'), { site: String(site), url: '' })).status).toBe(303);
    const actor = expect.objectContaining({ sessionHash: expect.any(String) });
    const request = { actor, merchantId: merchant.merchantId, siteId: site };
    expect(changes).toEqual([
      { ...request, webhookUrl: 'https://new.example/hook', webhookEnabled: true },
      { ...request, webhookUrl: null, webhookEnabled: false },
    ]);
  });

  test('a refused address stays in the form, beside the reason', async () => {
    await app.respondTo(ChangeSiteWebhookV1, () => ({
      ok: false,
      code: 'request.invalid',
      message: 'invalid',
      fields: [{ field: 'webhookUrl', message: 'webhookUrl must be https' }],
    }));
    const form = { site: String(merchant.sites[0]), url: 'http://shop.example/"x', enabled: 'on' };
    const { status, text, html } = await app.signIn([merchant.grant('owner')]).post(path('/webhook'), form);
    expect([status, text]).toEqual([422, expect.stringContaining('webhookUrl must be https')]);
    expect(html).toContain('value="http://shop.example/&quot;x"');
  });

  test('a test is sent to the site in the mode of the page, and its answer is shown', async () => {
    const tests: object[] = [];
    await app.respondTo(SendTestWebhookV1, (request) => {
      tests.push(request);
      return ok({
        ...{ url: settings.webhookUrl!, body: '{"type":"test"}', headers: [{ name: 'webhook-id', value: id }] },
        ...{ durationMs: 12, statusCode: 503, errorClass: null, hint: null, response: '<i>busy</i>' },
      });
    });
    const form = { site: String(merchant.sites[1]), key: id.toUpperCase() };
    const { status, text } = await app.signIn([merchant.grant('developer')]).post(path('/webhook/test', 'live'), form);
    expect(status).toBe(200);
    expect(text).toContain('Your server refused it with 503. https://shop.example/webhooks, 12 ms');
    expect(text).toContain('&lt;i>busy&lt;/i>');
    expect(text).toContain(`webhook-id: ${id}`);
    const owner = { merchantId: merchant.merchantId, siteId: merchant.sites[1], mode: 'live' };
    expect(tests).toEqual([{ owner, id }]);
  });

  test.each<[ErrorCode, number, string]>([
    ['resource.not-found', 404, 'Save an address first.'],
    ['resource.conflict', 409, 'The site has no webhook secret in this mode.'],
    ['request.rate-limited', 429, 'A test was sent a moment ago. Wait 1 seconds.'],
  ])('a test that is refused with %s is explained', async (code, status, text) => {
    await app.respondTo(SendTestWebhookV1, () => refuse(code));
    const page = await app
      .signIn([merchant.grant('owner')])
      .post(path('/webhook/test'), { site: String(merchant.sites[0]) });
    expect([page.status, page.text]).toEqual([status, expect.stringContaining(text)]);
  });
});

test('support sees deliveries only', async () => {
  await app.respondTo(ListDeliveriesV1, () => ok({ deliveries: [], hasMore: false }));
  const { text, html } = await app.signIn([merchant.grant('support')]).get(path());
  expect(text).toContain('No deliveries here.');
  const [tabs] = /class="tabs"[^]*?<\/nav>/.exec(html)!;
  expect([...tabs.matchAll(/href="([^"]+)"/g)].map(([, href]) => href)).toEqual([path()]);
});

test('without a site each page says so', async () => {
  const empty = await createMerchant(app);
  await app.dataSource.query(`DELETE FROM known_sites WHERE merchant_id = $1`, [empty.merchantId]);
  const browser = app.signIn([empty.grant('owner')]);
  for (const page of ['', '/keys', '/webhook'])
    expect((await browser.get(`/${empty.merchantId}/test/developers${page}`)).text).toContain('has no site yet');
});
