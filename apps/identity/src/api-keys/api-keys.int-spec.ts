import { hashApiKey, newSealedKeyPair, openPrivateKey, type SealedKeyPair } from '@svc/auth';
import { ApiKeyChangedV1, SealingKeyPublishedV1, SigningSecretChangedV1 } from '@svc/contracts';
import { anEvent, httpClient, type TestService } from '@svc/testing';
import { compactDecrypt } from 'jose';
import { ADMIN_KEY, startIdentity } from '../../test/identity.js';

const SEALING_KEY = Buffer.alloc(32, 1).toString('base64url');
const NOBODYS = '00000000-0000-7000-8000-000000000000';

describe('API keys', () => {
  let test: TestService;
  let admin: ReturnType<typeof httpClient>;
  let pair: SealedKeyPair;
  let merchantId: number;
  let siteId: number;
  let ofMerchant: string;
  let ofSite: string;

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
    ofMerchant = `/admin/v1/merchants/${merchantId}/keys`;
    ofSite = `${sites}/${siteId}/keys`;
  });

  const create = async (path: string, mode = 'test') => (await admin('POST', path, { mode })).body;
  const list = async (path: string) => (await admin('GET', path)).body.keys;
  const primaries = async (path: string) =>
    (await list(path))
      .filter(({ primary }: { primary: boolean }) => primary)
      .map(({ keyId }: { keyId: string }) => keyId);
  const told = async () => ({
    keys: (await test.published(ApiKeyChangedV1)).filter(({ payload }) => payload.merchantId === merchantId),
    secrets: (await test.published(SigningSecretChangedV1)).filter(
      ({ payload }) => payload.merchantId === merchantId && payload.purpose === 'api-key',
    ),
  });
  const open = async (sealed: string) => {
    const { plaintext } = await compactDecrypt(
      sealed,
      openPrivateKey('dispatcher-1', pair.sealedPrivateKey, SEALING_KEY),
    );
    return new TextDecoder().decode(plaintext);
  };

  it.each(['merchant', 'site'] as const)(
    'makes a %s key, shows it once and publishes hash and sealed form',
    async (kind) => {
      const path = kind === 'merchant' ? ofMerchant : ofSite;
      const answer = await admin('POST', path, { mode: 'live' });
      expect(answer).toMatchObject({ status: 201, headers: { 'cache-control': 'no-store' } });
      const { keyId, apiKey } = answer.body;
      expect(answer.body).toEqual({ keyId, apiKey, kind, mode: 'live', primary: true });
      expect(apiKey).toMatch(new RegExp(`^svc_live_${kind}_[A-Za-z0-9_-]{43}$`));

      const owner = kind === 'site' ? { merchantId, siteId } : { merchantId };
      const { keys, secrets } = await told();
      expect(keys).toMatchObject([{ aggregateId: keyId, aggregateVersion: 1 }]);
      expect(keys[0]!.payload).toEqual({
        keyId,
        kind,
        mode: 'live',
        ...owner,
        hash: hashApiKey(apiKey),
        revoked: false,
      });
      const sealed = secrets[0]!.payload.sealed;
      expect(secrets).toMatchObject([{ aggregateId: keyId, aggregateVersion: 1 }]);
      expect(secrets[0]!.payload).toEqual({
        secretId: keyId,
        purpose: 'api-key',
        mode: 'live',
        ...owner,
        sealed,
        primary: true,
        revoked: false,
      });
      expect(await open(sealed)).toBe(apiKey);

      const prefix = apiKey.slice(0, `svc_live_${kind}_`.length + 6);
      const createdUTCDate = '2026-03-01T10:00:00.000Z';
      expect(await list(path)).toEqual([
        { keyId, kind, mode: 'live', prefix, primary: true, revoked: false, createdUTCDate },
      ]);
      expect(await list(kind === 'site' ? ofMerchant : ofSite)).toEqual([]);
    },
  );

  it('stores no key in clear text in the database', async () => {
    const planted = 'a text that is found where it is kept';
    await admin('PATCH', `/admin/v1/merchants/${merchantId}`, { name: planted });
    const { apiKey } = await create(ofSite);
    const tables = await test.dataSource.query<{ name: string }[]>(
      `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace`,
    );
    const holding = async (text: string) => {
      const found = [];
      for (const { name } of tables) {
        const [row] = await test.dataSource.query<[{ found: boolean }]>(
          `SELECT EXISTS (SELECT 1 FROM "${name}" AS t WHERE t::text LIKE '%' || $1 || '%') AS found`,
          [text],
        );
        if (row.found) found.push(name);
      }
      return found;
    };
    expect(await holding(planted)).toEqual(expect.arrayContaining(['merchants', 'event_log', 'audit_log']));
    expect(await holding(apiKey.slice('svc_test_site_'.length))).toEqual([]);
    expect(await holding(Buffer.from(apiKey).toString('base64').slice(0, -4))).toEqual([]);
  });

  it('makes the newest primary and keeps the older ones valid', async () => {
    const first = await create(ofSite);
    const second = await create(ofSite);
    expect(await list(ofSite)).toMatchObject([
      { keyId: second.keyId, primary: true, revoked: false },
      { keyId: first.keyId, primary: false, revoked: false },
    ]);
    const { keys, secrets } = await told();
    expect(keys.map(({ payload }) => [payload.keyId, payload.revoked])).toEqual([
      [first.keyId, false],
      [second.keyId, false],
    ]);
    expect(
      secrets.map(({ payload, aggregateVersion }) => [payload.secretId, aggregateVersion, payload.primary]),
    ).toEqual([
      [first.keyId, 1, true],
      [first.keyId, 2, false],
      [second.keyId, 1, true],
    ]);
    expect(await open(secrets[1]!.payload.sealed)).toBe(first.apiKey);
  });

  it('has one primary key for each owner and mode', async () => {
    const made = [await create(ofSite, 'test'), await create(ofSite, 'live')];
    const merchants = await create(ofMerchant, 'test');
    expect((await primaries(ofSite)).toSorted()).toEqual(made.map(({ keyId }) => keyId).toSorted());
    expect(await primaries(ofMerchant)).toEqual([merchants.keyId]);
  });

  it('never makes two keys primary when several are created concurrently', async () => {
    for (const path of [ofSite, ofMerchant]) {
      const made = await Promise.all(Array.from({ length: 8 }, () => admin('POST', path, { mode: 'test' })));
      expect(made.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201));
      expect(await list(path)).toHaveLength(8);
      const [newest] = await list(path);
      expect(await primaries(path)).toEqual([newest.keyId]);
    }
  });

  it('has a database constraint that allows only one primary key', async () => {
    for (const path of [ofSite, ofMerchant]) {
      await create(path);
      await create(path);
      const all = `UPDATE api_keys SET is_primary = true WHERE merchant_id = $1 AND kind = $2`;
      await expect(test.dataSource.query(all, [merchantId, path === ofSite ? 'site' : 'merchant'])).rejects.toThrow(
        'api_keys_one_primary',
      );
    }
  });

  it('revokes a key once, and publishes the revocation', async () => {
    const { keyId } = await create(ofMerchant);
    test.clock.advance(1000);
    for (let i = 0; i < 2; i++) {
      const answer = await admin('DELETE', `${ofMerchant}/${keyId.toUpperCase()}`);
      expect([answer.status, answer.body]).toEqual([204, undefined]);
    }
    const { keys, secrets } = await told();
    expect(keys.map(({ payload, aggregateVersion }) => [aggregateVersion, payload.revoked])).toEqual([
      [1, false],
      [2, true],
    ]);
    expect(secrets.map(({ payload }) => [payload.primary, payload.revoked])).toEqual([
      [true, false],
      [false, true],
    ]);
    const revokedUTCDate = test.clock.nowISO();
    expect(await list(ofMerchant)).toMatchObject([{ keyId, primary: false, revoked: true, revokedUTCDate }]);
  });

  it('makes the newest key of the same mode primary when the primary key is revoked', async () => {
    const [first, second, third] = [await create(ofSite), await create(ofSite), await create(ofSite)];
    const live = await create(ofSite, 'live');
    await admin('DELETE', `${ofSite}/${first.keyId}`);
    expect(await primaries(ofSite)).toEqual([live.keyId, third.keyId]);
    await admin('DELETE', `${ofSite}/${third.keyId}`);
    expect(await primaries(ofSite)).toEqual([live.keyId, second.keyId]);
    const { secrets } = await told();
    expect(secrets.at(-1)!).toMatchObject({ aggregateVersion: 3, payload: { secretId: second.keyId, primary: true } });
    await admin('DELETE', `${ofSite}/${second.keyId}`);
    expect(await primaries(ofSite)).toEqual([live.keyId]);
  });

  it('keeps exactly one primary key while keys are created and revoked concurrently', async () => {
    const made = [await create(ofSite), await create(ofSite), await create(ofSite)];
    const answers = await Promise.all([
      ...made.map(({ keyId }) => admin('DELETE', `${ofSite}/${keyId}`)),
      admin('POST', ofSite, { mode: 'test' }),
      admin('POST', ofSite, { mode: 'test' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 201, 201]);
    expect(await primaries(ofSite)).toHaveLength(1);
  });

  it('has at most ten valid keys for each owner and mode', async () => {
    for (let i = 0; i < 9; i++) await create(ofSite);
    const answers = await Promise.all([1, 2].map(() => admin('POST', ofSite, { mode: 'test' })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    expect(await admin('POST', ofSite, { mode: 'live' })).toMatchObject({ status: 201 });
    await admin('DELETE', `${ofSite}/${(await list(ofSite)).at(-1).keyId}`);
    expect(await admin('POST', ofSite, { mode: 'test' })).toMatchObject({ status: 201 });
  });

  it.each([[undefined], [{}], [{ mode: 'TEST' }], [{ mode: null }], [{ mode: ['test'] }]])(
    'refuses %j, which names no mode',
    async (body) => {
      for (const path of [ofSite, ofMerchant]) {
        const answer = await admin('POST', path, body);
        expect(answer).toMatchObject({ status: 400, body: { errors: [{ field: 'mode' }] } });
      }
    },
  );

  it('does not find a key of another owner', async () => {
    const siteKey = await create(ofSite);
    const merchantKey = await create(ofMerchant);
    const other = (await admin('POST', '/admin/v1/merchants', { name: 'Other' })).body;
    const others = `/admin/v1/merchants/${other.merchantId}`;
    for (const [method, path] of [
      ['POST', `${others}/sites/${siteId}/keys`],
      ['GET', `${others}/sites/${siteId}/keys`],
      ['GET', '/admin/v1/merchants/1/keys'],
      ['POST', '/admin/v1/merchants/1/keys'],
      ['DELETE', `${others}/keys/${merchantKey.keyId}`],
      ['DELETE', `${others}/sites/${siteId}/keys/${siteKey.keyId}`],
      ['DELETE', `${ofMerchant}/${siteKey.keyId}`],
      ['DELETE', `${ofSite}/${merchantKey.keyId}`],
      ['DELETE', `${ofSite}/${NOBODYS}`],
      ['DELETE', `${ofSite}/x`],
    ] as const) {
      const answer = await admin(method, path, method === 'POST' ? { mode: 'test' } : undefined);
      expect([method, path, answer.status]).toEqual([method, path, 404]);
    }
    expect(await list(ofSite)).toMatchObject([{ revoked: false }]);
    expect(await list(ofMerchant)).toMatchObject([{ revoked: false }]);
  });
});
