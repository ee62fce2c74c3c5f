/** Tests of the publishing service, which serves the replay requests of other services. */
import type { EventEnvelope } from '@svc/contracts';
import { inTransaction, newDataSource } from '@svc/persistence';
import { ManualClock, newMessagingDatabase, openTransaction, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { newNoteEvent, type Note, NotedV1 } from '../../test/harness/effects.js';
import { type EventReplay, TypesRefusedError } from '../broker/broker.js';
import { ReplayServedV1 } from '../consumer/subscribed-types.js';
import { moveCursor } from '../event-log/log-reader.js';
import { EventLog, RELAY_DEFAULTS } from '../index.js';
import { Replays } from './replays.js';

const clock = new ManualClock();
let database: TestDatabase;
let dataSource: DataSource;
let events: EventLog;
let replays: Replays;
let delivered: string[];
/** Services whose queue is full, so that they accept no events. */
let fullServices: Set<string>;
/** Types that the broker refuses. */
let refusedTypes: Set<string>;

beforeAll(async () => {
  database = await newMessagingDatabase();
  dataSource = newDataSource({ url: database.url, applicationName: 'replays test' });
  await dataSource.initialize();
  events = new EventLog(dataSource, clock);
});
beforeEach(() => {
  [delivered, fullServices, refusedTypes] = [[], new Set(), new Set()];
  const deliver = (service: string, batch: readonly EventEnvelope[]): Promise<boolean> => {
    if (fullServices.has(service)) return Promise.reject(new Error('full'));
    if (batch.some(({ type }) => refusedTypes.has(type))) return Promise.reject(new TypesRefusedError(refusedTypes));
    delivered.push(
      ...batch.map(({ type, payload }) => `${service}: ${type === NotedV1.name ? (payload as Note).text : type}`),
    );
    return Promise.resolve(true);
  };
  const log = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  replays = new Replays(dataSource, { deliver } as EventReplay, clock, RELAY_DEFAULTS, log);
});
afterEach(() => dataSource.query('TRUNCATE event_log, relay_cursors, replays'));
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

const append = (...texts: string[]): Promise<void> =>
  inTransaction(dataSource, (tx) => events.append(tx, ...texts.map(newNoteEvent)));
const requestIdOf = (nr: number): string => `00000000-0000-7000-8000-${String(nr).padStart(12, '0')}`;
const requestReplay = (nr: number, service: string): Promise<void> =>
  replays.accept({ id: requestIdOf(nr), service, type: NotedV1.name });
/** Serves all requests and returns the deliveries. Fails the test if a replay does not end. */
async function serveAll(): Promise<string[]> {
  for (let steps = 0; (await replays.step()) > 0;) expect(++steps).toBeLessThan(20);
  return delivered.splice(0);
}

test('a replay contains the events that were committed at its request, also those after a transaction that was open', async () => {
  await using transaction = await openTransaction(dataSource);
  await events.append(transaction.manager, newNoteEvent('open'));
  await append('a');
  await requestReplay(1, 'late');
  await transaction.commit();
  await append('after it');
  expect(await serveAll()).toEqual(['late: a', `late: ${ReplayServedV1.name}`]);
  expect(await serveAll()).toEqual([]);
});

test('a request that is repeated before its replay ends is served once, and a request that is repeated later is served again', async () => {
  await append('a');
  await requestReplay(1, 'late');
  await append('b');
  await requestReplay(1, 'late');
  expect(await serveAll()).toEqual(['late: a', `late: ${ReplayServedV1.name}`]);
  await requestReplay(1, 'late');
  expect(await serveAll()).toEqual(['late: a', 'late: b', `late: ${ReplayServedV1.name}`]);
});

test('a replay that is requested again begins at the first event, although another relay has left a cursor', async () => {
  await append('a');
  await requestReplay(1, 'late');
  await serveAll();
  const [left] = await dataSource.query<{ txid: string }[]>('SELECT max(txid::text) AS txid FROM event_log');
  const cursor = { txid: left!.txid, position: 1_000_000, openTxids: [], held: {} };
  await moveCursor(dataSource, `replay:${requestIdOf(1)}`, cursor);
  await requestReplay(1, 'late');
  expect(await serveAll()).toEqual(['late: a', `late: ${ReplayServedV1.name}`]);
});

test('requests of the same time are served in the order of their ids', async () => {
  for (const nr of [2, 3, 1]) await requestReplay(nr, `service-${nr}`);
  expect(await serveAll()).toEqual([1, 2, 3].map((nr) => `service-${nr}: ${ReplayServedV1.name}`));
});

test('a service whose queue is full receives nothing until its pause of 50 ms ends, but other services are served meanwhile', async () => {
  fullServices.add('full');
  await requestReplay(1, 'full');
  await requestReplay(2, 'free');
  expect(await serveAll()).toEqual([`free: ${ReplayServedV1.name}`]);
  fullServices.clear();
  clock.advance(49);
  expect(await serveAll()).toEqual([]);
  clock.advance(1);
  expect(await serveAll()).toEqual([`full: ${ReplayServedV1.name}`]);
});

test('a type that the broker refuses delays only its own replay, and not other replays to the same service', async () => {
  await append('a');
  await inTransaction(dataSource, (tx) => events.append(tx, { ...newNoteEvent('other'), type: { name: 'other.v1' } }));
  refusedTypes.add('other.v1');
  await replays.accept({ id: requestIdOf(1), service: 'late', type: 'other.v1' });
  await requestReplay(2, 'late');
  expect(await serveAll()).toEqual(['late: a', `late: ${ReplayServedV1.name}`]);
  refusedTypes.clear();
  clock.advance(60_000);
  expect(await serveAll()).toEqual(['late: other.v1', `late: ${ReplayServedV1.name}`]);
});
