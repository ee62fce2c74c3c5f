/** Access to a stream, its starting ids, the limits on readers, and the cost of a reader that does not read. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { PassThrough } from 'node:stream';
import { PaymentSucceededV1 } from '@svc/contracts';
import { anEvent, paymentEvent, planOf, waitUntil } from '@svc/testing';
import { createMerchant, getKeyId, type Merchant, newPaymentAt, type Retrieval, startRetrieval } from '../../test/retrieval.js';
import { listenOnFreePort, readStream, type StreamReader } from '../../test/stream-reader.js';
import { type Channel, encodeEventId } from './event-id.js';
import { NoticeRepository } from './notice.repository.js';
import { PaymentStreams } from './payment-streams.js';

const DAY_MS = 86_400_000;
const PER_KEY = 3;
const PER_REPLICA = 5;

let retrieval: Retrieval;
let url: string;
let ours: Merchant;
const opened: StreamReader[] = [];
beforeAll(async () => {
  retrieval = await startRetrieval({
    SVC_STREAM_READERS_PER_KEY: String(PER_KEY),
    SVC_STREAM_READERS: String(PER_REPLICA),
  });
  url = await listenOnFreePort(retrieval.service);
});
afterAll(() => retrieval.stop());
beforeEach(async () => (ours = await createMerchant(retrieval)));
afterEach(async () => {
  const closing = opened.splice(0);
  closing.forEach(({ disconnect }) => disconnect());
  await Promise.all(closing.map(({ closed }) => closed));
});

const pathOf = (merchantId: unknown, siteId: unknown) =>
  `/${String(merchantId)}/sites/${String(siteId)}/payments/stream`;
const ourPath = (nth: 0 | 1 = 0) => pathOf(ours.merchantId, ours.sites[nth]);
const channel = (over: Partial<Channel> = {}): Channel => ({
  merchantId: ours.merchantId,
  siteId: ours.sites[0],
  mode: 'test',
  ...over,
});
async function open(apiKey = ours.keys.merchant, lastEventId?: string, path = ourPath()): Promise<StreamReader> {
  const headers = { 'x-api-key': apiKey, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) };
  const reader = await readStream(`${url}${path}`, headers);
  if (reader.response.statusCode === 200) opened.push(reader);
  else await reader.closed;
  return reader;
}
const statusOf = async (apiKey?: string, lastEventId?: string, path?: string) =>
  (await open(apiKey, lastEventId, path)).response.statusCode;
const payments = (count: number) => Array.from({ length: count }, () => newPaymentAt(ours, retrieval.clock.now()));
const eventNow = (payment = payments(1)[0]!) => ({ ...paymentEvent(payment), occurredAt: retrieval.clock.nowISO() });
const noticeCount = async () =>
  (
    await retrieval.dataSource.query<[{ count: number }]>('SELECT count(*) FROM notices WHERE merchant_id = $1', [
      ours.merchantId,
    ])
  )[0].count;

describe('access to a stream (A7)', () => {
  test('the keys that may look up the payments of the site can read its stream', async () => {
    const theirs = await createMerchant(retrieval);
    expect(await statusOf(ours.keys.merchant)).toBe(200);
    expect(await statusOf(ours.keys['site 1'])).toBe(200);
    expect(await statusOf(ours.keys.live)).toBe(200);
    expect(await statusOf(ours.keys['site 2'])).toBe(403);
    expect(await statusOf(theirs.keys.merchant)).toBe(403);
    expect(await statusOf(ours.keys.revoked)).toBe(401);
    expect(await statusOf('none')).toBe(401);
    // The site of another merchant under the caller's own merchant number.
    expect(await statusOf(theirs.keys.merchant, undefined, pathOf(theirs.merchantId, ours.sites[0]))).toBe(404);
    expect(await statusOf(ours.keys.merchant, undefined, pathOf('x', 'y'))).toBe(400);
  });

  test('a stream contains only payments of its site, in the mode of the key', async () => {
    const live = await open(ours.keys.live);
    const second = await open(ours.keys.merchant, undefined, ourPath(1));
    const [atFirst, atSecond, paidLive] = payments(3) as [never, never, never];
    const events = [
      paymentEvent(atFirst),
      paymentEvent({ ...(atSecond as object), siteId: ours.sites[1] } as never),
      paymentEvent({ ...(paidLive as object), mode: 'live' } as never),
    ];
    await retrieval.deliver(...events);
    await waitUntil('both', 5_000, async () => live.events.length > 0 && second.events.length > 0);
    const referenceOf = (nth: number) => events[nth]!.payload.paymentReference;
    expect(live.events.map(({ data }) => data.paymentReference)).toEqual([referenceOf(2)]);
    expect(second.events.map(({ data }) => data.paymentReference)).toEqual([referenceOf(1)]);
  });
});

describe('Last-Event-ID', () => {
  test('a malformed id, or one of another site, mode or merchant, is a 400', async () => {
    const foreign = [{ siteId: ours.sites[1] }, { mode: 'live' as const }, { merchantId: ours.merchantId + 1 }];
    const ids = ['x', '0', ...foreign.map((other) => encodeEventId(channel(other), 0))];
    for (const id of ids) {
      const { response, text } = await open(ours.keys.merchant, id);
      expect([id, response.statusCode]).toEqual([id, 400]);
      expect(JSON.parse(text)).toMatchObject({ errors: [{ field: 'Last-Event-ID' }] });
    }
    expect(await statusOf(ours.keys.merchant, encodeEventId(channel(), 0))).toBe(200);
    // An id of a database that has been restored since.
    expect(await statusOf(ours.keys.merchant, encodeEventId(channel(), 1))).toBe(410);
  });

  test('an id older than the kept notices is a 410; the last id of a site without payments since is accepted', async () => {
    const notices = retrieval.service.app.get(NoticeRepository);
    const reader = await open();
    const [first, second] = [eventNow(), eventNow()];
    await retrieval.deliver(first, second);
    await waitUntil('both', 5_000, async () => reader.events.length === 2);
    const [firstId, secondId] = reader.events.map(({ id }) => id) as [string, string];

    retrieval.clock.advance(4 * DAY_MS);
    while (await notices.deleteExpired());
    expect([await noticeCount(), await statusOf(ours.keys.merchant, firstId)]).toEqual([2, 200]);
    retrieval.clock.advance(1);
    while (await notices.deleteExpired());
    expect(await noticeCount()).toBe(0);
    expect(await statusOf(ours.keys.merchant, firstId)).toBe(410);
    expect(await statusOf(ours.keys.merchant, secondId)).toBe(200);

    // A replay from the log writes none of the removed notices.
    await retrieval.deliver(first, second);
    expect(await noticeCount()).toBe(0);
    const late = eventNow();
    await retrieval.deliver(late);
    await waitUntil('the new one', 5_000, async () => reader.events.length === 3);
    expect(reader.events[2]!.data.paymentReference).toBe(late.payload.paymentReference);
  });

  test('an event that is exactly three days old is written, and an older one is not', async () => {
    const occurred = (ago: number) => retrieval.clock.later(-ago).toISOString();
    const [inside, outside] = payments(2).map((payment) => anEvent(PaymentSucceededV1, payment.reference, 2, payment));
    await retrieval.deliver({ ...outside!, occurredAt: occurred(3 * DAY_MS + 1) });
    expect(await noticeCount()).toBe(0);
    await retrieval.deliver({ ...inside!, occurredAt: occurred(3 * DAY_MS) });
    expect(await noticeCount()).toBe(1);
  });

  test('a reader that is slower than the removal is disconnected, and gets a 410', async () => {
    const streams = retrieval.service.app.get(PaymentStreams);
    const out = (await streams.open(
      channel(),
      { keyId: await getKeyId(retrieval, ours.keys.merchant) } as never,
      undefined,
    )) as PassThrough;
    await retrieval.dataSource.query(
      `INSERT INTO notice_positions (merchant_id, site_id, mode, newest, removed) VALUES ($1, $2, 'test', 9, 5)`,
      [ours.merchantId, ours.sites[0]],
    );
    await waitUntil('the end', 5_000, async () => out.destroyed);
    expect(await statusOf(ours.keys.merchant, encodeEventId(channel(), 4))).toBe(410);
    expect(await statusOf(ours.keys.merchant, encodeEventId(channel(), 5))).toBe(200);
  });
});

describe('limits on the number of readers', () => {
  test('a key may have a few readers, then gets a 429 with Retry-After; readers that disconnect release their slots', async () => {
    const readers = await Promise.all(Array.from({ length: PER_KEY + 1 }, () => open()));
    const refused = readers.filter(({ response }) => response.statusCode !== 200);
    expect(refused.map(({ response }) => [response.statusCode, response.headers['retry-after']])).toEqual([[429, '5']]);
    expect(await statusOf(ours.keys['site 1'])).toBe(200);
    readers.find(({ response }) => response.statusCode === 200)!.disconnect();
    await waitUntil('room', 5_000, async () => (await statusOf()) === 200);
  });

  test('a replica has a maximum of readers for all keys, then responds with a 503 and Retry-After', async () => {
    const theirs = await createMerchant(retrieval);
    for (let nth = 0; nth < PER_REPLICA; nth++)
      expect(await statusOf(nth < PER_KEY ? ours.keys.merchant : ours.keys['site 1'])).toBe(200);
    const { response } = await open(theirs.keys.merchant, undefined, pathOf(theirs.merchantId, theirs.sites[0]));
    expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '5']);
  });

  test('a HEAD, and a rejected id, use no slot', async () => {
    for (let nth = 0; nth <= PER_KEY; nth++) {
      const head = await fetch(`${url}${ourPath()}`, { method: 'HEAD', headers: { 'x-api-key': ours.keys.merchant } });
      expect(head.status).toBe(200);
      expect(await statusOf(ours.keys.merchant, encodeEventId(channel(), 7))).toBe(410);
    }
    await waitUntil('room', 5_000, async () => (await statusOf()) === 200);
  });
});

describe('a reader that does not read', () => {
  /** More than the kernel buffers for both ends of a connection. */
  const [NOTICES, NOTICE_BYTES] = [1_700, 10_000];
  const fill = (first: number) =>
    retrieval.dataSource.query(
      `WITH positions AS (
         INSERT INTO notice_positions AS p (merchant_id, site_id, mode, newest) VALUES ($1, $2, 'test', $3)
         ON CONFLICT (merchant_id, site_id, mode) DO UPDATE SET newest = excluded.newest)
       INSERT INTO notices (notice_id, merchant_id, site_id, mode, position, type, body, kept_since)
       SELECT gen_random_uuid(), $1, $2, 'test', position, 'payment', '{"p":"' || repeat('x', $4::int) || '"}', $5
         FROM generate_series($6::bigint, $3::bigint) AS position`,
      [
        ...[ours.merchantId, ours.sites[0], first + NOTICES - 1, NOTICE_BYTES],
        ...[retrieval.clock.now().toISOString(), first],
      ],
    );
  const connectTo = async (key: string): Promise<Socket> => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
    const path = new URL(`${url}${ourPath()}`).pathname;
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n\r\n`);
    await once(socket, 'data');
    return socket;
  };

  test('uses one buffer, is disconnected after 30 seconds, and resumes by id; other readers are not affected', async () => {
    const openStream = jest.spyOn(retrieval.service.app.get(PaymentStreams), 'open');
    const stalled = await connectTo(ours.keys.merchant);
    stalled.pause();
    const out = (await openStream.mock.results[0]!.value) as PassThrough;
    openStream.mockRestore();
    const reader = await open();
    await waitUntil('the first bytes', 5_000, async () => reader.text !== '');
    await fill(1);
    await waitUntil('the other one to have all', 20_000, async () => reader.events.length === NOTICES);
    const waiting = () => out.writableLength + out.readableLength;
    await waitUntil('the buffer to be full', 10_000, async () => out.writableNeedDrain);
    // Two buffers of 16 KiB, each over by no more than one notice.
    expect(waiting()).toBeLessThan(2 * (16 * 1024 + NOTICE_BYTES + 1_000));

    retrieval.clock.advance(29_999);
    await waitUntil('the other one’s heartbeats', 5_000, async () => reader.heartbeats > 0);
    expect(out.destroyed).toBe(false);
    retrieval.clock.advance(1);
    await waitUntil('the end', 5_000, async () => out.destroyed);
    stalled.on('error', () => undefined).resume();
    await once(stalled, 'close');

    const resumed = await open(ours.keys.merchant, reader.events[9]!.id);
    await waitUntil('the rest', 20_000, async () => resumed.events.length === NOTICES - 10);
    expect(resumed.events.map(({ id }) => id)).toEqual(reader.events.slice(10).map(({ id }) => id));
  }, 60_000);
});

test('plans for empty tables that were never analysed are index scans', async () => {
  const notices = retrieval.service.app.get(NoticeRepository);
  const read = await planOf(retrieval.dataSource, () => notices.readAfter([{ channel: channel(), position: 0 }], 32));
  expect(read).toMatch(/Index Scan using notice_positions_pkey on notice_positions p/);
  expect(read).toMatch(
    /Index Scan using notices_of_site on notices .*\n.*Index Cond: \(\(merchant_id = .*\) AND \(site_id = .*\) AND \(mode = .*\) AND \("?position"? > w/,
  );
  const kept = await planOf(retrieval.dataSource, () => notices.insertNew([eventNow()]));
  expect(kept).toMatch(/Index Only Scan using notices_pkey on notices n/);
  const removed = await planOf(retrieval.dataSource, () => notices.deleteExpired());
  expect(removed).toMatch(/Index Scan using notices_kept_since on notices/);
  for (const plan of [read, kept, removed]) expect(plan).not.toMatch(/Seq Scan on notice/);
});
