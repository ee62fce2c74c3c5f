import { type HostedPaymentSnapshot, notificationFields } from '@svc/contracts';
import { newPaymentReference, notificationIdOf } from '@svc/kernel';
import { openTransaction, planOf, waitUntil } from '@svc/testing';
import { buildPayment, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { createOtherCallers, OTHER_CALLERS } from '../../test/merchants.js';
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
  merchant = await gateway.createMerchant();
});

interface Page {
  notifications: { id: string; notification: { paymentReference: string; paymentStatus: string } }[];
  after?: string;
  hasMore: boolean;
}

async function read(after?: string, caller = merchant): Promise<Page> {
  const query = after === undefined ? '' : `?after=${after}`;
  const { status, body } = await gateway.call('GET', `/api/v3.1/notifications${query}`, { headers: caller.headers });
  expect(status).toBe(200);
  return body as Page;
}

interface FeedContent {
  /** Payment references of the notifications. */
  references: string[];
  /** Cursor after the last page. */
  after: string | undefined;
  /** Number of pages. */
  pages: number;
}

/** Reads all pages after a cursor, as a merchant does after an outage. */
async function readAll(after?: string): Promise<FeedContent> {
  const references: string[] = [];
  let pages = 0;
  for (let hasMore = true; hasMore; pages++) {
    const page = await read(after);
    references.push(...page.notifications.map(({ notification }) => notification.paymentReference));
    ({ after, hasMore } = page);
  }
  return { references, after, pages };
}

/**
 * Reads all pages repeatedly until they contain `count` notifications. Any open transaction on the server delays new
 * notifications.
 */
const readUntil = (count: number, after?: string): Promise<FeedContent> =>
  waitUntil(`${count} notifications in the feed`, 20_000, async () => {
    const content = await readAll(after);
    return content.references.length >= count ? content : undefined;
  });

/** Builds a payment of this session, or of a new session. */
async function createPayment(
  overrides: Partial<HostedPaymentSnapshot> & { version?: number } = {},
  sessionId?: string,
): Promise<HostedPaymentSnapshot> {
  const payable = await gateway.findPublishedPayable(sessionId ?? (await gateway.createSession(merchant)));
  return buildPayment(payable, { version: 3, ...overrides });
}

test('the feed contains each final payment once, oldest first, with the id and the body of its webhook', async () => {
  const first = await createPayment();
  const second = await createPayment({ state: 'failed' });
  const processing = await createPayment({ state: 'processing', version: 2 });
  await sessions.upsertPayments([processing]);
  await sessions.upsertPayments([first]);
  await sessions.upsertPayments([second]);
  await sessions.upsertPayments([first]);

  await readUntil(2);
  const page = await read();
  expect(page).toMatchObject({ hasMore: false, status: 'Success', errors: [] });
  expect(page.notifications).toEqual(
    [first, second].map((payment) => ({ id: notificationIdOf(payment), notification: notificationFields(payment) })),
  );
  expect(await read(page.after)).toEqual({
    notifications: [],
    after: page.after,
    hasMore: false,
    status: 'Success',
    errors: [],
  });

  const succeeded = {
    ...processing,
    state: 'success' as const,
    payable: { ...processing.payable, state: 'paid' as const, version: 3 },
  };
  await sessions.upsertPayments([succeeded]);
  expect((await readUntil(1, page.after)).references).toEqual([processing.paymentReference]);
});

test('an empty feed is an empty page without a cursor, so that the next call starts from the beginning again', async () => {
  expect(await read()).toEqual({ notifications: [], hasMore: false, status: 'Success', errors: [] });
});

test('the feed has pages of 100 notifications, and each cursor leads to the next page', async () => {
  const payable = await gateway.findPublishedPayable(await gateway.createSession(merchant));
  const payments = Array.from({ length: 250 }, () =>
    buildPayment(payable, { state: 'failed', version: 3, paymentReference: newPaymentReference(new Date()) }),
  );
  for (let i = 0; i < payments.length; i += 25) await sessions.upsertPayments(payments.slice(i, i + 25));
  const { references, pages, after } = await readUntil(250);
  expect(pages).toBe(3);
  expect(new Set(references)).toEqual(new Set(payments.map(({ paymentReference }) => paymentReference)));
  expect(references).toHaveLength(250);
  expect((await read(after)).notifications).toEqual([]);
});

test('the query of the feed reads a page in the order of an index, without sorting', async () => {
  const { dataSource } = gateway;
  const plan = await planOf(dataSource, () => readFeed(dataSource, { ...merchant, mode: 'test' }, undefined));
  expect(plan).toMatch(
    /^Limit .*\n\s+->  Index Scan using hosted_payments_feed_of_site on hosted_payments notified .*\n\s+Index Cond: .*ROW\(feed_txid, feed_position\) > ROW\(/,
  );
});

test('the feed skips no notification if the transaction that began first commits last', async () => {
  const [first, second] = [await createPayment(), await createPayment()];
  await using transaction = await openTransaction(gateway.dataSource);
  await transaction.query(
    `INSERT INTO hosted_payments (payment_reference, session_id, snapshot, accepted_at, version) VALUES ($1, $2, $3, now(), 3)`,
    [first.paymentReference, first.source.sessionId, JSON.stringify(first)],
  );
  await sessions.upsertPayments([second]);
  // The second payment is committed, but not in the feed until the transaction that began first has ended.
  const meanwhile = await readAll();
  expect(meanwhile.references).toEqual([]);
  await transaction.commit();
  expect((await readUntil(2, meanwhile.after)).references).toEqual([first.paymentReference, second.paymentReference]);
});

test('a client that reads while payments are stored receives every notification exactly once', async () => {
  const payments = await Promise.all(Array.from({ length: 60 }, () => createPayment()));
  let isWriting = true;
  const receivedReferences: string[] = [];
  let after: string | undefined;
  const readNext = async (): Promise<void> => {
    const page = await readAll(after);
    receivedReferences.push(...page.references);
    after = page.after;
  };
  const reading = (async () => {
    while (isWriting) await readNext();
  })();
  await Promise.all(payments.map((payment) => sessions.upsertPayments([payment])));
  isWriting = false;
  await reading;
  await waitUntil('all notifications', 20_000, async () => {
    await readNext();
    return receivedReferences.length >= 60;
  });
  expect(receivedReferences).toHaveLength(60);
  expect(new Set(receivedReferences)).toEqual(new Set(payments.map(({ paymentReference }) => paymentReference)));
});

test('the feed omits a failed payment after its session was paid', async () => {
  const sessionId = await gateway.createSession(merchant);
  const failed = await createPayment({ state: 'failed', version: 3 }, sessionId);
  await sessions.upsertPayments([failed]);
  const before = await readUntil(1);
  expect(before.references).toEqual([failed.paymentReference]);
  const paid = await createPayment({ version: 5 }, sessionId);
  await sessions.upsertPayments([paid]);
  expect((await readUntil(1, before.after)).references).toEqual([paid.paymentReference]);
  expect((await readAll()).references).toEqual([paid.paymentReference]);
});

describe('access to the feed:', () => {
  test.each(OTHER_CALLERS)('%s reads only its own payments', async (callerKind) => {
    const other = (await createOtherCallers(merchant, (site) => gateway.createMerchant(site)))[callerKind];
    await sessions.upsertPayments([await createPayment()]);
    const { after } = await readUntil(1);
    for (const key of [other.siteKey, other.merchantKey]) {
      const caller = { ...other, headers: { ...other.headers, 'x-api-key': key } };
      expect([(await read(undefined, caller)).notifications, (await read(after, caller)).notifications]).toEqual([
        [],
        [],
      ]);
    }
    const ownPayment = buildPayment(await gateway.findPublishedPayable(await gateway.createSession(other)), {
      version: 3,
    });
    await sessions.upsertPayments([ownPayment]);
    const page = await waitUntil('its own payment', 20_000, async () => {
      const currentPage = await read(undefined, other);
      return currentPage.notifications.length > 0 ? currentPage : undefined;
    });
    expect(page.notifications.map(({ notification }) => notification.paymentReference)).toEqual([
      ownPayment.paymentReference,
    ]);
  });

  test('a caller without a key is rejected', async () => {
    expect((await gateway.call('GET', '/api/v3.1/notifications')).status).toBe(401);
  });
});

test('a caller with merchantId and siteId but no key can neither read the feed nor cancel a session (A8)', async () => {
  const keyless = await gateway.createMerchant({ requireApiKey: false, allowedHosts: ['shop.example'] });
  const headers = { merchantid: String(keyless.merchantId), merchantsiteid: String(keyless.siteId) };
  const sessionId = await gateway.createSession(keyless);
  expect((await gateway.call('GET', '/api/v3.1/notifications', { headers })).status).toBe(401);
  expect((await gateway.call('DELETE', `/api/v3.1/sessions/${sessionId}`, { headers })).status).toBe(401);
  expect((await gateway.call('GET', `/api/v3.1/payments?sessionId=${sessionId}`, { headers })).status).toBe(200);
  expect((await gateway.call('GET', '/api/v3.1/notifications', { headers: keyless.headers })).status).toBe(200);
});

test('an empty parameter `after` reads from the beginning, and an empty feed returns no cursor', async () => {
  const merchantWithoutPayments = await gateway.createMerchant();
  expect(await read('', merchantWithoutPayments)).toEqual(await read(undefined, merchantWithoutPayments));
  expect(await read('', merchantWithoutPayments)).not.toHaveProperty('after');
});

test.each(['nonsense', 'a'.repeat(3_000), 'MS4xLjE&after=MS4xLjE'])(
  'a request with after=%s is rejected with 400 and an error that names the parameter',
  async (after) => {
    const { status, body } = await gateway.call('GET', `/api/v3.1/notifications?after=${after}`, {
      headers: merchant.headers,
    });
    expect([status, body.status]).toEqual([400, 'BadRequest']);
    expect(body.errors[0].message).toContain('after');
  },
);
