import { newSealedKeyPair } from '@svc/auth';
import { ApiKeyChangedV1, SealingKeyPublishedV1 } from '@svc/contracts';
import { anEvent, type TestService } from '@svc/testing';
import { adminOf, type Client, SEALING_KEY, startIdentity } from '../../test/identity.js';
import { type TwoMerchants, twoMerchants } from '../../test/merchants.js';

interface KeyView {
  readonly keyId: string;
  readonly mode: string;
  readonly primary: boolean;
  readonly revoked: boolean;
}

let identity: TestService;
let admin: Client;
let two: TwoMerchants;
beforeAll(async () => {
  identity = await startIdentity();
  admin = adminOf(identity);
  const { publicJwk } = await newSealedKeyPair('dispatcher-1', SEALING_KEY);
  await identity.deliver(anEvent(SealingKeyPublishedV1, 'dispatcher-1', 1, { publicJwk }));
});
beforeEach(async () => {
  two = await twoMerchants(identity);
});
afterAll(() => identity.stop());

const newKey = async (owner: string, mode: 'test' | 'live' = 'test'): Promise<string> =>
  (await admin('POST', `${owner}/keys`, { mode })).body.keyId as string;
const listed = async (owner: string): Promise<KeyView[]> =>
  (await admin('GET', `${owner}/keys`)).body.keys as KeyView[];
const revoke = async (owner: string, keyId: string): Promise<number> =>
  (await admin('DELETE', `${owner}/keys/${keyId}`)).status;
const owners = (): string[] => [two.merchant, two.site, two.sibling, two.other, two.sites.foreign];

test('a key is listed and revoked only by its own merchant or site', async () => {
  const keys = new Map<string, string>();
  for (const owner of owners()) keys.set(owner, await newKey(owner));
  for (const owner of owners()) expect((await listed(owner)).map(({ keyId }) => keyId)).toEqual([keys.get(owner)]);
  for (const owner of [...owners(), two.misplaced])
    for (const [, keyId] of [...keys].filter(([of]) => of !== owner)) expect(await revoke(owner, keyId)).toBe(404);
  for (const owner of owners()) expect(await listed(owner)).toMatchObject([{ revoked: false, primary: true }]);
  expect(await revoke(two.site, keys.get(two.site)!)).toBe(204);
  const revoked = await Promise.all(owners().map(async (owner) => (await listed(owner))[0]!.revoked));
  expect(revoked).toEqual(owners().map((owner) => owner === two.site));
  const events = (await identity.published(ApiKeyChangedV1)).filter(({ payload }) => payload.revoked);
  expect(events.map(({ payload }) => payload.keyId)).toEqual([keys.get(two.site)]);
});

test('each owner has its own primary key in each mode: creating or revoking one changes no other', async () => {
  const primaries = async (): Promise<Record<string, string>> => {
    const found: Record<string, string> = {};
    for (const owner of owners())
      for (const { keyId, mode, primary } of await listed(owner)) if (primary) found[`${owner} ${mode}`] = keyId;
    return found;
  };
  for (const owner of owners()) for (const mode of ['test', 'live'] as const) await newKey(owner, mode);
  const before = await primaries();
  expect(Object.keys(before)).toHaveLength(10);
  const newer = await newKey(two.site);
  expect(await primaries()).toEqual({ ...before, [`${two.site} test`]: newer });
  expect(await revoke(two.site, newer)).toBe(204);
  expect(await primaries()).toEqual(before);
  // The last key of a mode has no successor in the other mode.
  expect(await revoke(two.site, before[`${two.site} test`]!)).toBe(204);
  const { [`${two.site} test`]: _, ...others } = before;
  expect(await primaries()).toEqual(others);
});

test('the successor of a primary key is the newest valid key', async () => {
  const [first, second, third, fourth] = [
    await newKey(two.site),
    await newKey(two.site),
    await newKey(two.site),
    await newKey(two.site),
  ];
  expect(await revoke(two.site, third)).toBe(204);
  expect(await revoke(two.site, fourth)).toBe(204);
  const states = Object.fromEntries(
    (await listed(two.site)).map(({ keyId, primary, revoked }) => [keyId, [primary, revoked]]),
  );
  expect(states).toEqual({
    [first]: [false, false],
    [second]: [true, false],
    [third]: [false, true],
    [fourth]: [false, true],
  });
});

test('an owner may have ten valid keys in a mode; keys of others and revoked keys do not count', async () => {
  for (const owner of [two.merchant, two.sibling]) for (let count = 0; count < 10; count++) await newKey(owner);
  for (let count = 0; count < 10; count++) await newKey(two.site, 'live');
  const keys: string[] = [];
  for (let count = 0; count < 10; count++) keys.push(await newKey(two.site));
  expect(keys.every((keyId) => keyId !== undefined)).toBe(true);
  const create = async () => (await admin('POST', `${two.site}/keys`, { mode: 'test' })).status;
  expect(await create()).toBe(409);
  expect(await revoke(two.site, keys[0]!)).toBe(204);
  expect([await create(), await create()]).toEqual([201, 409]);
});
