import { newSealedKeyPair } from '@svc/auth';
import { SealingKeyPublishedV1 } from '@svc/contracts';
import { anEvent, httpClient, type TestService, waitUntil } from '@svc/testing';
import { ADMIN_KEY, startIdentity } from '../../test/identity.js';
import { AuditLog } from './audit-log.js';

describe('the audit log', () => {
  let test: TestService;
  let admin: ReturnType<typeof httpClient>;

  beforeAll(async () => {
    test = await startIdentity();
    admin = httpClient(test.service, { 'x-admin-key': ADMIN_KEY });
    const { publicJwk } = await newSealedKeyPair('dispatcher-1', Buffer.alloc(32, 1).toString('base64url'));
    await test.deliver(anEvent(SealingKeyPublishedV1, 'dispatcher-1', 1, { publicJwk }));
  });
  afterAll(() => test.stop());

  const read = async (after: number) => (await admin('GET', `/admin/v1/audit-log?after=${after}`)).body;
  const end = async () => {
    let after = 0;
    for (let page = await read(after); page.entries.length > 0; page = await read(after)) after = page.nextAfter;
    return after;
  };

  it('has an entry for every change, with the actor, the time, the request, and the values before and after', async () => {
    const begin = await end();
    const created = await admin('POST', '/admin/v1/merchants', { name: 'Merchant' });
    const { merchantId } = created.body;
    const merchant = `/admin/v1/merchants/${merchantId}`;
    await admin('PATCH', merchant, { name: 'Renamed' });
    const { siteId } = (await admin('POST', `${merchant}/sites`, { name: 'Shop', siteReference: 'SHOP' })).body;
    const site = `${merchant}/sites/${siteId}`;
    await admin('PATCH', site, { requireApiKey: false, allowedHosts: ['shop.example'] });
    const first = (await admin('POST', `${site}/keys`, { mode: 'test' })).body;
    const second = (await admin('POST', `${site}/keys`, { mode: 'test' })).body;
    await admin('DELETE', `${site}/keys/${second.keyId}`);
    const merchantKey = (await admin('POST', `${merchant}/keys`, { mode: 'live' })).body;
    const secret = (await admin('POST', `${site}/webhook-secrets`)).body;
    await admin('DELETE', `${site}/webhook-secrets/${secret.secretId}`);

    const { entries, nextAfter } = await read(begin);
    const [entry] = entries;
    expect(entry).toEqual({
      entryId: entry.entryId,
      changedUTCDate: '2026-03-01T10:00:00.000Z',
      actor: expect.stringMatching(/^admin:[0-9a-f]{16}$/),
      requestId: created.headers['x-request-id'],
      action: 'merchant.created',
      merchantId,
      after: { name: 'Merchant' },
    });
    expect(nextAfter).toBe(entries.at(-1).entryId);

    const settings = {
      name: 'Shop',
      siteReference: 'SHOP',
      requireApiKey: true,
      allowedHosts: [],
      keylessMode: 'test',
      webhookUrl: null,
      webhookEnabled: false,
    };
    const prefixOf = (apiKey: string) => /^svc_[a-z]+_[a-z]+_.{6}/.exec(apiKey)![0];
    const made = (kind: string, mode: string, apiKey: string) => ({
      kind,
      mode,
      prefix: prefixOf(apiKey),
      primary: true,
    });
    const told = entries.map(({ action, siteId, credentialId, before, after }: Record<string, unknown>) => [
      action,
      siteId,
      credentialId,
      before,
      after,
    ]);
    const none = undefined;
    expect(told).toEqual([
      ['merchant.created', none, none, none, { name: 'Merchant' }],
      ['merchant.renamed', none, none, { name: 'Merchant' }, { name: 'Renamed' }],
      ['site.created', siteId, none, none, settings],
      ['webhook-secret.created', siteId, expect.any(String), none, { mode: 'test' }],
      ['webhook-secret.created', siteId, expect.any(String), none, { mode: 'live' }],
      [
        'site.changed',
        siteId,
        none,
        { requireApiKey: true, allowedHosts: [] },
        { requireApiKey: false, allowedHosts: ['shop.example'] },
      ],
      ['api-key.created', siteId, first.keyId, none, made('site', 'test', first.apiKey)],
      ['api-key.no-longer-primary', siteId, first.keyId, { primary: true }, { primary: false }],
      ['api-key.created', siteId, second.keyId, none, made('site', 'test', second.apiKey)],
      ['api-key.revoked', siteId, second.keyId, { revoked: false, primary: true }, { revoked: true, primary: false }],
      ['api-key.made-primary', siteId, first.keyId, { primary: false }, { primary: true }],
      ['api-key.created', none, merchantKey.keyId, none, made('merchant', 'live', merchantKey.apiKey)],
      ['webhook-secret.created', siteId, secret.secretId, none, { mode: 'test' }],
      ['webhook-secret.revoked', siteId, secret.secretId, { revoked: false }, { revoked: true }],
    ]);
    expect(JSON.stringify(entries)).not.toContain(ADMIN_KEY);
  });

  it('has no entry for a rejected request or without a change', async () => {
    const { merchantId } = (await admin('POST', '/admin/v1/merchants', { name: 'Merchant' })).body;
    const merchant = `/admin/v1/merchants/${merchantId}`;
    await admin('POST', `${merchant}/sites`, { name: 'Shop', siteReference: 'SHOP' });
    const begin = await end();
    await admin('PATCH', merchant, { name: 'Merchant' });
    await admin('POST', `${merchant}/sites`, { name: 'Shop', siteReference: 'SHOP' });
    await admin('POST', `${merchant}/sites`, { name: '' });
    await admin('POST', `${merchant}/keys`, { mode: '?' });
    await admin('DELETE', `${merchant}/keys/00000000-0000-7000-8000-000000000000`);
    expect(await read(begin)).toEqual({ entries: [], nextAfter: begin });
  });

  it.each([
    ['UPDATE', `UPDATE audit_log SET actor = 'somebody else'`],
    ['DELETE', `DELETE FROM audit_log`],
    ['TRUNCATE', `TRUNCATE audit_log`],
  ])('refuses %s by every database user', async (_, statement) => {
    await admin('POST', '/admin/v1/merchants', { name: 'Merchant' });
    const before = await read(0);
    expect(before.entries).not.toEqual([]);
    await expect(test.superuser.query(statement)).rejects.toThrow('append-only');
    expect(await read(0)).toEqual(before);
  });

  it('is read 100 at a time', async () => {
    const begin = await end();
    const names = Array.from({ length: 230 }, (_, i) => `Merchant ${i}`);
    for (const name of names) await admin('POST', '/admin/v1/merchants', { name });
    const pages = [await read(begin)];
    while (pages.at(-1).entries.length > 0) pages.push(await read(pages.at(-1).nextAfter));
    expect(pages.map(({ entries }) => entries.length)).toEqual([100, 100, 30, 0]);
    const seen = pages.flatMap(({ entries }) => entries.map(({ after }: { after: { name: string } }) => after.name));
    expect(seen).toEqual(names);
  });

  it('shows no entry before an earlier one that is not yet committed, so that a reader misses none', async () => {
    const begin = await end();
    const { merchantId } = (await admin('POST', '/admin/v1/merchants', { name: 'Merchant' })).body;
    const author = { actor: 'admin:slow', requestId: 'slow' };
    const slow = test.dataSource.createQueryRunner();
    await slow.startTransaction();
    await test.service.app
      .get(AuditLog)
      .append(slow.manager, author, { action: 'merchant.renamed', merchantId, after: { name: 'Slow' } });

    let answered = false;
    const overtaking = admin('PATCH', `/admin/v1/merchants/${merchantId}`, { name: 'Fast' }).finally(() => {
      answered = true;
    });
    await waitUntil('the other change to wait or to have overtaken', 5_000, async () => {
      const waiting = await test.dataSource.query<unknown[]>(
        `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      return answered || waiting.length > 0;
    });
    const meanwhile = await read(begin);
    await slow.commitTransaction();
    await slow.release();
    await overtaking;

    const namesOf = ({ entries }: { entries: { after: { name: string } }[] }) => entries.map(({ after }) => after.name);
    expect(namesOf(meanwhile)).toEqual(['Merchant']);
    expect(namesOf(await read(meanwhile.nextAfter))).toEqual(['Slow', 'Fast']);
  });

  it.each(['x', '-1', '1.5', '1&after=2'])('rejects %j as after', async (after) => {
    const answer = await admin('GET', `/admin/v1/audit-log?after=${after}`);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ field: 'after' }] } });
  });
});
