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
  const newOrganisation = async (name: string): Promise<string> =>
    `/admin/v1/organisations/${(await admin('POST', '/admin/v1/organisations', { name })).body.organisationId}`;
  organisations = [await newOrganisation('One'), await newOrganisation('Other')];
});
afterAll(() => identity.stop());

const KINDS = [
  { kind: 'keys', id: 'keyId', other: 'api-tokens' },
  { kind: 'api-tokens', id: 'tokenId', other: 'keys' },
] as const;

describe.each(KINDS)('credentials: $kind', ({ kind, id, other }) => {
  const create = (organisation: string, of: string = kind, mode = 'test') =>
    admin('POST', `${organisation}/${of}`, { mode });
  const newOne = async (organisation: string, of: string = kind): Promise<string> =>
    Object.values((await create(organisation, of)).body as Record<string, string>)[0]!;
  const listed = async (organisation: string): Promise<[string, boolean][]> =>
    (Object.values((await admin('GET', `${organisation}/${kind}`)).body as object)[0] as Record<string, unknown>[]).map(
      (one) => [one[id] as string, one['revoked'] as boolean],
    );

  test('are listed and revoked only by their own organisation and kind', async () => {
    const [ours, theirs] = organisations;
    const [own, foreign] = [await newOne(ours), await newOne(theirs)];
    await newOne(ours, other);
    for (const wrong of [`${theirs}/${kind}`, `${ours}/${other}`])
      expect((await admin('DELETE', `${wrong}/${own}`)).status).toBe(404);
    expect([await listed(ours), await listed(theirs)]).toEqual([[[own, false]], [[foreign, false]]]);
    expect((await admin('DELETE', `${ours}/${kind}/${own}`)).status).toBe(204);
    expect([await listed(ours), await listed(theirs)]).toEqual([[[own, true]], [[foreign, false]]]);
  });

  test('are limited to ten valid ones in a mode; those of others and revoked ones do not count', async () => {
    const [ours, theirs] = organisations;
    const made: string[] = [];
    for (let count = 0; count < 10; count++) {
      await newOne(theirs);
      await newOne(ours, other);
      expect((await create(ours, kind, 'live')).status).toBe(201);
    }
    for (let count = 0; count < 10; count++) made.push(await newOne(ours));
    expect((await create(ours)).status).toBe(409);
    expect((await admin('DELETE', `${ours}/${kind}/${made[0]}`)).status).toBe(204);
    expect([(await create(ours)).status, (await create(ours)).status]).toEqual([201, 409]);
  });
});
