import { newSealedKeyPair } from '@svc/auth';
import { PaymentProcessorAdministeredV1, SealingKeyPublishedV1 } from '@svc/contracts';
import { anEvent, httpClient, openTransaction, type TestService, waitUntil } from '@svc/testing';
import { ADMIN_KEY, startIdentity } from '../../test/identity.js';
import { AuditLog } from './audit-log.js';

describe('the audit log', () => {
  let identity: TestService;
  let admin: ReturnType<typeof httpClient>;

  beforeAll(async () => {
    identity = await startIdentity();
    admin = httpClient(identity.service, { 'x-admin-key': ADMIN_KEY });
    const { publicJwk } = await newSealedKeyPair('dispatcher-1', Buffer.alloc(32, 1).toString('base64url'));
    await identity.deliver(anEvent(SealingKeyPublishedV1, 'dispatcher-1', 1, { publicJwk }));
  });
  afterAll(() => identity.stop());

  const readPage = async (after: number) => (await admin('GET', `/admin/v1/audit-log?after=${after}`)).body;
  const findLastId = async () => {
    let after = 0;
    for (let page = await readPage(after); page.entries.length > 0; page = await readPage(after))
      after = page.nextAfter;
    return after;
  };

  it('contains an entry for every change, with actor, time, request, and the values before and after the change', async () => {
    const lastIdBefore = await findLastId();
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

    const { entries, nextAfter } = await readPage(lastIdBefore);
    const [entry] = entries;
    expect(entry).toEqual({
      entryId: entry.entryId,
      service: 'identity',
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
      challengePayers: false,
    };
    const extractPrefix = (apiKey: string) => /^svc_[a-z]+_[a-z]+_.{6}/.exec(apiKey)![0];
    const keyFields = (kind: string, mode: string, apiKey: string) => ({
      kind,
      mode,
      prefix: extractPrefix(apiKey),
      primary: true,
    });
    const entryFields = entries.map(({ action, siteId, credentialId, before, after }: Record<string, unknown>) => [
      action,
      siteId,
      credentialId,
      before,
      after,
    ]);
    const absent = undefined;
    expect(entryFields).toEqual([
      ['merchant.created', absent, absent, absent, { name: 'Merchant' }],
      ['merchant.renamed', absent, absent, { name: 'Merchant' }, { name: 'Renamed' }],
      ['site.created', siteId, absent, absent, settings],
      ['webhook-secret.created', siteId, expect.any(String), absent, { mode: 'test' }],
      ['webhook-secret.created', siteId, expect.any(String), absent, { mode: 'live' }],
      [
        'site.changed',
        siteId,
        absent,
        { requireApiKey: true, allowedHosts: [] },
        { requireApiKey: false, allowedHosts: ['shop.example'] },
      ],
      ['api-key.created', siteId, first.keyId, absent, keyFields('site', 'test', first.apiKey)],
      ['api-key.no-longer-primary', siteId, first.keyId, { primary: true }, { primary: false }],
      ['api-key.created', siteId, second.keyId, absent, keyFields('site', 'test', second.apiKey)],
      ['api-key.revoked', siteId, second.keyId, { revoked: false, primary: true }, { revoked: true, primary: false }],
      ['api-key.made-primary', siteId, first.keyId, { primary: false }, { primary: true }],
      ['api-key.created', absent, merchantKey.keyId, absent, keyFields('merchant', 'live', merchantKey.apiKey)],
      ['webhook-secret.created', siteId, secret.secretId, absent, { mode: 'test' }],
      ['webhook-secret.revoked', siteId, secret.secretId, { revoked: false }, { revoked: true }],
    ]);
    expect(JSON.stringify(entries)).not.toContain(ADMIN_KEY);
  });

  it('contains no entry for a rejected request, or for a request that changes nothing', async () => {
    const { merchantId } = (await admin('POST', '/admin/v1/merchants', { name: 'Merchant' })).body;
    const merchant = `/admin/v1/merchants/${merchantId}`;
    await admin('POST', `${merchant}/sites`, { name: 'Shop', siteReference: 'SHOP' });
    const lastIdBefore = await findLastId();
    await admin('PATCH', merchant, { name: 'Merchant' });
    await admin('POST', `${merchant}/sites`, { name: 'Shop', siteReference: 'SHOP' });
    await admin('POST', `${merchant}/sites`, { name: '' });
    await admin('POST', `${merchant}/keys`, { mode: '?' });
    await admin('DELETE', `${merchant}/keys/00000000-0000-7000-8000-000000000000`);
    expect(await readPage(lastIdBefore)).toEqual({ entries: [], nextAfter: lastIdBefore });
  });

  it('contains what administrators did in other services, once for each event, also for an unknown merchant', async () => {
    const lastIdBefore = await findLastId();
    const actions = [1, 2].map((version) =>
      anEvent(PaymentProcessorAdministeredV1, `action ${version}`, 1, {
        action: 'merchant-account.set',
        actor: 'admin:0123456789abcdef',
        requestId: `request-${version}`,
        merchantId: 999_999,
        siteId: 17,
        credentialId: '01890000-0000-7000-8000-000000000000',
        before: { accountReference: 'MID-1' },
        after: { accountReference: 'MID-2' },
      }),
    );
    await identity.deliver(...actions);
    await identity.deliver(...actions);
    const { entries } = await readPage(lastIdBefore);
    expect(entries).toEqual(
      [1, 2].map((version) => ({
        entryId: expect.any(Number),
        changedUTCDate: actions[version - 1]!.occurredAt,
        service: 'payment-processor',
        actor: 'admin:0123456789abcdef',
        requestId: `request-${version}`,
        action: 'merchant-account.set',
        merchantId: 999_999,
        siteId: 17,
        credentialId: '01890000-0000-7000-8000-000000000000',
        before: { accountReference: 'MID-1' },
        after: { accountReference: 'MID-2' },
      })),
    );
  });

  it.each([
    ['UPDATE', `UPDATE audit_log SET actor = 'admin:other'`],
    ['DELETE', `DELETE FROM audit_log`],
    ['TRUNCATE', `TRUNCATE audit_log`],
  ])('rejects the statement %s, even of a database superuser', async (_, statement) => {
    await admin('POST', '/admin/v1/merchants', { name: 'Merchant' });
    const before = await readPage(0);
    expect(before.entries).not.toEqual([]);
    await expect(identity.superuser.query(statement)).rejects.toThrow('append-only');
    expect(await readPage(0)).toEqual(before);
  });

  it('is read in pages of 100 entries', async () => {
    const lastIdBefore = await findLastId();
    const names = Array.from({ length: 230 }, (_, i) => `Merchant ${i}`);
    for (const name of names) await admin('POST', '/admin/v1/merchants', { name });
    const pages = [await readPage(lastIdBefore)];
    while (pages.at(-1).entries.length > 0) pages.push(await readPage(pages.at(-1).nextAfter));
    expect(pages.map(({ entries }) => entries.length)).toEqual([100, 100, 30, 0]);
    const readNames = pages.flatMap(({ entries }) =>
      entries.map(({ after }: { after: { name: string } }) => after.name),
    );
    expect(readNames).toEqual(names);
  });

  it('does not show an entry before all earlier entries are committed, so that a reader misses no entry', async () => {
    const lastIdBefore = await findLastId();
    const { merchantId } = (await admin('POST', '/admin/v1/merchants', { name: 'Merchant' })).body;
    const author = { actor: 'admin:slow', requestId: 'slow' };
    await using slowTransaction = await openTransaction(identity.dataSource);
    await identity.service.app
      .get(AuditLog)
      .append(slowTransaction.manager, author, { action: 'merchant.renamed', merchantId, after: { name: 'Slow' } });

    let hasResponse = false;
    const concurrentChange = admin('PATCH', `/admin/v1/merchants/${merchantId}`, { name: 'Fast' }).finally(() => {
      hasResponse = true;
    });
    await waitUntil('the other change to wait for the lock, or to be committed', 5_000, async () => {
      const waiting = await identity.dataSource.query<unknown[]>(
        `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      return hasResponse || waiting.length > 0;
    });
    const pageBeforeCommit = await readPage(lastIdBefore);
    await slowTransaction.commit();
    await concurrentChange;

    const extractNames = ({ entries }: { entries: { after: { name: string } }[] }) =>
      entries.map(({ after }) => after.name);
    expect(extractNames(pageBeforeCommit)).toEqual(['Merchant']);
    expect(extractNames(await readPage(pageBeforeCommit.nextAfter))).toEqual(['Slow', 'Fast']);
  });

  it.each(['x', '-1', '1.5', '1&after=2'])('rejects %j as the query parameter "after"', async (after) => {
    const response = await admin('GET', `/admin/v1/audit-log?after=${after}`);
    expect(response).toMatchObject({ status: 400, body: { errors: [{ field: 'after' }] } });
  });
});
