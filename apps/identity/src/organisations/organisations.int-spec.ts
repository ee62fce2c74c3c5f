import { hashApiKey } from '@svc/auth';
import { PartnerKeyChangedV1 } from '@svc/contracts';
import { httpClient, type TestService } from '@svc/testing';
import { adminClient, type Client, startIdentity } from '../../test/identity.js';
import { findOrganisations } from './organisation.repository.js';

const PATH = '/admin/v1/organisations';
const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('organisations', () => {
  let identity: TestService;
  let admin: Client;
  let organisationId: string;
  let organisationPath: string;

  beforeAll(async () => {
    identity = await startIdentity();
    admin = adminClient(identity);
  });
  afterAll(() => identity.stop());
  beforeEach(async () => {
    ({ organisationId } = (await admin('POST', PATH, { name: 'Partner' })).body);
    organisationPath = `${PATH}/${organisationId}`;
  });

  const publishedKeys = async () =>
    (await identity.published(PartnerKeyChangedV1)).filter(({ payload }) => payload.organisationId === organisationId);

  it('are created and renamed, and an empty name is rejected', async () => {
    const createdUTCDate = identity.clock.nowISO();
    expect((await admin('GET', organisationPath)).body).toEqual({
      organisationId: expect.stringMatching(UUID),
      name: 'Partner',
      createdUTCDate,
    });
    for (let i = 0; i < 2; i++)
      expect(await admin('PATCH', organisationPath, { name: 'Renamed' })).toMatchObject({
        status: 200,
        body: { organisationId, name: 'Renamed', createdUTCDate },
      });
    expect(await admin('POST', PATH, { name: '' })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'name' }] },
    });
  });

  it('are listed in pages of 50, and an invalid "after" is rejected', async () => {
    for (let i = 0; i < 60; i++) await admin('POST', PATH, { name: `Partner ${i}` });
    const names: string[] = [];
    let after: string | undefined = UNKNOWN_ID;
    const pageSizes: number[] = [];
    while (after !== undefined) {
      const { body }: Awaited<ReturnType<Client>> = await admin('GET', `${PATH}?after=${after}`);
      pageSizes.push(body.organisations.length);
      names.push(...body.organisations.map(({ name }: { name: string }) => name));
      after = body.nextAfter;
    }
    expect(pageSizes.slice(0, -1).every((pageSize) => pageSize === 50)).toBe(true);
    expect(names).toEqual(expect.arrayContaining(['Partner 0', 'Partner 59']));
    expect(await admin('GET', `${PATH}?after=1`)).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'after' }] },
    });
  });

  it('have API keys, which are returned only once and published with their hash', async () => {
    const response = await admin('POST', `${organisationPath}/keys`, { mode: 'live' });
    expect(response).toMatchObject({ status: 201, headers: { 'cache-control': 'no-store' } });
    const { keyId, apiKey } = response.body;
    expect(response.body).toEqual({ keyId, apiKey, kind: 'partner', mode: 'live' });
    expect(apiKey).toMatch(/^svc_live_partner_[A-Za-z0-9_-]{43}$/);
    const view = { keyId, mode: 'live', prefix: apiKey.slice(0, 'svc_live_partner_'.length + 6), revoked: false };
    const createdUTCDate = identity.clock.nowISO();
    expect((await admin('GET', `${organisationPath}/keys`)).body).toEqual({ keys: [{ ...view, createdUTCDate }] });
    const payload = { keyId, organisationId, mode: 'live', hash: hashApiKey(apiKey), revoked: false };
    expect((await publishedKeys()).map((event) => [event.aggregateVersion, event.payload])).toEqual([[1, payload]]);

    for (let i = 0; i < 2; i++) expect((await admin('DELETE', `${organisationPath}/keys/${keyId}`)).status).toBe(204);
    expect((await publishedKeys()).map((event) => [event.aggregateVersion, event.payload])).toEqual([
      [1, payload],
      [2, { ...payload, revoked: true }],
    ]);
    expect((await admin('GET', `${organisationPath}/keys`)).body.keys).toEqual([
      { ...view, revoked: true, createdUTCDate, revokedUTCDate: createdUTCDate },
    ]);
  });

  it('have API tokens, which are returned only once and are not published', async () => {
    const response = await admin('POST', `${organisationPath}/api-tokens`, { mode: 'test' });
    expect(response).toMatchObject({ status: 201, headers: { 'cache-control': 'no-store' } });
    const { tokenId, apiToken } = response.body;
    expect(apiToken).toMatch(/^svc_test_token_[A-Za-z0-9_-]{43}$/);
    expect((await admin('GET', `${organisationPath}/api-tokens`)).body.apiTokens).toMatchObject([
      { tokenId, revoked: false },
    ]);
    expect((await admin('GET', `${organisationPath}/keys`)).body.keys).toEqual([]);
    expect(await publishedKeys()).toEqual([]);
    expect((await admin('DELETE', `${organisationPath}/keys/${tokenId}`)).status).toBe(404);
    expect((await admin('DELETE', `${organisationPath}/api-tokens/${tokenId}`)).status).toBe(204);
    expect((await admin('GET', `${organisationPath}/api-tokens`)).body.apiTokens).toMatchObject([
      { tokenId, revoked: true },
    ]);
    const log = JSON.stringify(await identity.dataSource.query(`SELECT * FROM audit_log`));
    expect(log).toContain(tokenId);
    expect(log).not.toContain(apiToken);
  });

  it('have at most ten valid credentials of each kind and mode, even if more are created concurrently', async () => {
    const createKey = () => admin('POST', `${organisationPath}/keys`, { mode: 'test' });
    const responses = await Promise.all(Array.from({ length: 12 }, createKey));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(2);
    expect((await admin('POST', `${organisationPath}/api-tokens`, { mode: 'test' })).status).toBe(201);
    expect((await admin('POST', `${organisationPath}/keys`, { mode: 'live' })).status).toBe(201);
  });

  it('are not found by an unknown or invalid id, or on the path of another organisation', async () => {
    const { keyId } = (await admin('POST', `${organisationPath}/keys`, { mode: 'test' })).body;
    const other = (await admin('POST', PATH, { name: 'Other' })).body.organisationId as string;
    const calls = [UNKNOWN_ID, 'x', '1001'].flatMap((id) => [
      ['GET', `${PATH}/${id}`],
      ['PATCH', `${PATH}/${id}`],
      ['GET', `${PATH}/${id}/keys`],
      ['POST', `${PATH}/${id}/keys`],
      ['GET', `${PATH}/${id}/api-tokens`],
      ['POST', `${PATH}/${id}/api-tokens`],
    ]);
    for (const [method, path] of [...calls, ['DELETE', `${PATH}/${other}/keys/${keyId}`]] as ['GET', string][]) {
      const body = method === ('GET' as string) ? undefined : { name: 'Other', mode: 'test' };
      expect([method, path, (await admin(method, path, body)).status]).toEqual([method, path, 404]);
    }
    expect((await admin('GET', `${organisationPath}/keys`)).body.keys).toMatchObject([{ keyId, revoked: false }]);
    const found = await findOrganisations(identity.dataSource.manager, [organisationId, UNKNOWN_ID]);
    expect(found.map((organisation) => organisation.organisationId)).toEqual([organisationId]);
  });

  it('have an audit entry for each change', async () => {
    const { keyId } = (await admin('POST', `${organisationPath}/keys`, { mode: 'test' })).body;
    const { tokenId } = (await admin('POST', `${organisationPath}/api-tokens`, { mode: 'test' })).body;
    await admin('PATCH', organisationPath, { name: 'Renamed' });
    await admin('DELETE', `${organisationPath}/keys/${keyId}`);
    await admin('DELETE', `${organisationPath}/api-tokens/${tokenId}`);
    const entries: Record<string, unknown>[] = [];
    for (let after = 0, page = [{}]; page.length > 0;) {
      const { body } = await admin('GET', `/admin/v1/audit-log?after=${after}`);
      page = body.entries;
      after = body.nextAfter;
      entries.push(...page);
    }
    const ownEntries = entries.filter((entry) => entry['organisationId'] === organisationId);
    expect(ownEntries.map(({ action, credentialId }) => [action, credentialId])).toEqual([
      ['organisation.created', undefined],
      ['partner-key.created', keyId],
      ['api-token.created', tokenId],
      ['organisation.renamed', undefined],
      ['partner-key.revoked', keyId],
      ['api-token.revoked', tokenId],
    ]);
    expect(ownEntries.every((entry) => !('merchantId' in entry))).toBe(true);
  });

  it('are accessible only to administrators', async () => {
    for (const path of [PATH, organisationPath, `${organisationPath}/keys`, `${organisationPath}/api-tokens`])
      expect((await httpClient(identity.service)('GET', path)).status).toBe(401);
  });
});
