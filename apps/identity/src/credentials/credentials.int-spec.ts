import { randomUUID } from 'node:crypto';
import {
  ApiKeyChangedV1,
  ChangeSiteWebhookV1,
  CONFIRMATION_MS,
  CreateCredentialV1,
  type CredentialKind,
  ListCredentialsV1,
  type Mode,
  ReadSiteWebhookV1,
  RevokeCredentialV1,
  type Role,
  SigningSecretChangedV1,
} from '@svc/contracts';
import { actorOf, PeopleUnderTest, type TestPerson } from '../../test/people.js';
import { EndReplacedCredentials } from './end-replaced-credentials.js';

const HOUR_MS = 3_600_000;

let people: PeopleUnderTest;
let merchantId: number;
let siteId: number;
let developer: TestPerson;
beforeAll(async () => {
  people = await PeopleUnderTest.start();
});
afterAll(() => people.stop());
beforeEach(async () => {
  merchantId = await people.newMerchant();
  siteId = await people.newSite(merchantId);
  developer = await people.newPerson(merchantId, 'developer');
});

interface Changes {
  person?: TestPerson;
  merchantId?: number;
  siteId?: number | undefined;
  mode?: Mode;
  kind?: CredentialKind;
}
/** The site of the developer in test mode, with changes. */
const scope = ({ person = developer, ...changes }: Changes = {}) => {
  const { siteId: site, ...rest } = { merchantId, siteId, mode: 'test' as Mode, ...changes };
  return { actor: actorOf(person), ...rest, ...(site === undefined ? {} : { siteId: site }) };
};
const list = async (changes: Changes = {}) => (await people.send(ListCredentialsV1, scope(changes))).credentials;
const create = async (changes: Changes = {}, replaces?: { credentialId: string; overlapHours: number }) => {
  const credentialId = randomUUID();
  const request = { kind: 'api-key' as const, ...scope(changes), credentialId, ...(replaces ? { replaces } : {}) };
  return { credentialId, request, ...(await people.send(CreateCredentialV1, request)) };
};
const endDue = () => people.identity.service.app.get(EndReplacedCredentials).runStep();

describe.each([
  ['api-key', /^svc_test_site_/],
  ['webhook-secret', /^whsec_/],
] as const)('%s', (kind, format) => {
  test('is created once, listed without its secret, and replaced with an overlap, after which the old one ends', async () => {
    const [first] = kind === 'api-key' ? [await create({ kind })] : await list();
    const before = (await list()).filter((entry) => entry.kind === kind);
    expect(before.map(({ credentialId }) => credentialId)).toEqual([first.credentialId]);

    const second = await create({ kind }, { credentialId: first.credentialId, overlapHours: 24 });
    expect(second.secret).toMatch(format);
    const endsUTCDate = people.identity.clock.later(24 * HOUR_MS).toISOString();
    const now = people.identity.clock.nowISO();
    const after = (await list()).filter((entry) => entry.kind === kind);
    expect(after).toEqual([
      {
        kind,
        credentialId: second.credentialId,
        createdUTCDate: now,
        ...(kind === 'api-key' ? { prefix: second.secret.slice(0, 'svc_test_site_123456'.length) } : {}),
      },
      { ...before[0], endsUTCDate },
    ]);
    expect(JSON.stringify(after)).not.toContain(second.secret);
    const adminPath = `/admin/v1/merchants/${merchantId}/sites/${siteId}/${kind === 'api-key' ? 'keys' : 'webhook-secrets'}`;
    const [listed] = Object.values((await people.admin('GET', adminPath)).body) as [{ endsUTCDate?: string }[]];
    expect(listed.map((entry) => entry.endsUTCDate)).toContain(endsUTCDate);

    people.identity.clock.advance(24 * HOUR_MS - 1);
    await endDue();
    const reader = await people.signIn(developer);
    const valid = async () =>
      (await list({ person: reader }))
        .filter((entry) => entry.kind === kind && entry.revokedUTCDate === undefined)
        .map(({ credentialId }) => credentialId);
    expect(await valid()).toEqual([second.credentialId, first.credentialId]);
    people.identity.clock.advance(1 + 30_000);
    await endDue();
    expect(await valid()).toEqual([second.credentialId]);
    const events = await people.identity.published(SigningSecretChangedV1);
    expect(events.findLast(({ aggregateId }) => aggregateId === first.credentialId)?.payload.revoked).toBe(true);
    expect(events.findLast(({ aggregateId }) => aggregateId === second.credentialId)?.payload.revoked).toBe(false);
  });

  test('a repeat of the form creates nothing and shows nothing', async () => {
    const { request, credentialId } = await create({ kind });
    const count = (await list()).length;
    expect(await people.refusal(CreateCredentialV1, request)).toMatchObject({ code: 'resource.conflict' });
    const replaced = { ...request, replaces: { credentialId, overlapHours: 1 } };
    expect(await people.refusal(CreateCredentialV1, replaced)).toMatchObject({ code: 'resource.conflict' });
    const after = await list();
    expect(after).toHaveLength(count);
    expect(after.find((entry) => entry.credentialId === credentialId)?.endsUTCDate).toBeUndefined();
  });

  test('is revoked once, and the audit log has the person', async () => {
    const { credentialId } = await create({ kind });
    await people.send(RevokeCredentialV1, { kind, ...scope(), credentialId });
    await people.send(RevokeCredentialV1, { kind, ...scope(), credentialId });
    const entries = (await people.readAuditLog(merchantId)).filter((entry) => entry['credentialId'] === credentialId);
    expect(entries.map(({ action, actor, siteId: at }) => [action, actor, at])).toEqual([
      [`${kind}.created`, `person:${developer.personId}`, siteId],
      [`${kind}.revoked`, `person:${developer.personId}`, siteId],
    ]);
  });

  test('of another site, mode, merchant or an ended one is neither replaced nor revoked', async () => {
    const otherSite = await people.newSite(merchantId);
    const { credentialId } = await create({ kind });
    for (const changes of [{ siteId: otherSite }, { mode: 'live' as Mode }]) {
      const revoke = { kind, ...scope(changes), credentialId };
      expect(await people.refusal(RevokeCredentialV1, revoke)).toMatchObject({ code: 'resource.not-found' });
      const replace = { ...revoke, credentialId: randomUUID(), replaces: { credentialId, overlapHours: 1 } };
      expect(await people.refusal(CreateCredentialV1, replace)).toMatchObject({ code: 'resource.not-found' });
    }
    const stranger = await people.newPerson(await people.newMerchant(), 'owner');
    const foreign = { kind, ...scope({ person: stranger }), credentialId };
    expect(await people.refusal(RevokeCredentialV1, foreign)).toMatchObject({ code: 'credentials.forbidden' });
    expect((await list()).find((entry) => entry.credentialId === credentialId)).toEqual(
      expect.not.objectContaining({ endsUTCDate: expect.anything(), revokedUTCDate: expect.anything() }),
    );
    await people.send(RevokeCredentialV1, { kind, ...scope(), credentialId });
    const replace = { kind, ...scope(), credentialId: randomUUID(), replaces: { credentialId, overlapHours: 1 } };
    expect(await people.refusal(CreateCredentialV1, replace)).toMatchObject({ code: 'resource.not-found' });
  });
});

test('a second replacement lets the old key end no later than the first', async () => {
  const first = await create();
  await create({}, { credentialId: first.credentialId, overlapHours: 1 });
  const endsUTCDate = people.identity.clock.later(HOUR_MS).toISOString();
  await create({}, { credentialId: first.credentialId, overlapHours: 168 });
  expect((await list()).find(({ credentialId }) => credentialId === first.credentialId)?.endsUTCDate).toBe(endsUTCDate);
});

test('another overlap than the offered ones is refused', async () => {
  const { credentialId } = await create();
  for (const overlapHours of [0, 2, -1, 1.5, 10_000]) {
    const request = {
      kind: 'api-key' as const,
      ...scope(),
      credentialId: randomUUID(),
      replaces: { credentialId, overlapHours },
    };
    expect(await people.refusal(CreateCredentialV1, request)).toMatchObject({ code: 'request.invalid' });
  }
});

test('keys of the merchant are not in the list of a site, and only a site has webhook secrets', async () => {
  const { credentialId, secret } = await create({ siteId: undefined });
  expect(secret).toMatch(/^svc_test_merchant_/);
  expect((await list()).map((entry) => entry.credentialId)).not.toContain(credentialId);
  expect((await list({ siteId: undefined })).map((entry) => entry.credentialId)).toEqual([credentialId]);
  expect(await list({ siteId: undefined, mode: 'live' })).toEqual([]);
  const published = await people.identity.published(ApiKeyChangedV1);
  expect(published.at(-1)?.payload).toMatchObject({ keyId: credentialId, kind: 'merchant', revoked: false });
  const secretOfMerchant = {
    kind: 'webhook-secret' as const,
    ...scope({ siteId: undefined }),
    credentialId: randomUUID(),
  };
  expect(await people.refusal(CreateCredentialV1, secretOfMerchant)).toMatchObject({ code: 'resource.not-found' });
});

test.each<[Role, boolean]>([
  ['owner', true],
  ['finance', false],
  ['support', false],
  ['developer', true],
])('%s: allowed to read and to manage keys and the webhook: %s', async (role, isAllowed) => {
  const person = await people.newPerson(merchantId, role, siteId);
  const key = { kind: 'api-key' as const, ...scope({ person }), credentialId: randomUUID() };
  const site = { actor: actorOf(person), merchantId, siteId };
  const webhook = { ...site, webhookUrl: null, webhookEnabled: false };
  const requests = [
    () => people.send(ListCredentialsV1, scope({ person })),
    () => people.send(CreateCredentialV1, key),
    () => people.send(RevokeCredentialV1, key),
    () => people.send(ReadSiteWebhookV1, site),
    () => people.send(ChangeSiteWebhookV1, webhook),
  ];
  for (const request of requests) {
    const code = await request().then(
      () => 'allowed',
      (error: unknown) => (error as { code: string }).code,
    );
    expect(code).toBe(isAllowed ? 'allowed' : 'credentials.forbidden');
  }
});

test('a role for one site gives neither keys of the merchant nor of another site', async () => {
  const person = await people.newPerson(merchantId, 'developer', siteId);
  const otherSite = await people.newSite(merchantId);
  for (const other of [undefined, otherSite]) {
    const request = scope({ person, siteId: other });
    expect(await people.refusal(ListCredentialsV1, request)).toMatchObject({ code: 'credentials.forbidden' });
    const key = { kind: 'api-key' as const, ...request, credentialId: randomUUID() };
    expect(await people.refusal(CreateCredentialV1, key)).toMatchObject({ code: 'credentials.forbidden' });
    expect(await people.refusal(RevokeCredentialV1, key)).toMatchObject({ code: 'credentials.forbidden' });
  }
  const site = { actor: actorOf(person), merchantId, siteId: otherSite };
  expect(await people.refusal(ReadSiteWebhookV1, site)).toMatchObject({ code: 'credentials.forbidden' });
  const change = { ...site, webhookUrl: null, webhookEnabled: false };
  expect(await people.refusal(ChangeSiteWebhookV1, change)).toMatchObject({ code: 'credentials.forbidden' });
});

test('changes need a recent sign-in, reading does not', async () => {
  const { credentialId } = await create();
  people.identity.clock.advance(CONFIRMATION_MS);
  const key = { kind: 'api-key' as const, ...scope(), credentialId };
  const webhook = { actor: actorOf(developer), merchantId, siteId, webhookUrl: null, webhookEnabled: false };
  for (const refused of [
    people.refusal(CreateCredentialV1, { ...key, credentialId: randomUUID() }),
    people.refusal(RevokeCredentialV1, key),
    people.refusal(ChangeSiteWebhookV1, webhook),
  ])
    expect(await refused).toMatchObject({ code: 'authentication.required' });
  expect((await list()).length).toBeGreaterThan(0);
});

describe('the webhook of a site', () => {
  const site = () => ({ actor: actorOf(developer), merchantId, siteId });

  test('is changed with the checks of the administration, and the audit log has the person', async () => {
    expect(await people.send(ReadSiteWebhookV1, site())).toEqual({ webhookUrl: null, webhookEnabled: false });
    const settings = { webhookUrl: 'https://shop.example/webhooks', webhookEnabled: true };
    expect(await people.send(ChangeSiteWebhookV1, { ...site(), ...settings })).toEqual(settings);
    expect(await people.send(ReadSiteWebhookV1, site())).toEqual(settings);
    const changes = (await people.readAuditLog(merchantId)).filter(({ action }) => action === 'site.changed');
    expect(changes).toMatchObject([{ actor: `person:${developer.personId}`, siteId, after: settings }]);
  });

  test.each([
    ['https://10.0.0.1/hook', true],
    ['ftp://shop.example/hook', true],
    ['', false],
    [`https://shop.example/${'x'.repeat(2_048)}`, true],
    [null, true],
  ])('%s, enabled: %s is refused', async (webhookUrl, webhookEnabled) => {
    const refusal = await people.refusal(ChangeSiteWebhookV1, { ...site(), webhookUrl, webhookEnabled });
    expect(refusal).toMatchObject({ code: 'request.invalid', fields: [{ field: 'webhookUrl' }] });
  });

  test('of another merchant does not exist', async () => {
    const foreign = await people.newSite(await people.newMerchant());
    expect(await people.refusal(ReadSiteWebhookV1, { ...site(), siteId: foreign })).toMatchObject({
      code: 'resource.not-found',
    });
    const change = { ...site(), siteId: foreign, webhookUrl: null, webhookEnabled: false };
    expect(await people.refusal(ChangeSiteWebhookV1, change)).toMatchObject({ code: 'resource.not-found' });
  });
});
