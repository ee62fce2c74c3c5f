import { newSealedKeyPair } from '@svc/auth';
import { SealingKeyPublishedV1 } from '@svc/contracts';
import { anEvent, type TestService } from '@svc/testing';
import { adminClient, type Client, SEALING_KEY, startIdentity } from '../../test/identity.js';
import { type MerchantPaths, createTwoMerchants } from '../../test/merchants.js';

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

const create = async (site: string, mode: 'test' | 'live' = 'test'): Promise<number> =>
  (await admin('POST', `${site}/webhook-secrets`, { mode })).status;
const newSecret = async (site: string): Promise<string> =>
  (await admin('POST', `${site}/webhook-secrets`, { mode: 'test' })).body.secretId as string;
const allOf = async (site: string): Promise<{ secretId: string; mode: string; revoked: boolean }[]> =>
  (await admin('GET', `${site}/webhook-secrets`)).body.secrets;
/** Without the two secrets that were created with the site. */
const listed = async (site: string): Promise<[string, boolean][]> =>
  (await allOf(site)).slice(0, -2).map(({ secretId, revoked }) => [secretId, revoked]);

test('a secret is listed and revoked only at its own site', async () => {
  const { site, sibling, foreign } = two.sites;
  const [own, siblings, others] = [await newSecret(site), await newSecret(sibling), await newSecret(foreign)];
  for (const wrong of [sibling, foreign, paths.siteUnderOtherMerchant])
    expect((await admin('DELETE', `${wrong}/webhook-secrets/${own}`)).status).toBe(404);
  expect((await admin('GET', `${paths.siteUnderOtherMerchant}/webhook-secrets`)).status).toBe(404);
  expect([await listed(site), await listed(sibling), await listed(foreign)]).toEqual([
    [[own, false]],
    [[siblings, false]],
    [[others, false]],
  ]);
  expect((await admin('DELETE', `${site}/webhook-secrets/${own}`)).status).toBe(204);
  expect([await listed(site), await listed(sibling), await listed(foreign)]).toEqual([
    [[own, true]],
    [[siblings, false]],
    [[others, false]],
  ]);
});

test('a site may have five valid secrets in a mode; secrets of others and revoked ones do not count', async () => {
  const { site, sibling, foreign } = two.sites;
  // Each mode has one secret from the start.
  for (const other of [sibling, foreign]) for (let count = 0; count < 4; count++) expect(await create(other)).toBe(201);
  for (let count = 0; count < 4; count++) expect(await create(site, 'live')).toBe(201);
  const secrets: string[] = [];
  for (let count = 0; count < 4; count++) secrets.push(await newSecret(site));
  expect(secrets.every((secretId) => secretId !== undefined)).toBe(true);
  expect(await create(site)).toBe(409);
  expect((await admin('DELETE', `${site}/webhook-secrets/${secrets[0]}`)).status).toBe(204);
  expect([await create(site), await create(site)]).toEqual([201, 409]);
});
