import { newSealedKeyPair } from '@svc/auth';
import { type PublicKeyJwk, SealingKeyPublishedV1, SigningSecretChangedV1, SiteChangedV1 } from '@svc/contracts';
import { DeadLetters } from '@svc/messaging';
import { anEvent, httpClient, type TestService } from '@svc/testing';
import { decodeProtectedHeader } from 'jose';
import { ADMIN_KEY, startIdentityWithoutSealingKey } from '../../test/identity.js';

const SEALING_KEY = Buffer.alloc(32, 1).toString('base64url');

describe('the sealing key', () => {
  let test: TestService;
  let admin: ReturnType<typeof httpClient>;
  let merchant: string;

  beforeEach(async () => {
    test = await startIdentityWithoutSealingKey();
    admin = httpClient(test.service, { 'x-admin-key': ADMIN_KEY });
    const { merchantId } = (await admin('POST', '/admin/v1/merchants', { name: 'Merchant' })).body;
    merchant = `/admin/v1/merchants/${merchantId}`;
  });
  afterEach(() => test.stop());

  const publicJwk = async (kid: string) => (await newSealedKeyPair(kid, SEALING_KEY)).publicJwk;
  const publish = async (jwk: PublicKeyJwk, version: number, occurredAt = '2026-03-01T10:00:00.000Z') =>
    test.deliver({ ...anEvent(SealingKeyPublishedV1, 'sealing-key', version, { publicJwk: jwk }), occurredAt });
  const sealsTo = async () => {
    await admin('POST', `${merchant}/keys`, { mode: 'test' });
    return decodeProtectedHeader((await test.published(SigningSecretChangedV1)).at(-1)!.payload.sealed).kid;
  };

  it('is required before keys or sites with secrets can be created; until then nothing is stored', async () => {
    const before = (await admin('GET', '/admin/v1/audit-log')).body.entries;
    for (const [path, body] of [
      [`${merchant}/keys`, { mode: 'test' }],
      [`${merchant}/sites`, { name: 'Shop', siteReference: 'SHOP' }],
    ] as const) {
      const answer = await admin('POST', path, body);
      expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' }, body: { status: 503 } });
    }
    expect((await admin('GET', `${merchant}/keys`)).body.keys).toEqual([]);
    expect((await admin('GET', merchant)).body.sites).toEqual([]);
    expect(await test.published(SiteChangedV1)).toEqual([]);
    expect(await test.published(SigningSecretChangedV1)).toEqual([]);
    expect((await admin('GET', '/admin/v1/audit-log')).body.entries).toEqual(before);

    await publish(await publicJwk('first'), 1);
    const site = await admin('POST', `${merchant}/sites`, { name: 'Shop', siteReference: 'SHOP' });
    expect(site).toMatchObject({ status: 201 });
    const keys = `${merchant}/sites/${site.body.siteId}/keys`;
    expect(await admin('POST', keys, { mode: 'test' })).toMatchObject({ status: 201 });
  });

  it('is the newest one, in any order and number of events', async () => {
    const [first, second, third] = [await publicJwk('first'), await publicJwk('second'), await publicJwk('third')];
    await publish(second, 2);
    expect(await sealsTo()).toBe('second');
    await publish(first, 1);
    expect(await sealsTo()).toBe('second');
    await publish(third, 3);
    await publish(second, 2);
    expect(await sealsTo()).toBe('third');
  });

  it('is the later of two first versions with different names, and the first of two of the same time', async () => {
    await publish(await publicJwk('later'), 1, '2026-03-01T11:00:00.000Z');
    await publish(await publicJwk('earlier'), 1, '2026-03-01T10:00:00.000Z');
    await publish(await publicJwk('of the same moment'), 1, '2026-03-01T11:00:00.000Z');
    expect(await sealsTo()).toBe('later');
  });

  it('is not replaced by an unusable one, which becomes a dead letter', async () => {
    const usable = await publicJwk('usable');
    await publish(usable, 1);
    await publish({ ...usable, x: usable.y, kid: 'not on the curve' }, 2);
    expect(await sealsTo()).toBe('usable');
    expect((await test.service.app.get(DeadLetters).list()).deadLetters).toMatchObject([
      { type: 'sealing-key.published.v1' },
    ]);
  });
});
