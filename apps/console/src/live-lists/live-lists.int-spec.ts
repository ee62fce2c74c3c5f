import type { PersonSession } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { refundOf, waitUntil } from '@svc/testing';
import {
  createMerchant,
  newPayment,
  startConsole,
  store,
  type TestConsole,
  type TestMerchant,
} from '../../test/console.js';
import type { PersonSessions } from '../viewer/person-sessions.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import { LiveLists } from './live-lists.js';

let app: TestConsole;
let merchant: TestMerchant;
let live: LiveLists;
/** The session as identity knows it. */
let session: PersonSession | undefined;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());
beforeEach(async () => {
  merchant = await createMerchant(app);
  session = app.signIn([merchant.grant('owner')]).person;
  const sessions = { find: () => Promise.resolve(session) } as unknown as PersonSessions;
  live = new LiveLists(app.dataSource, sessions, app.service.app.get(Clock), app.service.log);
});
afterEach(() => live.onModuleDestroy());

const at = new Date('2026-03-01T10:00:00Z');

/** Opens a list of the merchant, whose text is the number of its reads. */
function openList(mode: 'test' | 'live' = 'test') {
  const viewer = {
    session: session!,
    actor: { sessionHash: 'session', browser: 'browser' },
    scope: { merchantId: merchant.merchantId, mode, sites: 'all' },
  } as MerchantViewer;
  const list = { reads: 0, isEnded: false, receive: (): string => String(stream.read() ?? '') };
  const stream = live.open(viewer, () => Promise.resolve(`<p>${++list.reads}</p>`), 'payments');
  stream.once('end', () => (list.isEnded = true));
  return list;
}

test('a list is sent once, and is read again only after a payment of its merchant and mode has changed', async () => {
  const [list, other] = [openList(), openList('live')];
  await live.tick();
  expect([list.receive(), other.reads]).toEqual(['retry: 5000\n\nevent: list\ndata: <p>1</p>\n\n', 1]);
  for (let i = 0; i < 3; i++) await live.tick();
  expect(list.receive()).toMatch(/^(: no change\n\n){3,}$/);
  await store(app, newPayment(merchant, at));
  await live.tick();
  expect([list.receive(), list.reads, other.reads]).toEqual([expect.stringContaining('data: <p>2</p>\n\n'), 2, 1]);
});

test('a refund changes the list, a payment of another merchant does not', async () => {
  const list = openList();
  await live.tick();
  await store(app, newPayment(await createMerchant(app), at));
  await live.tick();
  expect(list.reads).toBe(1);
  await app.deliver(refundOf(newPayment(merchant, at), { amount: 1, status: 'succeeded' }));
  await live.tick();
  expect(list.reads).toBe(2);
});

test('a list of something else is read each time, and sent only if it has changed', async () => {
  const viewer = { session: session!, actor: {}, scope: { merchantId: merchant.merchantId, mode: 'test' } };
  let text = 'open';
  const stream = live.open(viewer as MerchantViewer, () => Promise.resolve(text));
  for (const state of ['open', 'open', 'paid']) {
    text = state;
    await live.tick();
  }
  expect(String(stream.read()).match(/data: \w+/g)).toEqual(['data: open', 'data: paid']);
});

test.each([
  ['has ended', () => undefined],
  ['has lost a role', () => ({ ...session!, roles: [] })],
])('a list is not sent to a person whose session %s', async (_, change) => {
  const list = openList();
  await live.tick();
  session = change();
  await store(app, newPayment(merchant, at));
  await live.tick();
  expect([list.receive(), list.reads]).toEqual([expect.stringContaining('<p>1</p>'), 1]);
  await waitUntil('the end of the stream', 5_000, () => Promise.resolve(list.receive() === '' && list.isEnded));
  expect(list.reads).toBe(1);
});

test('a list that could not be read is read again', async () => {
  let isBroken = true;
  const viewer = { session: session!, actor: {}, scope: { merchantId: merchant.merchantId, mode: 'test' } };
  const stream = live.open(viewer as MerchantViewer, () =>
    isBroken ? Promise.reject(new Error('the database is unavailable')) : Promise.resolve('<p>'),
  );
  await live.tick();
  isBroken = false;
  await live.tick();
  expect(String(stream.read())).toBe('retry: 5000\n\nevent: list\ndata: <p>\n\n');
});

test('a person has at most ten open lists', () => {
  for (let i = 0; i < 10; i++) openList();
  expect(() => openList()).toThrow(expect.objectContaining({ code: 'service.not-ready' }));
});
