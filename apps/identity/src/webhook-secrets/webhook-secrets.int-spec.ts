import { decryptPrivateKey, newSealedKeyPair, type SealedKeyPair } from '@svc/auth';
import { SealingKeyPublishedV1, SigningSecretChangedV1, WebhookSecretChangedV1 } from '@svc/contracts';
import { anEvent, httpClient, type TestService } from '@svc/testing';
import { compactDecrypt } from 'jose';
import { ADMIN_KEY, startIdentity } from '../../test/identity.js';

const SEALING_KEY = Buffer.alloc(32, 1).toString('base64url');

describe('the webhook secrets of a site', () => {
  let identity: TestService;
  let admin: ReturnType<typeof httpClient>;
  let pair: SealedKeyPair;
  let merchantId: number;
  let siteId: number;
  let secretsPath: string;

  beforeAll(async () => {
    identity = await startIdentity();
    admin = httpClient(identity.service, { 'x-admin-key': ADMIN_KEY });
    pair = await newSealedKeyPair('dispatcher-1', SEALING_KEY);
    await identity.deliver(anEvent(SealingKeyPublishedV1, 'dispatcher-1', 1, { publicJwk: pair.publicJwk }));
  });
  afterAll(() => identity.stop());
  beforeEach(async () => {
    ({ merchantId } = (await admin('POST', '/admin/v1/merchants', { name: 'Merchant' })).body);
    const sites = `/admin/v1/merchants/${merchantId}/sites`;
    ({ siteId } = (await admin('POST', sites, { name: 'Shop', siteReference: 'SHOP' })).body);
    secretsPath = `${sites}/${siteId}/webhook-secrets`;
  });

  /** Returns the events of this merchant, without the events of the two secrets that were created with the site. */
  const signingSecretEvents = async () =>
    (await identity.published(SigningSecretChangedV1))
      .filter(({ payload }) => payload.merchantId === merchantId)
      .slice(2);
  const webhookSecretEvents = async () =>
    (await identity.published(WebhookSecretChangedV1))
      .filter(({ payload }) => payload.merchantId === merchantId)
      .slice(2);
  const listNewSecrets = async () => (await admin('GET', secretsPath)).body.secrets.slice(0, -2);

  it('are created in test mode by default, returned only once, and published encrypted', async () => {
    const response = await admin('POST', secretsPath);
    expect(response).toMatchObject({ status: 201, headers: { 'cache-control': 'no-store' } });
    const { secretId, webhookSecret } = response.body;
    expect(response.body).toEqual({ secretId, webhookSecret, mode: 'test' });
    expect(Buffer.from(webhookSecret.replace(/^whsec_/, ''), 'base64')).toHaveLength(32);

    const [event, ...furtherEvents] = await signingSecretEvents();
    expect(furtherEvents).toEqual([]);
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
    const privateKey = decryptPrivateKey('dispatcher-1', pair.sealedPrivateKey, SEALING_KEY);
    const { plaintext } = await compactDecrypt(sealed, privateKey);
    expect(new TextDecoder().decode(plaintext)).toBe(webhookSecret);

    const createdUTCDate = identity.clock.nowISO();
    expect(await listNewSecrets()).toEqual([{ secretId, mode: 'test', revoked: false, createdUTCDate }]);
  });

  it('can be valid at the same time, and are revoked and published separately', async () => {
    const first = (await admin('POST', secretsPath, { mode: 'live' })).body;
    const second = (await admin('POST', secretsPath, { mode: 'live' })).body;
    for (let i = 0; i < 2; i++) {
      const response = await admin('DELETE', `${secretsPath}/${first.secretId}`);
      expect([response.status, response.body]).toEqual([204, undefined]);
    }
    expect(await listNewSecrets()).toMatchObject([
      { secretId: second.secretId, mode: 'live', revoked: false },
      { secretId: first.secretId, revoked: true, revokedUTCDate: identity.clock.nowISO() },
    ]);
    const events = await signingSecretEvents();
    expect(
      events.map(({ payload, aggregateVersion }) => [payload.secretId, aggregateVersion, payload.revoked]),
    ).toEqual([
      [first.secretId, 1, false],
      [second.secretId, 1, false],
      [first.secretId, 2, true],
    ]);
    expect(events[2]!.payload.sealed).toBe(events[0]!.payload.sealed);
    expect(
      (await webhookSecretEvents()).map(({ payload, aggregateVersion }) => ({ ...payload, aggregateVersion })),
    ).toEqual(
      [first, second, first].map(({ secretId }, i) => ({
        secretId,
        mode: 'live',
        merchantId,
        siteId,
        revoked: i === 2,
        aggregateVersion: i === 2 ? 2 : 1,
      })),
    );
  });

  it('are limited to five valid secrets in a mode, even if more secrets are requested concurrently', async () => {
    const responses = await Promise.all(Array.from({ length: 7 }, () => admin('POST', secretsPath, { mode: 'test' })));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 201, 409, 409, 409]);
    expect(await admin('POST', secretsPath, { mode: 'live' })).toMatchObject({ status: 201 });
  });

  it('are not created by a request with an unknown mode', async () => {
    const response = await admin('POST', secretsPath, { mode: 'both' });
    expect(response).toMatchObject({ status: 400, body: { errors: [{ field: 'mode' }] } });
    expect(await signingSecretEvents()).toEqual([]);
  });

  it('cannot be created, listed or revoked on the path of another merchant or site', async () => {
    const { secretId } = (await admin('POST', secretsPath)).body;
    const other = (await admin('POST', '/admin/v1/merchants', { name: 'Other' })).body;
    const otherMerchantPath = `/admin/v1/merchants/${other.merchantId}/sites/${siteId}/webhook-secrets`;
    const unknownSitePath = `/admin/v1/merchants/${merchantId}/sites/1/webhook-secrets`;
    for (const path of [otherMerchantPath, unknownSitePath, '/admin/v1/merchants/1/sites/1/webhook-secrets']) {
      expect(await admin('POST', path)).toMatchObject({ status: 404 });
      expect(await admin('GET', path)).toMatchObject({ status: 404 });
      expect(await admin('DELETE', `${path}/${secretId}`)).toMatchObject({ status: 404 });
    }
    expect(await admin('DELETE', `${secretsPath}/00000000-0000-7000-8000-000000000000`)).toMatchObject({ status: 404 });
    expect(await listNewSecrets()).toMatchObject([{ secretId, revoked: false }]);
  });
});
