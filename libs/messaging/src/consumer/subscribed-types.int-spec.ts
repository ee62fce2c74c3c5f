/** Tests of the table `subscribed_types`: the event types that the releases of a service are bound to. */
import { newDataSource, type Transaction } from '@svc/persistence';
import { anEvent, ManualClock, newMessagingDatabase, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import type { EventReplay, ReplayRequest } from '../broker/broker.js';
import { DeferredEvents } from './deferred-events.js';
import { ReplayServedV1, SubscribedTypes } from './subscribed-types.js';

/** A type that no replica has handled for a week counts as retired. */
const WEEK_MS = 7 * 24 * 3_600_000;
const clock = new ManualClock();
let database: TestDatabase;
let dataSource: DataSource;
let deferred: DeferredEvents;
let subscribed: SubscribedTypes;
let requests: ReplayRequest[];

beforeAll(async () => {
  database = await newMessagingDatabase();
  dataSource = newDataSource({ url: database.url, applicationName: 'types test' });
  await dataSource.initialize();
});
beforeEach(() => {
  requests = [];
  deferred = new DeferredEvents(dataSource, clock);
  const request = (replay: ReplayRequest): Promise<boolean> => Promise.resolve(requests.push(replay) > 0);
  subscribed = new SubscribedTypes(dataSource, 'history', { request } as EventReplay, clock, deferred);
});
afterEach(() => dataSource.query('TRUNCATE subscribed_types, deferred_events'));
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

const readTypes = async (table: string): Promise<string[]> =>
  (await dataSource.query<{ type: string }[]>(`SELECT type FROM ${table} ORDER BY type`)).map(({ type }) => type);
/** The publisher reports that it has sent all earlier events of a request. */
const markServed = ({ type, id }: ReplayRequest): Promise<unknown> =>
  subscribed.onServed([anEvent(ReplayServedV1, id, 1, { type })], {
    tx: dataSource.manager as Transaction,
    connection: dataSource.manager,
  });

test('a type and its deferred events are deleted exactly a week after a replica last handled the type', async () => {
  await subscribed.requestReplay(new Set(['edge.v1', 'kept.v1', 'other.v1']));
  const events = ['edge.v1', 'kept.v1', 'never.v1', 'other.v1'].map((name) => anEvent({ name }, 'a', 1, {}));
  await deferred.defer(events, 'unknown');
  clock.advance(1);
  await subscribed.touch(new Set(['edge.v1']));
  clock.advance(WEEK_MS - 1);
  await subscribed.touch(new Set(['kept.v1']));

  const newTypes = new Set(['own.v1']);
  expect(await subscribed.findRetired(newTypes)).toEqual(new Set());
  await subscribed.requestReplay(newTypes);
  expect(await readTypes('subscribed_types')).toEqual(['edge.v1', 'kept.v1', 'other.v1', 'own.v1']);
  expect(await readTypes('deferred_events')).toEqual(['edge.v1', 'kept.v1', 'never.v1', 'other.v1']);

  clock.advance(1);
  expect(await subscribed.findRetired(newTypes)).toEqual(new Set(['other.v1']));
  await subscribed.requestReplay(newTypes);
  expect(await readTypes('subscribed_types')).toEqual(['edge.v1', 'kept.v1', 'own.v1']);
  expect(await readTypes('deferred_events')).toEqual(['edge.v1', 'kept.v1']);
});

test('a replay is requested with the same id until it is complete, and with a new id if the queue is lost after that', async () => {
  const types = new Set(['a.v1', 'b.v1']);
  const requestMissing = async (): Promise<ReplayRequest[]> => {
    await subscribed.requestReplay(types);
    return requests.splice(0);
  };
  const [first, second] = await requestMissing();
  await markServed(first!);
  expect(await subscribed.areBackfilled(types)).toBe(false);
  expect(await requestMissing()).toEqual([second]);

  await subscribed.markAllMissing();
  const [repeated, ...others] = await requestMissing();
  expect([repeated!.type, others]).toEqual(['a.v1', [second]]);
  expect(repeated!.id).not.toBe(first!.id);
  for (const request of [repeated!, second!]) await markServed(request);
  expect(await subscribed.areBackfilled(types)).toBe(true);
  expect(await requestMissing()).toEqual([]);
});
