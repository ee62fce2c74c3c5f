/** Replay requests, as the publishing service serves them. */
import type { EventEnvelope } from '@svc/contracts';
import { inTransaction, newDataSource, type Transaction } from '@svc/persistence';
import { ManualClock, newTestDatabase, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { newNoteEvent, type Note, NotedV1 } from '../../test/harness/effects.js';
import type { EventReplay } from '../broker/broker.js';
import { ReplayServedV1 } from '../consumer/subscribed-types.js';
import { EventLog, messagingMigrations, RELAY_DEFAULTS } from '../index.js';
import { Replays } from './replays.js';

const clock = new ManualClock();
let database: TestDatabase;
let dataSource: DataSource;
let events: EventLog;
let replays: Replays;
let delivered: string[];
/** Services that currently accept no events. */
let full: Set<string>;

beforeAll(async () => {
  database = await newTestDatabase();
  dataSource = newDataSource({ url: database.url, applicationName: 'replays test', migrations: messagingMigrations });
  await dataSource.initialize();
  await dataSource.runMigrations({ transaction: 'each' });
  events = new EventLog(dataSource, clock);
});
beforeEach(() => {
  [delivered, full] = [[], new Set()];
  const deliver = (service: string, batch: readonly EventEnvelope[]): Promise<boolean> => {
    if (full.has(service)) return Promise.reject(new Error('full'));
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
const idOf = (nr: number): string => `00000000-0000-7000-8000-${String(nr).padStart(12, '0')}`;
const request = (nr: number, service: string): Promise<void> =>
  replays.accept({ id: idOf(nr), service, type: NotedV1.name });
/** Returns the deliveries until no replay is left; a replay that does not end fails the test. */
async function served(): Promise<string[]> {
  for (let steps = 0; (await replays.step()) > 0;) expect(++steps).toBeLessThan(20);
  return delivered.splice(0);
}

test('a replay ends where the live events begin, including those of a transaction that was open then', async () => {
  await append('a');
  const open = dataSource.createQueryRunner();
  await open.startTransaction();
  await events.append(open.manager as Transaction, newNoteEvent('open'));
  await request(1, 'late');
  await open.commitTransaction();
  await open.release();
  await append('after it');
  expect(await served()).toEqual(['late: a', `late: ${ReplayServedV1.name}`]);
  expect(await served()).toEqual([]);
});

test('a repeated request is served once, as the first one; a later request is served again', async () => {
  await append('a');
  await request(1, 'late');
  await append('b');
  await request(1, 'late');
  expect(await served()).toEqual(['late: a', `late: ${ReplayServedV1.name}`]);
  await request(1, 'late');
  expect(await served()).toEqual(['late: a', 'late: b', `late: ${ReplayServedV1.name}`]);
});

test('requests of the same time are served in the order of their ids', async () => {
  for (const nr of [2, 3, 1]) await request(nr, `service-${nr}`);
  expect(await served()).toEqual([1, 2, 3].map((nr) => `service-${nr}: ${ReplayServedV1.name}`));
});

test('a service that accepts nothing gets nothing until its pause ends, to the millisecond; other services are served', async () => {
  full.add('full');
  await request(1, 'full');
  await request(2, 'free');
  expect(await served()).toEqual([`free: ${ReplayServedV1.name}`]);
  full.clear();
  clock.advance(49);
  expect(await served()).toEqual([]);
  clock.advance(1);
  expect(await served()).toEqual([`full: ${ReplayServedV1.name}`]);
});
