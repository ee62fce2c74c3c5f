import { newSealedKeyPair } from '@svc/auth';
import { type PublicKeyJwk, SealingKeyPublishedV1, SigningSecretChangedV1, SiteChangedV1 } from '@svc/contracts';
import { DeadLetters } from '@svc/messaging';
import { anEvent, httpClient, type TestService } from '@svc/testing';
import { decodeProtectedHeader } from 'jose';
import { ADMIN_KEY, startIdentityWithoutSealingKey } from '../../test/identity.js';

const SEALING_KEY = Buffer.alloc(32, 1).toString('base64url');

describe('the encryption key of webhook-dispatcher', () => {
  let identity: TestService;
  let admin: ReturnType<typeof httpClient>;
  let merchantPath: string;

  beforeEach(async () => {
    identity = await startIdentityWithoutSealingKey();
    admin = httpClient(identity.service, { 'x-admin-key': ADMIN_KEY });
    const { merchantId } = (await admin('POST', '/admin/v1/merchants', { name: 'Merchant' })).body;
    merchantPath = `/admin/v1/merchants/${merchantId}`;
  });
  afterEach(() => identity.stop());

  const createPublicJwk = async (kid: string) => (await newSealedKeyPair(kid, SEALING_KEY)).publicJwk;
  const publishKey = async (jwk: PublicKeyJwk, version: number, occurredAt = '2026-03-01T10:00:00.000Z') =>
    identity.deliver({ ...anEvent(SealingKeyPublishedV1, 'sealing-key', version, { publicJwk: jwk }), occurredAt });
  const createKeyAndReadKid = async () => {
    await admin('POST', `${merchantPath}/keys`, { mode: 'test' });
    return decodeProtectedHeader((await identity.published(SigningSecretChangedV1)).at(-1)!.payload.sealed).kid;
  };

  it('is required to create keys and sites: before it is published, such requests cause a 503 and store nothing', async () => {
    const before = (await admin('GET', '/admin/v1/audit-log')).body.entries;
    for (const [path, body] of [
      [`${merchantPath}/keys`, { mode: 'test' }],
      [`${merchantPath}/sites`, { name: 'Shop', siteReference: 'SHOP' }],
    ] as const) {
      const response = await admin('POST', path, body);
      expect(response).toMatchObject({ status: 503, headers: { 'retry-after': '1' }, body: { status: 503 } });
    }
    expect((await admin('GET', `${merchantPath}/keys`)).body.keys).toEqual([]);
    expect((await admin('GET', merchantPath)).body.sites).toEqual([]);
    expect(await identity.published(SiteChangedV1)).toEqual([]);
    expect(await identity.published(SigningSecretChangedV1)).toEqual([]);
    expect((await admin('GET', '/admin/v1/audit-log')).body.entries).toEqual(before);

    await publishKey(await createPublicJwk('first'), 1);
    const site = await admin('POST', `${merchantPath}/sites`, { name: 'Shop', siteReference: 'SHOP' });
    expect(site).toMatchObject({ status: 201 });
    const siteKeysPath = `${merchantPath}/sites/${site.body.siteId}/keys`;
    expect(await admin('POST', siteKeysPath, { mode: 'test' })).toMatchObject({ status: 201 });
  });

  it('is the key with the highest version, even if events are repeated or reordered', async () => {
    const [firstKey, secondKey, thirdKey] = [
      await createPublicJwk('first'),
      await createPublicJwk('second'),
      await createPublicJwk('third'),
    ];
    await publishKey(secondKey, 2);
    expect(await createKeyAndReadKid()).toBe('second');
    await publishKey(firstKey, 1);
    expect(await createKeyAndReadKid()).toBe('second');
    await publishKey(thirdKey, 3);
    await publishKey(secondKey, 2);
    expect(await createKeyAndReadKid()).toBe('third');
  });

  it('is the key with the latest time among keys of one version, and the key received first if their times are equal', async () => {
    await publishKey(await createPublicJwk('later'), 1, '2026-03-01T11:00:00.000Z');
    await publishKey(await createPublicJwk('earlier'), 1, '2026-03-01T10:00:00.000Z');
    await publishKey(await createPublicJwk('same-time-as-later'), 1, '2026-03-01T11:00:00.000Z');
    expect(await createKeyAndReadKid()).toBe('later');
  });

  it('is not replaced by an unusable key, and the event of the unusable key becomes a dead letter', async () => {
    const usableKey = await createPublicJwk('usable');
    await publishKey(usableKey, 1);
    await publishKey({ ...usableKey, x: usableKey.y, kid: 'not on the curve' }, 2);
    expect(await createKeyAndReadKid()).toBe('usable');
    expect((await identity.service.app.get(DeadLetters).list()).deadLetters).toMatchObject([
      { type: 'sealing-key.published.v1' },
    ]);
  });
});
