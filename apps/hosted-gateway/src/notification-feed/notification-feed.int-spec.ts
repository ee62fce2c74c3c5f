import { type HostedPaymentSnapshot, notificationFields } from '@svc/contracts';
import { newPaymentReference, notificationIdOf } from '@svc/kernel';
import { planOf, waitUntil } from '@svc/testing';
import { aPayment, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { STRANGERS, strangersTo } from '../../test/merchants.js';
import { SessionRepository } from '../sessions/session.repository.js';
import { readFeed } from './read-feed.query.js';

let gateway: Gateway;
let merchant: Merchant;
let sessions: SessionRepository;
beforeAll(async () => {
  gateway = await startGateway();
  sessions = gateway.service.app.get(SessionRepository);
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  merchant = await gateway.aMerchant();
});

interface Page {
  notifications: { id: string; notification: { paymentReference: string; paymentStatus: string } }[];
  after?: string;
  hasMore: boolean;
}

async function read(after?: string, of = merchant): Promise<Page> {
  const query = after === undefined ? '' : `?after=${after}`;
  const { status, body } = await gateway.call('GET', `/api/v3.1/notifications${query}`, { headers: of.headers });
  expect(status).toBe(200);
  return body as Page;
}

interface Told {
  told: string[];
  after: string | undefined;
  pages: number;
}

/** All notifications after a cursor, as a merchant reads them after an outage. */
async function readAll(after?: string): Promise<Told> {
  const told: string[] = [];
  let pages = 0;
  for (let hasMore = true; hasMore; pages++) {
    const page = await read(after);
    told.push(...page.notifications.map(({ notification }) => notification.paymentReference));
    ({ after, hasMore } = page);
  }
  return { told, after, pages };
}

/** The same, once there are `count` of them: any open transaction on this server may delay them for a moment. */
const readOnce = (count: number, after?: string): Promise<Told> =>
  waitUntil(`${count} in the feed`, 20_000, async () => {
    const all = await readAll(after);
    return all.told.length >= count ? all : undefined;
  });

async function payment(
  change: Partial<HostedPaymentSnapshot> & { version?: number } = {},
  sessionId?: string,
): Promise<HostedPaymentSnapshot> {
  const payable = await gateway.payableOf(sessionId ?? (await gateway.createSession(merchant)));
  return aPayment(payable, { version: 3, ...change });
}

test('the feed has each final payment once, oldest first, with the id and the body of its webhook', async () => {
  const first = await payment();
  const second = await payment({ state: 'failed' });
  const processing = await payment({ state: 'processing', version: 2 });
  await sessions.upsertPayments([processing]);
  await sessions.upsertPayments([first]);
  await sessions.upsertPayments([second]);
  await sessions.upsertPayments([first]);

  await readOnce(2);
  const page = await read();
  expect(page).toMatchObject({ hasMore: false, status: 'Success', errors: [] });
  expect(page.notifications).toEqual(
    [first, second].map((one) => ({ id: notificationIdOf(one), notification: notificationFields(one) })),
  );
  expect(await read(page.after)).toEqual({
    notifications: [],
    after: page.after,
    hasMore: false,
    status: 'Success',
    errors: [],
  });

  const done = {
    ...processing,
    state: 'success' as const,
    payable: { ...processing.payable, state: 'paid' as const, version: 3 },
  };
  await sessions.upsertPayments([done]);
  expect((await readOnce(1, page.after)).told).toEqual([processing.paymentReference]);
});

test('an empty feed is an empty page without a cursor; the next call starts from the beginning again', async () => {
  expect(await read()).toEqual({ notifications: [], hasMore: false, status: 'Success', errors: [] });
});

test('the feed has pages of 100, and continues after any of them', async () => {
  const payable = await gateway.payableOf(await gateway.createSession(merchant));
  const payments = Array.from({ length: 250 }, () =>
    aPayment(payable, { state: 'failed', version: 3, paymentReference: newPaymentReference(new Date()) }),
  );
  for (let i = 0; i < payments.length; i += 25) await sessions.upsertPayments(payments.slice(i, i + 25));
  const { told, pages, after } = await readOnce(250);
  expect(pages).toBe(3);
  expect(new Set(told)).toEqual(new Set(payments.map(({ paymentReference }) => paymentReference)));
  expect(told).toHaveLength(250);
  expect((await read(after)).notifications).toEqual([]);
});

test('the feed reads a page directly in the order of the index', async () => {
  const { dataSource } = gateway;
  const plan = await planOf(dataSource, () => readFeed(dataSource, { ...merchant, mode: 'test' }, undefined));
  expect(plan).toMatch(
    /^Limit .*\n\s+->  Index Scan using hosted_payments_feed_of_site on hosted_payments told .*\n\s+Index Cond: .*ROW\(feed_txid, feed_position\) > ROW\(/,
  );
});

test('the feed skips nothing if the first write commits last', async () => {
  const [early, late] = [await payment(), await payment()];
  const slow = gateway.dataSource.createQueryRunner();
  await slow.startTransaction();
  await slow.query(
    `INSERT INTO hosted_payments (payment_reference, session_id, snapshot, accepted_at, version) VALUES ($1, $2, $3, now(), 3)`,
    [early.paymentReference, early.source.sessionId, JSON.stringify(early)],
  );
  await sessions.upsertPayments([late]);
  // The later one is committed, but not listed until the earlier transaction ends.
  const meanwhile = await readAll();
  expect(meanwhile.told).toEqual([]);
  await slow.commitTransaction();
  await slow.release();
  expect((await readOnce(2, meanwhile.after)).told).toEqual([early.paymentReference, late.paymentReference]);
});

test('concurrent reads and writes: every notification is read exactly once', async () => {
  const payments = await Promise.all(Array.from({ length: 60 }, () => payment()));
  let writing = true;
  const seen: string[] = [];
  let after: string | undefined;
  const look = async (): Promise<void> => {
    const page = await readAll(after);
    seen.push(...page.told);
    after = page.after;
  };
  const reading = (async () => {
    while (writing) await look();
  })();
  await Promise.all(payments.map((one) => sessions.upsertPayments([one])));
  writing = false;
  await reading;
  await waitUntil('the last of them', 20_000, async () => {
    await look();
    return seen.length >= 60;
  });
  expect(seen).toHaveLength(60);
  expect(new Set(seen)).toEqual(new Set(payments.map(({ paymentReference }) => paymentReference)));
});

test('the feed omits a Failed after its session was paid', async () => {
  const sessionId = await gateway.createSession(merchant);
  const failed = await payment({ state: 'failed', version: 3 }, sessionId);
  await sessions.upsertPayments([failed]);
  const before = await readOnce(1);
  expect(before.told).toEqual([failed.paymentReference]);
  const paid = await payment({ version: 5 }, sessionId);
  await sessions.upsertPayments([paid]);
  expect((await readOnce(1, before.after)).told).toEqual([paid.paymentReference]);
  expect((await readAll()).told).toEqual([paid.paymentReference]);
});

describe('a feed contains only payments of the calling site and mode', () => {
  test.each(STRANGERS)('%s reads its own payments', async (stranger) => {
    const other = (await strangersTo(merchant, (site) => gateway.aMerchant(site)))[stranger];
    await sessions.upsertPayments([await payment()]);
    const { after } = await readOnce(1);
    for (const key of [other.siteKey, other.merchantKey]) {
      const caller = { ...other, headers: { ...other.headers, 'x-api-key': key } };
      expect([(await read(undefined, caller)).notifications, (await read(after, caller)).notifications]).toEqual([
        [],
        [],
      ]);
    }
    const own = aPayment(await gateway.payableOf(await gateway.createSession(other)), { version: 3 });
    await sessions.upsertPayments([own]);
    const page = await waitUntil('its own', 20_000, async () => {
      const one = await read(undefined, other);
      return one.notifications.length > 0 ? one : undefined;
    });
    expect(page.notifications.map(({ notification }) => notification.paymentReference)).toEqual([own.paymentReference]);
  });

  test('a caller without a key is rejected', async () => {
    expect((await gateway.call('GET', '/api/v3.1/notifications')).status).toBe(401);
  });
});

test('merchantId and siteId without a key can neither read it nor cancel a session (A8)', async () => {
  const keyless = await gateway.aMerchant({ requireApiKey: false, allowedHosts: ['shop.example'] });
  const headers = { merchantid: String(keyless.merchantId), merchantsiteid: String(keyless.siteId) };
  const sessionId = await gateway.createSession(keyless);
  expect((await gateway.call('GET', '/api/v3.1/notifications', { headers })).status).toBe(401);
  expect((await gateway.call('DELETE', `/api/v3.1/sessions/${sessionId}`, { headers })).status).toBe(401);
  expect((await gateway.call('GET', `/api/v3.1/payments?sessionId=${sessionId}`, { headers })).status).toBe(200);
  expect((await gateway.call('GET', '/api/v3.1/notifications', { headers: keyless.headers })).status).toBe(200);
});

test('an empty `after` starts from the beginning, and an empty feed returns no cursor', async () => {
  const nobody = await gateway.aMerchant();
  expect(await read('', nobody)).toEqual(await read(undefined, nobody));
  expect(await read('', nobody)).not.toHaveProperty('after');
});

test.each(['nonsense', 'a'.repeat(3_000), 'MS4xLjE&after=MS4xLjE'])(
  'after=%s is rejected with the name of the parameter',
  async (after) => {
    const { status, body } = await gateway.call('GET', `/api/v3.1/notifications?after=${after}`, {
      headers: merchant.headers,
    });
    expect([status, body.status]).toEqual([400, 'BadRequest']);
    expect(body.errors[0].message).toContain('after');
  },
);
