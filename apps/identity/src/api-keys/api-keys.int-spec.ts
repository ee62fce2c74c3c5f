import { decryptPrivateKey, hashApiKey, newSealedKeyPair, type SealedKeyPair } from '@svc/auth';
import { ApiKeyChangedV1, SealingKeyPublishedV1, SigningSecretChangedV1 } from '@svc/contracts';
import { anEvent, httpClient, type TestService } from '@svc/testing';
import { compactDecrypt } from 'jose';
import { ADMIN_KEY, startIdentity } from '../../test/identity.js';

const SEALING_KEY = Buffer.alloc(32, 1).toString('base64url');
const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000';

describe('the API keys', () => {
  let identity: TestService;
  let admin: ReturnType<typeof httpClient>;
  let pair: SealedKeyPair;
  let merchantId: number;
  let siteId: number;
  let merchantKeysPath: string;
  let siteKeysPath: string;

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
    merchantKeysPath = `/admin/v1/merchants/${merchantId}/keys`;
    siteKeysPath = `${sites}/${siteId}/keys`;
  });

  const createKey = async (path: string, mode = 'test') => (await admin('POST', path, { mode })).body;
  const listKeys = async (path: string) => (await admin('GET', path)).body.keys;
  const listPrimaryKeyIds = async (path: string) =>
    (await listKeys(path))
      .filter(({ primary }: { primary: boolean }) => primary)
      .map(({ keyId }: { keyId: string }) => keyId);
  const publishedEvents = async () => ({
    keys: (await identity.published(ApiKeyChangedV1)).filter(({ payload }) => payload.merchantId === merchantId),
    secrets: (await identity.published(SigningSecretChangedV1)).filter(
      ({ payload }) => payload.merchantId === merchantId && payload.purpose === 'api-key',
    ),
  });
  const decryptKey = async (sealed: string) => {
    const { plaintext } = await compactDecrypt(
      sealed,
      decryptPrivateKey('dispatcher-1', pair.sealedPrivateKey, SEALING_KEY),
    );
    return new TextDecoder().decode(plaintext);
  };

  it.each(['merchant', 'site'] as const)(
    'created for a %s are returned only once, and published as a hash and in encrypted form',
    async (kind) => {
      const path = kind === 'merchant' ? merchantKeysPath : siteKeysPath;
      const response = await admin('POST', path, { mode: 'live' });
      expect(response).toMatchObject({ status: 201, headers: { 'cache-control': 'no-store' } });
      const { keyId, apiKey } = response.body;
      expect(response.body).toEqual({ keyId, apiKey, kind, mode: 'live', primary: true });
      expect(apiKey).toMatch(new RegExp(`^svc_live_${kind}_[A-Za-z0-9_-]{43}$`));

      const owner = kind === 'site' ? { merchantId, siteId } : { merchantId };
      const { keys, secrets } = await publishedEvents();
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
      expect(await decryptKey(sealed)).toBe(apiKey);

      const prefix = apiKey.slice(0, `svc_live_${kind}_`.length + 6);
      const createdUTCDate = '2026-03-01T10:00:00.000Z';
      expect(await listKeys(path)).toEqual([
        { keyId, kind, mode: 'live', prefix, primary: true, revoked: false, createdUTCDate },
      ]);
      expect(await listKeys(kind === 'site' ? merchantKeysPath : siteKeysPath)).toEqual([]);
    },
  );

  it('are not stored as plain text in the database', async () => {
    const knownText = 'a name that is found in every table that contains it';
    await admin('PATCH', `/admin/v1/merchants/${merchantId}`, { name: knownText });
    const { apiKey } = await createKey(siteKeysPath);
    const tables = await identity.dataSource.query<{ name: string }[]>(
      `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace`,
    );
    const findTablesContaining = async (text: string) => {
      const found = [];
      for (const { name } of tables) {
        const [row] = await identity.dataSource.query<[{ found: boolean }]>(
          `SELECT EXISTS (SELECT 1 FROM "${name}" AS t WHERE t::text LIKE '%' || $1 || '%') AS found`,
          [text],
        );
        if (row.found) found.push(name);
      }
      return found;
    };
    expect(await findTablesContaining(knownText)).toEqual(
      expect.arrayContaining(['merchants', 'event_log', 'audit_log']),
    );
    expect(await findTablesContaining(apiKey.slice('svc_test_site_'.length))).toEqual([]);
    expect(await findTablesContaining(Buffer.from(apiKey).toString('base64').slice(0, -4))).toEqual([]);
  });

  it('stay valid when a newer key is created, which becomes the primary key', async () => {
    const first = await createKey(siteKeysPath);
    const second = await createKey(siteKeysPath);
    expect(await listKeys(siteKeysPath)).toMatchObject([
      { keyId: second.keyId, primary: true, revoked: false },
      { keyId: first.keyId, primary: false, revoked: false },
    ]);
    const { keys, secrets } = await publishedEvents();
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
    expect(await decryptKey(secrets[1]!.payload.sealed)).toBe(first.apiKey);
  });

  it('include one primary key for each owner and mode', async () => {
    const createdKeys = [await createKey(siteKeysPath, 'test'), await createKey(siteKeysPath, 'live')];
    const merchantKey = await createKey(merchantKeysPath, 'test');
    expect((await listPrimaryKeyIds(siteKeysPath)).toSorted()).toEqual(
      createdKeys.map(({ keyId }) => keyId).toSorted(),
    );
    expect(await listPrimaryKeyIds(merchantKeysPath)).toEqual([merchantKey.keyId]);
  });

  it('include only one primary key after several keys were created concurrently', async () => {
    for (const path of [siteKeysPath, merchantKeysPath]) {
      const responses = await Promise.all(Array.from({ length: 8 }, () => admin('POST', path, { mode: 'test' })));
      expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201));
      expect(await listKeys(path)).toHaveLength(8);
      const [newest] = await listKeys(path);
      expect(await listPrimaryKeyIds(path)).toEqual([newest.keyId]);
    }
  });

  it('cannot include two primary keys, because a database constraint allows only one for each owner and mode', async () => {
    for (const path of [siteKeysPath, merchantKeysPath]) {
      await createKey(path);
      await createKey(path);
      const makeAllPrimary = `UPDATE api_keys SET is_primary = true WHERE merchant_id = $1 AND kind = $2`;
      await expect(
        identity.dataSource.query(makeAllPrimary, [merchantId, path === siteKeysPath ? 'site' : 'merchant']),
      ).rejects.toThrow('api_keys_one_primary');
    }
  });

  it('can be revoked, and the revocation is published once', async () => {
    const { keyId } = await createKey(merchantKeysPath);
    identity.clock.advance(1000);
    for (let i = 0; i < 2; i++) {
      const response = await admin('DELETE', `${merchantKeysPath}/${keyId.toUpperCase()}`);
      expect([response.status, response.body]).toEqual([204, undefined]);
    }
    const { keys, secrets } = await publishedEvents();
    expect(keys.map(({ payload, aggregateVersion }) => [aggregateVersion, payload.revoked])).toEqual([
      [1, false],
      [2, true],
    ]);
    expect(secrets.map(({ payload }) => [payload.primary, payload.revoked])).toEqual([
      [true, false],
      [false, true],
    ]);
    const revokedUTCDate = identity.clock.nowISO();
    expect(await listKeys(merchantKeysPath)).toMatchObject([{ keyId, primary: false, revoked: true, revokedUTCDate }]);
  });

  it('include a new primary key after the primary key was revoked: the newest valid key of the same mode', async () => {
    const [first, second, third] = [
      await createKey(siteKeysPath),
      await createKey(siteKeysPath),
      await createKey(siteKeysPath),
    ];
    const live = await createKey(siteKeysPath, 'live');
    await admin('DELETE', `${siteKeysPath}/${first.keyId}`);
    expect(await listPrimaryKeyIds(siteKeysPath)).toEqual([live.keyId, third.keyId]);
    await admin('DELETE', `${siteKeysPath}/${third.keyId}`);
    expect(await listPrimaryKeyIds(siteKeysPath)).toEqual([live.keyId, second.keyId]);
    const { secrets } = await publishedEvents();
    expect(secrets.at(-1)!).toMatchObject({ aggregateVersion: 3, payload: { secretId: second.keyId, primary: true } });
    await admin('DELETE', `${siteKeysPath}/${second.keyId}`);
    expect(await listPrimaryKeyIds(siteKeysPath)).toEqual([live.keyId]);
  });

  it('include exactly one primary key after keys were created and revoked concurrently', async () => {
    const oldKeys = [await createKey(siteKeysPath), await createKey(siteKeysPath), await createKey(siteKeysPath)];
    const responses = await Promise.all([
      ...oldKeys.map(({ keyId }) => admin('DELETE', `${siteKeysPath}/${keyId}`)),
      admin('POST', siteKeysPath, { mode: 'test' }),
      admin('POST', siteKeysPath, { mode: 'test' }),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([204, 204, 204, 201, 201]);
    expect(await listPrimaryKeyIds(siteKeysPath)).toHaveLength(1);
  });

  it('are limited to ten valid keys for each owner and mode', async () => {
    for (let i = 0; i < 9; i++) await createKey(siteKeysPath);
    const responses = await Promise.all([1, 2].map(() => admin('POST', siteKeysPath, { mode: 'test' })));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    expect(await admin('POST', siteKeysPath, { mode: 'live' })).toMatchObject({ status: 201 });
    await admin('DELETE', `${siteKeysPath}/${(await listKeys(siteKeysPath)).at(-1).keyId}`);
    expect(await admin('POST', siteKeysPath, { mode: 'test' })).toMatchObject({ status: 201 });
  });

  it.each([[undefined], [{}], [{ mode: 'TEST' }], [{ mode: null }], [{ mode: ['test'] }]])(
    'are not created by a request without a valid mode: %j',
    async (body) => {
      for (const path of [siteKeysPath, merchantKeysPath]) {
        const response = await admin('POST', path, body);
        expect(response).toMatchObject({ status: 400, body: { errors: [{ field: 'mode' }] } });
      }
    },
  );

  it('cannot be created, listed or revoked on the path of another owner', async () => {
    const siteKey = await createKey(siteKeysPath);
    const merchantKey = await createKey(merchantKeysPath);
    const other = (await admin('POST', '/admin/v1/merchants', { name: 'Other' })).body;
    const otherMerchant = `/admin/v1/merchants/${other.merchantId}`;
    const noSite = `Merchant ${other.merchantId} has no site ${siteId}.`;
    const owner = `Merchant ${merchantId}`;
    const site = `Site ${siteId} of merchant ${merchantId}`;
    for (const [method, path, detail] of [
      ['POST', `${otherMerchant}/sites/${siteId}/keys`, noSite],
      ['GET', `${otherMerchant}/sites/${siteId}/keys`, noSite],
      ['GET', '/admin/v1/merchants/1/keys', 'There is no merchant 1.'],
      ['POST', '/admin/v1/merchants/1/keys', 'There is no merchant 1.'],
      [
        'DELETE',
        `${otherMerchant}/keys/${merchantKey.keyId}`,
        `Merchant ${other.merchantId} has no key ${merchantKey.keyId}.`,
      ],
      ['DELETE', `${otherMerchant}/sites/${siteId}/keys/${siteKey.keyId}`, noSite],
      ['DELETE', `${merchantKeysPath}/${siteKey.keyId}`, `${owner} has no key ${siteKey.keyId}.`],
      ['DELETE', `${siteKeysPath}/${merchantKey.keyId}`, `${site} has no key ${merchantKey.keyId}.`],
      ['DELETE', `${siteKeysPath}/${UNKNOWN_ID}`, `${site} has no key ${UNKNOWN_ID}.`],
      ['DELETE', `${siteKeysPath}/x`, 'An id in the path is not a UUID.'],
      ['GET', '/admin/v1/merchants/x/keys', 'An id in the path is not a number, as in 1001.'],
    ] as const) {
      const response = await admin(method, path, method === 'POST' ? { mode: 'test' } : undefined);
      expect([method, path, response.status, response.body.detail]).toEqual([method, path, 404, detail]);
    }
    expect(await listKeys(siteKeysPath)).toMatchObject([{ revoked: false }]);
    expect(await listKeys(merchantKeysPath)).toMatchObject([{ revoked: false }]);
  });
});
