import type { TestService } from '@svc/testing';
import { adminClient, type Client, startIdentity } from '../../test/identity.js';

let identity: TestService;
let admin: Client;
let organisations: readonly [string, string];
beforeAll(async () => {
  identity = await startIdentity();
  admin = adminClient(identity);
});
beforeEach(async () => {
  const createOrganisation = async (name: string): Promise<string> =>
    `/admin/v1/organisations/${(await admin('POST', '/admin/v1/organisations', { name })).body.organisationId}`;
  organisations = [await createOrganisation('One'), await createOrganisation('Other')];
});
afterAll(() => identity.stop());

const KINDS = [
  { kind: 'keys', idField: 'keyId', otherKind: 'api-tokens' },
  { kind: 'api-tokens', idField: 'tokenId', otherKind: 'keys' },
] as const;

describe.each(KINDS)('the $kind of partners', ({ kind, idField, otherKind }) => {
  const requestCredential = (organisation: string, credentialKind: string = kind, mode = 'test') =>
    admin('POST', `${organisation}/${credentialKind}`, { mode });
  const createCredential = async (organisation: string, credentialKind: string = kind): Promise<string> =>
    Object.values((await requestCredential(organisation, credentialKind)).body as Record<string, string>)[0]!;
  const listCredentials = async (organisation: string): Promise<[string, boolean][]> =>
    (Object.values((await admin('GET', `${organisation}/${kind}`)).body as object)[0] as Record<string, unknown>[]).map(
      (credential) => [credential[idField] as string, credential['revoked'] as boolean],
    );

  test('are listed and can be revoked only on the path of their own organisation and kind', async () => {
    const [ownPath, otherPath] = organisations;
    const [ownId, otherId] = [await createCredential(ownPath), await createCredential(otherPath)];
    await createCredential(ownPath, otherKind);
    for (const wrongPath of [`${otherPath}/${kind}`, `${ownPath}/${otherKind}`])
      expect((await admin('DELETE', `${wrongPath}/${ownId}`)).status).toBe(404);
    expect([await listCredentials(ownPath), await listCredentials(otherPath)]).toEqual([
      [[ownId, false]],
      [[otherId, false]],
    ]);
    expect((await admin('DELETE', `${ownPath}/${kind}/${ownId}`)).status).toBe(204);
    expect([await listCredentials(ownPath), await listCredentials(otherPath)]).toEqual([
      [[ownId, true]],
      [[otherId, false]],
    ]);
  });

  test('are limited: each organisation may have ten valid credentials of each kind and mode', async () => {
    const [ownPath, otherPath] = organisations;
    const createdIds: string[] = [];
    for (let count = 0; count < 10; count++) {
      await createCredential(otherPath);
      await createCredential(ownPath, otherKind);
      expect((await requestCredential(ownPath, kind, 'live')).status).toBe(201);
    }
    for (let count = 0; count < 10; count++) createdIds.push(await createCredential(ownPath));
    expect((await requestCredential(ownPath)).status).toBe(409);
    expect((await admin('DELETE', `${ownPath}/${kind}/${createdIds[0]}`)).status).toBe(204);
    expect([(await requestCredential(ownPath)).status, (await requestCredential(ownPath)).status]).toEqual([201, 409]);
  });
});
