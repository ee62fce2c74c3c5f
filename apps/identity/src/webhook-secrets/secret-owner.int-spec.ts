import { newSealedKeyPair } from '@svc/auth';
import { SealingKeyPublishedV1 } from '@svc/contracts';
import { anEvent, type TestService } from '@svc/testing';
import { adminClient, type Client, SEALING_KEY, startIdentity } from '../../test/identity.js';
import { createTwoMerchants, type MerchantPaths } from '../../test/merchants.js';

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

const requestSecret = async (site: string, mode: 'test' | 'live' = 'test'): Promise<number> =>
  (await admin('POST', `${site}/webhook-secrets`, { mode })).status;
const createSecret = async (site: string): Promise<string> =>
  (await admin('POST', `${site}/webhook-secrets`, { mode: 'test' })).body.secretId as string;
const listAllSecrets = async (site: string): Promise<{ secretId: string; mode: string; revoked: boolean }[]> =>
  (await admin('GET', `${site}/webhook-secrets`)).body.secrets;
/** Returns the secrets of the site, without the two oldest secrets, because these were created with the site. */
const listNewSecrets = async (site: string): Promise<[string, boolean][]> =>
  (await listAllSecrets(site)).slice(0, -2).map(({ secretId, revoked }) => [secretId, revoked]);

test('a secret is listed and can be revoked only on the path of its own site', async () => {
  const { site, otherSite, otherMerchantSite } = paths;
  const [ownSecretId, otherSiteSecretId, otherMerchantSecretId] = [
    await createSecret(site),
    await createSecret(otherSite),
    await createSecret(otherMerchantSite),
  ];
  for (const wrongPath of [otherSite, otherMerchantSite, paths.siteUnderOtherMerchant])
    expect((await admin('DELETE', `${wrongPath}/webhook-secrets/${ownSecretId}`)).status).toBe(404);
  expect((await admin('GET', `${paths.siteUnderOtherMerchant}/webhook-secrets`)).status).toBe(404);
  expect([
    await listNewSecrets(site),
    await listNewSecrets(otherSite),
    await listNewSecrets(otherMerchantSite),
  ]).toEqual([[[ownSecretId, false]], [[otherSiteSecretId, false]], [[otherMerchantSecretId, false]]]);
  expect((await admin('DELETE', `${site}/webhook-secrets/${ownSecretId}`)).status).toBe(204);
  expect([
    await listNewSecrets(site),
    await listNewSecrets(otherSite),
    await listNewSecrets(otherMerchantSite),
  ]).toEqual([[[ownSecretId, true]], [[otherSiteSecretId, false]], [[otherMerchantSecretId, false]]]);
});

test('a site may have five valid secrets in each mode, and revoked secrets and secrets of other sites do not count', async () => {
  const { site, otherSite, otherMerchantSite } = paths;
  // A new site has one secret of each mode, so four more secrets of each mode are allowed.
  for (const otherPath of [otherSite, otherMerchantSite])
    for (let count = 0; count < 4; count++) expect(await requestSecret(otherPath)).toBe(201);
  for (let count = 0; count < 4; count++) expect(await requestSecret(site, 'live')).toBe(201);
  const secrets: string[] = [];
  for (let count = 0; count < 4; count++) secrets.push(await createSecret(site));
  expect(secrets.every((secretId) => secretId !== undefined)).toBe(true);
  expect(await requestSecret(site)).toBe(409);
  expect((await admin('DELETE', `${site}/webhook-secrets/${secrets[0]}`)).status).toBe(204);
  expect([await requestSecret(site), await requestSecret(site)]).toEqual([201, 409]);
});
