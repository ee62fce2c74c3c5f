/** Tests the access to a stream, resuming with an id, the limits of readers, and a client that does not read. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { PassThrough } from 'node:stream';
import { PaymentSucceededV1 } from '@svc/contracts';
import { anEvent, paymentEvent, planOf, waitUntil } from '@svc/testing';
import {
  createMerchant,
  getKeyId,
  type Merchant,
  newPaymentAt,
  type Retrieval,
  startRetrieval,
} from '../../test/retrieval.js';
import { listenOnFreePort, readStream, type StreamReader } from '../../test/stream-reader.js';
import { type Channel, encodeEventId } from './event-id.js';
import { NotificationRepository } from './notification.repository.js';
import { PaymentStreams } from './payment-streams.js';

const DAY_MS = 86_400_000;
const MAX_PER_KEY = 3;
const MAX_PER_REPLICA = 5;

let retrieval: Retrieval;
let url: string;
let merchant: Merchant;
const openedReaders: StreamReader[] = [];
beforeAll(async () => {
  retrieval = await startRetrieval({
    SVC_STREAM_READERS_PER_KEY: String(MAX_PER_KEY),
    SVC_STREAM_READERS: String(MAX_PER_REPLICA),
  });
  url = await listenOnFreePort(retrieval.service);
});
afterAll(() => retrieval.stop());
beforeEach(async () => (merchant = await createMerchant(retrieval)));
afterEach(async () => {
  const closing = openedReaders.splice(0);
  closing.forEach(({ disconnect }) => disconnect());
  await Promise.all(closing.map(({ closed }) => closed));
});

const streamPath = (merchantId: unknown, siteId: unknown) =>
  `/${String(merchantId)}/sites/${String(siteId)}/payments/stream`;
const sitePath = (nth: 0 | 1 = 0) => streamPath(merchant.merchantId, merchant.sites[nth]);
const siteChannel = (overrides: Partial<Channel> = {}): Channel => ({
  merchantId: merchant.merchantId,
  siteId: merchant.sites[0],
  mode: 'test',
  ...overrides,
});
async function openStream(
  apiKey = merchant.keys.merchant,
  lastEventId?: string,
  path = sitePath(),
): Promise<StreamReader> {
  const headers = { 'x-api-key': apiKey, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) };
  const reader = await readStream(`${url}${path}`, headers);
  if (reader.response.statusCode === 200) openedReaders.push(reader);
  else await reader.closed;
  return reader;
}
const requestStatus = async (apiKey?: string, lastEventId?: string, path?: string) =>
  (await openStream(apiKey, lastEventId, path)).response.statusCode;
const newPayments = (count: number) =>
  Array.from({ length: count }, () => newPaymentAt(merchant, retrieval.clock.now()));
const newEvent = (payment = newPayments(1)[0]!) => ({ ...paymentEvent(payment), occurredAt: retrieval.clock.nowISO() });
const countNotifications = async () =>
  (
    await retrieval.dataSource.query<[{ count: number }]>('SELECT count(*) FROM notifications WHERE merchant_id = $1', [
      merchant.merchantId,
    ])
  )[0].count;

describe('access to a stream (A7)', () => {
  test('the keys that may look up the payments of the site can read its stream', async () => {
    const otherMerchant = await createMerchant(retrieval);
    expect(await requestStatus(merchant.keys.merchant)).toBe(200);
    expect(await requestStatus(merchant.keys['site 1'])).toBe(200);
    expect(await requestStatus(merchant.keys.live)).toBe(200);
    expect(await requestStatus(merchant.keys['site 2'])).toBe(403);
    expect(await requestStatus(otherMerchant.keys.merchant)).toBe(403);
    expect(await requestStatus(merchant.keys.revoked)).toBe(401);
    expect(await requestStatus('none')).toBe(401);
    // The site of another merchant does not exist under the caller's merchant id.
    expect(
      await requestStatus(
        otherMerchant.keys.merchant,
        undefined,
        streamPath(otherMerchant.merchantId, merchant.sites[0]),
      ),
    ).toBe(404);
    expect(await requestStatus(merchant.keys.merchant, undefined, streamPath('x', 'y'))).toBe(400);
  });

  test('a stream contains only payments of its site, in the mode of the key', async () => {
    const live = await openStream(merchant.keys.live);
    const second = await openStream(merchant.keys.merchant, undefined, sitePath(1));
    const now = retrieval.clock.now();
    const events = [
      newPaymentAt(merchant, now),
      newPaymentAt(merchant, now, { siteId: merchant.sites[1] }),
      newPaymentAt(merchant, now, { mode: 'live' }),
    ].map((payment) => paymentEvent(payment));
    await retrieval.deliver(...events);
    await waitUntil('an event on each stream', 5_000, async () => live.events.length > 0 && second.events.length > 0);
    const referenceOf = (nth: number) => events[nth]!.payload.paymentReference;
    expect(live.events.map(({ data }) => data.paymentReference)).toEqual([referenceOf(2)]);
    expect(second.events.map(({ data }) => data.paymentReference)).toEqual([referenceOf(1)]);
  });
});

describe('a Last-Event-ID', () => {
  test('causes a 400 if it is malformed, or belongs to another site, mode or merchant', async () => {
    const otherChannels = [
      { siteId: merchant.sites[1] },
      { mode: 'live' as const },
      { merchantId: merchant.merchantId + 1 },
    ];
    const ids = ['x', '0', ...otherChannels.map((other) => encodeEventId(siteChannel(other), 0))];
    for (const id of ids) {
      const { response, text } = await openStream(merchant.keys.merchant, id);
      expect([id, response.statusCode]).toEqual([id, 400]);
      expect(JSON.parse(text)).toMatchObject({ errors: [{ field: 'Last-Event-ID' }] });
    }
    expect(await requestStatus(merchant.keys.merchant, encodeEventId(siteChannel(), 0))).toBe(200);
    // The position of this id does not exist yet. Such an id may come from the time before a restore of the database.
    expect(await requestStatus(merchant.keys.merchant, encodeEventId(siteChannel(), 1))).toBe(410);
  });

  test('causes a 410 if later notifications were deleted, but the id of the last deleted notification is accepted', async () => {
    const notifications = retrieval.service.app.get(NotificationRepository);
    const reader = await openStream();
    const [first, second] = [newEvent(), newEvent()];
    await retrieval.deliver(first, second);
    await waitUntil('two events', 5_000, async () => reader.events.length === 2);
    const [firstId, secondId] = reader.events.map(({ id }) => id) as [string, string];

    retrieval.clock.advance(4 * DAY_MS);
    while (await notifications.deleteExpired());
    expect([await countNotifications(), await requestStatus(merchant.keys.merchant, firstId)]).toEqual([2, 200]);
    retrieval.clock.advance(1);
    while (await notifications.deleteExpired());
    expect(await countNotifications()).toBe(0);
    expect(await requestStatus(merchant.keys.merchant, firstId)).toBe(410);
    expect(await requestStatus(merchant.keys.merchant, secondId)).toBe(200);

    // A replay of the events does not create the deleted notifications again.
    await retrieval.deliver(first, second);
    expect(await countNotifications()).toBe(0);
    const late = newEvent();
    await retrieval.deliver(late);
    await waitUntil('the new event', 5_000, async () => reader.events.length === 3);
    expect(reader.events[2]!.data.paymentReference).toBe(late.payload.paymentReference);
  });

  test('causes a 410 if the reader was disconnected because its next notifications were deleted', async () => {
    const streams = retrieval.service.app.get(PaymentStreams);
    const out = (await streams.open(
      siteChannel(),
      { keyId: await getKeyId(retrieval, merchant.keys.merchant) } as never,
      undefined,
    )) as PassThrough;
    await retrieval.dataSource.query(
      `INSERT INTO notification_positions (merchant_id, site_id, mode, newest, removed) VALUES ($1, $2, 'test', 9, 5)`,
      [merchant.merchantId, merchant.sites[0]],
    );
    await waitUntil('the end', 5_000, async () => out.destroyed);
    expect(await requestStatus(merchant.keys.merchant, encodeEventId(siteChannel(), 4))).toBe(410);
    expect(await requestStatus(merchant.keys.merchant, encodeEventId(siteChannel(), 5))).toBe(200);
  });
});

test('an event creates a notification only if it is at most three days old', async () => {
  const timeAgo = (ms: number) => retrieval.clock.later(-ms).toISOString();
  const [newEnough, tooOld] = newPayments(2).map((payment) =>
    anEvent(PaymentSucceededV1, payment.reference, 2, payment),
  );
  await retrieval.deliver({ ...tooOld!, occurredAt: timeAgo(3 * DAY_MS + 1) });
  expect(await countNotifications()).toBe(0);
  await retrieval.deliver({ ...newEnough!, occurredAt: timeAgo(3 * DAY_MS) });
  expect(await countNotifications()).toBe(1);
});

describe('limits on the number of readers', () => {
  test('a key with too many readers gets a 429 with Retry-After, until one of its readers disconnects', async () => {
    const readers = await Promise.all(Array.from({ length: MAX_PER_KEY + 1 }, () => openStream()));
    const refused = readers.filter(({ response }) => response.statusCode !== 200);
    expect(refused.map(({ response }) => [response.statusCode, response.headers['retry-after']])).toEqual([[429, '5']]);
    expect(await requestStatus(merchant.keys['site 1'])).toBe(200);
    readers.find(({ response }) => response.statusCode === 200)!.disconnect();
    await waitUntil('a free slot', 5_000, async () => (await requestStatus()) === 200);
  });

  test('a replica with too many readers responds with a 503 and Retry-After to any key', async () => {
    const otherMerchant = await createMerchant(retrieval);
    for (let nth = 0; nth < MAX_PER_REPLICA; nth++)
      expect(await requestStatus(nth < MAX_PER_KEY ? merchant.keys.merchant : merchant.keys['site 1'])).toBe(200);
    const { response } = await openStream(
      otherMerchant.keys.merchant,
      undefined,
      streamPath(otherMerchant.merchantId, otherMerchant.sites[0]),
    );
    expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '5']);
  });

  test('a HEAD request and a request with a rejected id do not count as readers', async () => {
    for (let nth = 0; nth <= MAX_PER_KEY; nth++) {
      const head = await fetch(`${url}${sitePath()}`, {
        method: 'HEAD',
        headers: { 'x-api-key': merchant.keys.merchant },
      });
      expect(head.status).toBe(200);
      expect(await requestStatus(merchant.keys.merchant, encodeEventId(siteChannel(), 7))).toBe(410);
    }
    await waitUntil('a free slot', 5_000, async () => (await requestStatus()) === 200);
  });
});

describe('a client that does not read its stream', () => {
  /** All notifications together are larger than the buffers of the kernel for both ends of a connection. */
  const [NOTIFICATIONS, NOTIFICATION_BYTES] = [1_700, 10_000];
  const insertNotifications = (first: number) =>
    retrieval.dataSource.query(
      `WITH positions AS (
         INSERT INTO notification_positions AS p (merchant_id, site_id, mode, newest) VALUES ($1, $2, 'test', $3)
         ON CONFLICT (merchant_id, site_id, mode) DO UPDATE SET newest = excluded.newest)
       INSERT INTO notifications (notification_id, merchant_id, site_id, mode, position, type, body, kept_since)
       SELECT gen_random_uuid(), $1, $2, 'test', position, 'payment', '{"p":"' || repeat('x', $4::int) || '"}', $5
         FROM generate_series($6::bigint, $3::bigint) AS position`,
      [
        ...[merchant.merchantId, merchant.sites[0], first + NOTIFICATIONS - 1, NOTIFICATION_BYTES],
        ...[retrieval.clock.now().toISOString(), first],
      ],
    );
  const connectTo = async (key: string): Promise<Socket> => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
    const path = new URL(`${url}${sitePath()}`).pathname;
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n\r\n`);
    await once(socket, 'data');
    return socket;
  };

  test('uses one buffer, is disconnected after 30 seconds, can resume with an id, and does not affect other readers', async () => {
    const openSpy = jest.spyOn(retrieval.service.app.get(PaymentStreams), 'open');
    const stalledSocket = await connectTo(merchant.keys.merchant);
    stalledSocket.pause();
    const out = (await openSpy.mock.results[0]!.value) as PassThrough;
    openSpy.mockRestore();
    const reader = await openStream();
    await waitUntil('the first bytes', 5_000, async () => reader.text !== '');
    await insertNotifications(1);
    await waitUntil('all events at the other reader', 20_000, async () => reader.events.length === NOTIFICATIONS);
    const bufferedBytes = () => out.writableLength + out.readableLength;
    await waitUntil('the buffer to be full', 10_000, async () => out.writableNeedDrain);
    // Each of the two buffers of 16 KiB may exceed its size by one notification.
    expect(bufferedBytes()).toBeLessThan(2 * (16 * 1024 + NOTIFICATION_BYTES + 1_000));

    retrieval.clock.advance(29_999);
    await waitUntil('the heartbeats of the other reader', 5_000, async () => reader.heartbeats > 0);
    expect(out.destroyed).toBe(false);
    retrieval.clock.advance(1);
    await waitUntil('the end', 5_000, async () => out.destroyed);
    stalledSocket.on('error', () => undefined).resume();
    await once(stalledSocket, 'close');

    const resumed = await openStream(merchant.keys.merchant, reader.events[9]!.id);
    await waitUntil('the remaining events', 20_000, async () => resumed.events.length === NOTIFICATIONS - 10);
    expect(resumed.events.map(({ id }) => id)).toEqual(reader.events.slice(10).map(({ id }) => id));
  }, 60_000);
});

test('the statements for notifications use index scans, even if the tables are empty and were never analysed', async () => {
  const notifications = retrieval.service.app.get(NotificationRepository);
  const readPlan = await planOf(retrieval.dataSource, () =>
    notifications.readAfter([{ channel: siteChannel(), position: 0 }], 32),
  );
  expect(readPlan).toMatch(/Index Scan using notification_positions_pkey on notification_positions p/);
  expect(readPlan).toMatch(
    /Index Scan using notifications_by_position on notifications .*\n.*Index Cond: \(\(merchant_id = .*\) AND \(site_id = .*\) AND \(mode = .*\) AND \("?position"? > w/,
  );
  const insertPlan = await planOf(retrieval.dataSource, () => notifications.insertNew([newEvent()]));
  expect(insertPlan).toMatch(/Index Only Scan using notifications_pkey on notifications n/);
  const deletePlan = await planOf(retrieval.dataSource, () => notifications.deleteExpired());
  expect(deletePlan).toMatch(/Index Scan using notifications_kept_since on notifications/);
  for (const plan of [readPlan, insertPlan, deletePlan]) expect(plan).not.toMatch(/Seq Scan on notification/);
});
