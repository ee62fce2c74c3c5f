import { newSealedKeyPair, openPrivateKey, type SealedKeyPair } from '@svc/auth';
import { SealingKeyPublishedV1, SigningSecretChangedV1, WebhookSecretChangedV1 } from '@svc/contracts';
import { anEvent, httpClient, type TestService } from '@svc/testing';
import { compactDecrypt } from 'jose';
import { ADMIN_KEY, startIdentity } from '../../test/identity.js';

const SEALING_KEY = Buffer.alloc(32, 1).toString('base64url');

describe('webhook secrets', () => {
  let test: TestService;
  let admin: ReturnType<typeof httpClient>;
  let pair: SealedKeyPair;
  let merchantId: number;
  let siteId: number;
  let secrets: string;

  beforeAll(async () => {
    test = await startIdentity();
    admin = httpClient(test.service, { 'x-admin-key': ADMIN_KEY });
    pair = await newSealedKeyPair('dispatcher-1', SEALING_KEY);
    await test.deliver(anEvent(SealingKeyPublishedV1, 'dispatcher-1', 1, { publicJwk: pair.publicJwk }));
  });
  afterAll(() => test.stop());
  beforeEach(async () => {
    ({ merchantId } = (await admin('POST', '/admin/v1/merchants', { name: 'Merchant' })).body);
    const sites = `/admin/v1/merchants/${merchantId}/sites`;
    ({ siteId } = (await admin('POST', sites, { name: 'Shop', siteReference: 'SHOP' })).body);
    secrets = `${sites}/${siteId}/webhook-secrets`;
  });

  /** After the two secrets that were created with the site. */
  const told = async () =>
    (await test.published(SigningSecretChangedV1)).filter(({ payload }) => payload.merchantId === merchantId).slice(2);
  const toldAll = async () =>
    (await test.published(WebhookSecretChangedV1)).filter(({ payload }) => payload.merchantId === merchantId).slice(2);
  const listed = async () => (await admin('GET', secrets)).body.secrets.slice(0, -2);

  it('creates a secret, of test mode by default, shows it once and publishes it encrypted', async () => {
    const answer = await admin('POST', secrets);
    expect(answer).toMatchObject({ status: 201, headers: { 'cache-control': 'no-store' } });
    const { secretId, webhookSecret } = answer.body;
    expect(answer.body).toEqual({ secretId, webhookSecret, mode: 'test' });
    expect(Buffer.from(webhookSecret.replace(/^whsec_/, ''), 'base64')).toHaveLength(32);

    const [event, ...more] = await told();
    expect(more).toEqual([]);
    const { sealed } = event!.payload;
    expect(event).toMatchObject({ aggregateId: secretId, aggregateVersion: 1 });
    expect(event!.payload).toEqual({
      secretId,
      purpose: 'webhook-secret',
      mode: 'test',
      merchantId,
      siteId,
      sealed,
      primary: false,
      revoked: false,
    });
    const privateKey = openPrivateKey('dispatcher-1', pair.sealedPrivateKey, SEALING_KEY);
    const { plaintext } = await compactDecrypt(sealed, privateKey);
    expect(new TextDecoder().decode(plaintext)).toBe(webhookSecret);

    const createdUTCDate = test.clock.nowISO();
    expect(await listed()).toEqual([{ secretId, mode: 'test', revoked: false, createdUTCDate }]);
  });

  it('has several secrets at a time and revokes each separately, once', async () => {
    const first = (await admin('POST', secrets, { mode: 'live' })).body;
    const second = (await admin('POST', secrets, { mode: 'live' })).body;
    for (let i = 0; i < 2; i++) {
      const answer = await admin('DELETE', `${secrets}/${first.secretId}`);
      expect([answer.status, answer.body]).toEqual([204, undefined]);
    }
    expect(await listed()).toMatchObject([
      { secretId: second.secretId, mode: 'live', revoked: false },
      { secretId: first.secretId, revoked: true, revokedUTCDate: test.clock.nowISO() },
    ]);
    const events = await told();
    expect(
      events.map(({ payload, aggregateVersion }) => [payload.secretId, aggregateVersion, payload.revoked]),
    ).toEqual([
      [first.secretId, 1, false],
      [second.secretId, 1, false],
      [first.secretId, 2, true],
    ]);
    expect(events[2]!.payload.sealed).toBe(events[0]!.payload.sealed);
    expect((await toldAll()).map(({ payload, aggregateVersion }) => ({ ...payload, aggregateVersion }))).toEqual(
      [first, second, first].map(({ secretId }, i) => ({
        ...{ secretId, mode: 'live', merchantId, siteId },
        revoked: i === 2,
        aggregateVersion: i === 2 ? 2 : 1,
      })),
    );
  });

  it('has at most five valid ones of a site and mode, also when they are created concurrently', async () => {
    const answers = await Promise.all(Array.from({ length: 7 }, () => admin('POST', secrets, { mode: 'test' })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 201, 409, 409, 409]);
    expect(await admin('POST', secrets, { mode: 'live' })).toMatchObject({ status: 201 });
  });

  it('rejects an unknown mode', async () => {
    const answer = await admin('POST', secrets, { mode: 'both' });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ field: 'mode' }] } });
    expect(await told()).toEqual([]);
  });

  it('does not find a secret of another site', async () => {
    const { secretId } = (await admin('POST', secrets)).body;
    const other = (await admin('POST', '/admin/v1/merchants', { name: 'Other' })).body;
    const stolen = `/admin/v1/merchants/${other.merchantId}/sites/${siteId}/webhook-secrets`;
    const unknown = `/admin/v1/merchants/${merchantId}/sites/1/webhook-secrets`;
    for (const path of [stolen, unknown, '/admin/v1/merchants/1/sites/1/webhook-secrets']) {
      expect(await admin('POST', path)).toMatchObject({ status: 404 });
      expect(await admin('GET', path)).toMatchObject({ status: 404 });
      expect(await admin('DELETE', `${path}/${secretId}`)).toMatchObject({ status: 404 });
    }
    expect(await admin('DELETE', `${secrets}/00000000-0000-7000-8000-000000000000`)).toMatchObject({ status: 404 });
    expect(await listed()).toMatchObject([{ secretId, revoked: false }]);
  });
});
