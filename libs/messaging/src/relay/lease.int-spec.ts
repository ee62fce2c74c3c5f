import { newDataSource } from '@svc/persistence';
import { ManualClock, newTestDatabase, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { messagingMigrations } from '../index.js';
import { Lease } from './lease.js';

const LEASE_MS = 1_000;
const clock = new ManualClock();
let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await newTestDatabase();
  dataSource = newDataSource({ url: database.url, applicationName: 'lease test', migrations: messagingMigrations });
  await dataSource.initialize();
  await dataSource.runMigrations({ transaction: 'each' });
});
afterEach(() => dataSource.query('DELETE FROM relay_lease'));
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

const lease = (): Lease => new Lease(dataSource, clock, LEASE_MS);

test('of many that ask at once, one holds it', async () => {
  const held = await Promise.all(Array.from({ length: 8 }, () => lease().acquireOrRenew()));
  expect(held.filter(Boolean)).toHaveLength(1);
});

test('it passes on when it has run out, to the millisecond, and the old holder notices', async () => {
  const [first, second] = [lease(), lease()];
  expect(await first.acquireOrRenew()).toBe(true);
  clock.advance(LEASE_MS - 1);
  expect(await second.acquireOrRenew()).toBe(false);
  clock.advance(1);
  expect(await second.acquireOrRenew()).toBe(true);
  expect(await first.acquireOrRenew()).toBe(false);
});

test('who goes on asking keeps it, and does not ask the database each time', async () => {
  const [first, second] = [lease(), lease()];
  const query = jest.spyOn(dataSource, 'query');
  for (let step = 0; step < 30; step++) {
    expect(await first.acquireOrRenew()).toBe(true);
    clock.advance(LEASE_MS / 10);
  }
  expect(query.mock.calls.length).toBeLessThanOrEqual(30 / 5 + 1);
  query.mockRestore();
  expect(await second.acquireOrRenew()).toBe(false);
});

test('given back, it is free at once; what another holds is not given back', async () => {
  const [first, second, third] = [lease(), lease(), lease()];
  await first.acquireOrRenew();
  await first.release();
  expect(await second.acquireOrRenew()).toBe(true);
  await first.release();
  await third.release();
  expect(await third.acquireOrRenew()).toBe(false);
});

test('it is renewed when half of its time is over, to the millisecond', async () => {
  const [first, second] = [lease(), lease()];
  expect(await first.acquireOrRenew()).toBe(true);
  clock.advance(LEASE_MS / 2);
  expect(await first.acquireOrRenew()).toBe(true);
  clock.advance(LEASE_MS / 2);
  expect(await second.acquireOrRenew()).toBe(false);
});

test('a holder whose time is over gives back nothing of the next one, and a lease that is given back is not given back again', async () => {
  const [first, second, third] = [lease(), lease(), lease()];
  await first.acquireOrRenew();
  clock.advance(LEASE_MS);
  expect(await second.acquireOrRenew()).toBe(true);
  await first.release();
  expect(await third.acquireOrRenew()).toBe(false);
  const query = jest.spyOn(dataSource, 'query');
  await first.release();
  expect(query).not.toHaveBeenCalled();
  query.mockRestore();
});
