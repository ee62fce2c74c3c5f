/** What a service knows of the types that it and other releases of it are bound to. */
import { newDataSource, type Transaction } from '@svc/persistence';
import { anEvent, ManualClock, newTestDatabase, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import type { EventReplay, ReplayRequest } from '../broker/broker.js';
import { messagingMigrations } from '../index.js';
import { DeferredEvents } from './deferred-events.js';
import { ReplayServedV1, SubscribedTypes } from './subscribed-types.js';

/** A rollout, or a release that was rolled back, may take as long. */
const WEEK_MS = 7 * 24 * 3_600_000;
const clock = new ManualClock();
let database: TestDatabase;
let dataSource: DataSource;
let deferred: DeferredEvents;
let subscribed: SubscribedTypes;
let asked: ReplayRequest[];

beforeAll(async () => {
  database = await newTestDatabase();
  dataSource = newDataSource({ url: database.url, applicationName: 'types test', migrations: messagingMigrations });
  await dataSource.initialize();
  await dataSource.runMigrations({ transaction: 'each' });
});
beforeEach(() => {
  asked = [];
  deferred = new DeferredEvents(dataSource, clock);
  const request = (replay: ReplayRequest): Promise<boolean> => Promise.resolve(asked.push(replay) > 0);
  subscribed = new SubscribedTypes(dataSource, 'history', { request } as EventReplay, clock, deferred);
});
afterEach(() => dataSource.query('TRUNCATE subscribed_types, deferred_events'));
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

const typesIn = async (table: string): Promise<string[]> =>
  (await dataSource.query<{ type: string }[]>(`SELECT type FROM ${table} ORDER BY type`)).map(({ type }) => type);
/** The publisher says that it has sent all old events of a request. */
const serve = ({ type, id }: ReplayRequest): Promise<unknown> =>
  subscribed.onServed([anEvent(ReplayServedV1, id, 1, { type })], {
    tx: dataSource.manager as Transaction,
    connection: dataSource.manager,
  });

test('a type and its deferred events are kept for a week after a replica last handled it, to the millisecond', async () => {
  await subscribed.requestReplay(new Set(['edge.v1', 'kept.v1', 'other.v1']));
  const events = ['edge.v1', 'kept.v1', 'never.v1', 'other.v1'].map((name) => anEvent({ name }, 'a', 1, {}));
  await deferred.defer(events, 'unknown');
  clock.advance(1);
  await subscribed.touch(new Set(['edge.v1']));
  clock.advance(WEEK_MS - 1);
  await subscribed.touch(new Set(['kept.v1']));

  const own = new Set(['own.v1']);
  expect(await subscribed.retired(own)).toEqual(new Set());
  await subscribed.requestReplay(own);
  expect(await typesIn('subscribed_types')).toEqual(['edge.v1', 'kept.v1', 'other.v1', 'own.v1']);
  expect(await typesIn('deferred_events')).toEqual(['edge.v1', 'kept.v1', 'never.v1', 'other.v1']);

  clock.advance(1);
  expect(await subscribed.retired(own)).toEqual(new Set(['other.v1']));
  await subscribed.requestReplay(own);
  expect(await typesIn('subscribed_types')).toEqual(['edge.v1', 'kept.v1', 'own.v1']);
  expect(await typesIn('deferred_events')).toEqual(['edge.v1', 'kept.v1']);
});

test('old events are requested under the same id until they were sent; a lost queue requires those that had been sent again', async () => {
  const types = new Set(['a.v1', 'b.v1']);
  const next = async (): Promise<ReplayRequest[]> => {
    await subscribed.requestReplay(types);
    return asked.splice(0);
  };
  const [first, second] = await next();
  await serve(first!);
  expect(await subscribed.areBackfilled(types)).toBe(false);
  expect(await next()).toEqual([second]);

  await subscribed.markAllMissing();
  const [again, ...others] = await next();
  expect([again!.type, others]).toEqual(['a.v1', [second]]);
  expect(again!.id).not.toBe(first!.id);
  for (const request of [again!, second!]) await serve(request);
  expect(await subscribed.areBackfilled(types)).toBe(true);
  expect(await next()).toEqual([]);
});
