/** Tests how notifications get their positions, and how notifications are read and deleted by position. */
import { paymentEvent, waitForBlockedBackends } from '@svc/testing';
import { createMerchant, type Merchant, newPaymentAt, type Retrieval, startRetrieval } from '../../test/retrieval.js';
import { insertWithoutCommit } from '../../test/uncommitted-notifications.js';
import type { Channel } from './event-id.js';
import { NotificationRepository } from './notification.repository.js';

const DAY_MS = 86_400_000;
const MODES = ['test', 'live'] as const;

let retrieval: Retrieval;
let notifications: NotificationRepository;
let merchants: Merchant[];
/** The channels of two merchants with the same site ids, in both modes, sorted by merchant, site and mode. */
let channels: Channel[];
beforeAll(async () => {
  retrieval = await startRetrieval();
  notifications = retrieval.service.app.get(NotificationRepository);
});
afterAll(() => retrieval.stop());
beforeEach(async () => {
  await retrieval.superuser.query('TRUNCATE notifications, notification_positions');
  merchants = [await createMerchant(retrieval), await createMerchant(retrieval)];
  channels = merchants.flatMap(({ merchantId }) =>
    merchants[0]!.sites.flatMap((siteId) => [...MODES].sort().map((mode) => ({ merchantId, siteId, mode }))),
  );
});

const newEvent = (channel: Channel) => ({
  ...paymentEvent(newPaymentAt(merchants[0]!, retrieval.clock.now(), channel)),
  occurredAt: retrieval.clock.nowISO(),
});
/** Creates one event for the first channel, two events for the second channel, and so on, in reverse order. */
const newMixedEvents = () =>
  channels.flatMap((channel, nth) => Array.from({ length: nth + 1 }, () => newEvent(channel))).reverse();
const readPositions = async ({ merchantId, siteId, mode }: Channel) =>
  (
    await retrieval.dataSource.query<{ position: number }[]>(
      `SELECT position FROM notifications WHERE merchant_id = $1 AND site_id = $2 AND mode = $3 ORDER BY position`,
      [merchantId, siteId, mode],
    )
  ).map(({ position }) => position);
const positionsUpTo = (count: number) => Array.from({ length: count }, (_, nth) => nth + 1);
/** Returns the channels in the order in which the last statement wrote their rows. */
const readChannelsInWriteOrder = () =>
  retrieval.dataSource.query<Channel[]>(
    `SELECT merchant_id AS "merchantId", site_id AS "siteId", mode FROM notification_positions ORDER BY ctid`,
  );

test('each channel has its own positions, in the order of its events, even if a batch has events of many channels', async () => {
  const [first, second] = [newMixedEvents(), newMixedEvents()];
  await notifications.insertNew(first);
  await notifications.insertNew([...first.slice(3), ...second]);
  for (const [nth, channel] of channels.entries()) {
    expect(await readPositions(channel)).toEqual(positionsUpTo(2 * (nth + 1)));
    expect(await notifications.getPositionRange(channel)).toEqual({ newest: 2 * (nth + 1), removed: 0 });
  }
  const expected = [...first, ...second].map(({ payload }) => payload.paymentReference);
  for (const channel of channels) {
    const read = (await notifications.readAfter([{ channel, position: 0 }], 100)).get(0)!.notifications;
    const references = read.map(({ body }) => (JSON.parse(body) as { paymentReference: string }).paymentReference);
    expect(references).toEqual(expected.filter((reference) => references.includes(reference)));
  }
});

test('channels are locked in the order of their keys, so that two replicas do not deadlock', async () => {
  await notifications.insertNew(newMixedEvents());
  expect(await readChannelsInWriteOrder()).toEqual(channels);
  await notifications.insertNew(newMixedEvents());
  expect(await readChannelsInWriteOrder()).toEqual(channels);
  retrieval.clock.advance(4 * DAY_MS + 1);
  expect(await notifications.deleteExpired()).toBe(true);
  expect(await readChannelsInWriteOrder()).toEqual(channels);
});

test('the notifications after a position are read in order, without notifications of other channels', async () => {
  await notifications.insertNew(newMixedEvents());
  const cursors = channels.map((channel, nth) => ({ channel, position: nth % 3 }));
  const read = await notifications.readAfter(cursors, 4);
  for (const [nth, { position }] of cursors.entries()) {
    const expected = positionsUpTo(nth + 1).filter((next) => next > position && next <= position + 4);
    const { notifications: found, end } = read.get(nth) ?? { notifications: [], end: position };
    expect(found.map((notification) => notification.position)).toEqual(expected);
    expect(end).toBe(Math.max(position, expected.at(-1) ?? 0));
  }
});

test('a cursor without new notifications is omitted from the result', async () => {
  await notifications.insertNew(newMixedEvents());
  const cursors = channels.map((channel, nth) => ({ channel, position: nth + 1 }));
  expect(await notifications.readAfter(cursors, 4)).toEqual(new Map());
  const [unknown] = [{ channel: { ...channels[0]!, siteId: 1 }, position: 0 }];
  expect(await notifications.readAfter([unknown], 4)).toEqual(new Map());
});

test('a reader skips a position that was assigned but not used', async () => {
  const channel = channels[0]!;
  await notifications.insertNew([newEvent(channel)]);
  await retrieval.dataSource.query('UPDATE notification_positions SET newest = 5');
  expect((await notifications.readAfter([{ channel, position: 1 }], 4)).get(0)).toEqual({ notifications: [], end: 5 });
  await notifications.insertNew([newEvent(channel)]);
  const { notifications: found, end } = (await notifications.readAfter([{ channel, position: 1 }], 4)).get(0)!;
  expect([found.map(({ position }) => position), end]).toEqual([[6], 6]);
});

test('the notification of an event is stored once if two replicas write it concurrently', async () => {
  const events = Array.from({ length: 20 }, () => newEvent(channels[0]!));
  await using first = await insertWithoutCommit(retrieval, events);
  const second = notifications.insertNew([...events, newEvent(channels[0]!)]);
  await waitForBlockedBackends(retrieval.dataSource, 1);
  await first.commit();
  await second;
  const positions = await readPositions(channels[0]!);
  expect(positions).toHaveLength(events.length + 1);
  expect(await notifications.getPositionRange(channels[0]!)).toEqual({ newest: positions.at(-1), removed: 0 });
});

test('only expired notifications are deleted, and each channel stores the position of its last deleted notification', async () => {
  await notifications.insertNew(newMixedEvents());
  retrieval.clock.advance(1);
  await notifications.insertNew(newMixedEvents());
  retrieval.clock.advance(4 * DAY_MS);
  expect(await Promise.all([notifications.deleteExpired(), notifications.deleteExpired()])).toContain(true);
  expect(await notifications.deleteExpired()).toBe(false);
  for (const [nth, channel] of channels.entries()) {
    const count = nth + 1;
    expect(await readPositions(channel)).toEqual(positionsUpTo(2 * count).slice(count));
    expect(await notifications.getPositionRange(channel)).toEqual({ newest: 2 * count, removed: count });
    const read = await notifications.readAfter(
      [count - 1, count].map((position) => ({ channel, position })),
      100,
    );
    expect(read.get(0)).toEqual({ notifications: [], end: undefined });
    expect(read.get(1)!.notifications).toHaveLength(count);
  }
});
