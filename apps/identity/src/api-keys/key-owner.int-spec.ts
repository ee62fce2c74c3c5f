import { newSealedKeyPair } from '@svc/auth';
import { ApiKeyChangedV1, SealingKeyPublishedV1 } from '@svc/contracts';
import { anEvent, type TestService } from '@svc/testing';
import { adminClient, type Client, SEALING_KEY, startIdentity } from '../../test/identity.js';
import { createTwoMerchants, type MerchantPaths } from '../../test/merchants.js';

interface KeyView {
  readonly keyId: string;
  readonly mode: string;
  readonly primary: boolean;
  readonly revoked: boolean;
}

let identity: TestService;
let admin: Client;
let paths: MerchantPaths;
beforeAll(async () => {
  identity = await startIdentity();
  admin = adminClient(identity);
  const { publicJwk } = await newSealedKeyPair('dispatcher-1', SEALING_KEY);
  await identity.deliver(anEvent(SealingKeyPublishedV1, 'dispatcher-1', 1, { publicJwk }));
});
beforeEach(async () => {
  paths = await createTwoMerchants(identity);
});
afterAll(() => identity.stop());

const createKey = async (owner: string, mode: 'test' | 'live' = 'test'): Promise<string> =>
  (await admin('POST', `${owner}/keys`, { mode })).body.keyId as string;
const listKeys = async (owner: string): Promise<KeyView[]> =>
  (await admin('GET', `${owner}/keys`)).body.keys as KeyView[];
const revoke = async (owner: string, keyId: string): Promise<number> =>
  (await admin('DELETE', `${owner}/keys/${keyId}`)).status;
/** The paths of two merchants and their three sites. */
const owners = (): string[] => [
  paths.merchant,
  paths.site,
  paths.otherSite,
  paths.otherMerchant,
  paths.otherMerchantSite,
];

test('a key is listed and can be revoked only on the path of its own merchant or site', async () => {
  const keys = new Map<string, string>();
  for (const owner of owners()) keys.set(owner, await createKey(owner));
  for (const owner of owners()) expect((await listKeys(owner)).map(({ keyId }) => keyId)).toEqual([keys.get(owner)]);
  for (const owner of [...owners(), paths.siteUnderOtherMerchant])
    for (const [, keyId] of [...keys].filter(([keyOwner]) => keyOwner !== owner))
      expect(await revoke(owner, keyId)).toBe(404);
  for (const owner of owners()) expect(await listKeys(owner)).toMatchObject([{ revoked: false, primary: true }]);
  expect(await revoke(paths.site, keys.get(paths.site)!)).toBe(204);
  const revoked = await Promise.all(owners().map(async (owner) => (await listKeys(owner))[0]!.revoked));
  expect(revoked).toEqual(owners().map((owner) => owner === paths.site));
  const events = (await identity.published(ApiKeyChangedV1)).filter(({ payload }) => payload.revoked);
  expect(events.map(({ payload }) => payload.keyId)).toEqual([keys.get(paths.site)]);
});

test('creating or revoking a key changes only the primary key of its own owner and mode', async () => {
  const readPrimaryKeys = async (): Promise<Record<string, string>> => {
    const found: Record<string, string> = {};
    for (const owner of owners())
      for (const { keyId, mode, primary } of await listKeys(owner)) if (primary) found[`${owner} ${mode}`] = keyId;
    return found;
  };
  for (const owner of owners()) for (const mode of ['test', 'live'] as const) await createKey(owner, mode);
  const before = await readPrimaryKeys();
  expect(Object.keys(before)).toHaveLength(10);
  const newKeyId = await createKey(paths.site);
  expect(await readPrimaryKeys()).toEqual({ ...before, [`${paths.site} test`]: newKeyId });
  expect(await revoke(paths.site, newKeyId)).toBe(204);
  expect(await readPrimaryKeys()).toEqual(before);
  // When the last key of a mode is revoked, no key of the other mode becomes primary instead.
  expect(await revoke(paths.site, before[`${paths.site} test`]!)).toBe(204);
  const { [`${paths.site} test`]: _, ...unchangedKeys } = before;
  expect(await readPrimaryKeys()).toEqual(unchangedKeys);
});

test('when a primary key is revoked, the newest valid key becomes primary', async () => {
  const [first, second, third, fourth] = [
    await createKey(paths.site),
    await createKey(paths.site),
    await createKey(paths.site),
    await createKey(paths.site),
  ];
  expect(await revoke(paths.site, third)).toBe(204);
  expect(await revoke(paths.site, fourth)).toBe(204);
  const states = Object.fromEntries(
    (await listKeys(paths.site)).map(({ keyId, primary, revoked }) => [keyId, [primary, revoked]]),
  );
  expect(states).toEqual({
    [first]: [false, false],
    [second]: [true, false],
    [third]: [false, true],
    [fourth]: [false, true],
  });
});

test('an owner may have ten valid keys in a mode, and revoked keys and keys of other owners and modes do not count', async () => {
  for (const owner of [paths.merchant, paths.otherSite])
    for (let count = 0; count < 10; count++) await createKey(owner);
  for (let count = 0; count < 10; count++) await createKey(paths.site, 'live');
  const keys: string[] = [];
  for (let count = 0; count < 10; count++) keys.push(await createKey(paths.site));
  expect(keys.every((keyId) => keyId !== undefined)).toBe(true);
  const tryCreateKey = async () => (await admin('POST', `${paths.site}/keys`, { mode: 'test' })).status;
  expect(await tryCreateKey()).toBe(409);
  expect(await revoke(paths.site, keys[0]!)).toBe(204);
  expect([await tryCreateKey(), await tryCreateKey()]).toEqual([201, 409]);
});
