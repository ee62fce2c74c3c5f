import { newDataSource } from '@svc/persistence';
import { ManualClock, newMessagingDatabase, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { Lease } from './lease.js';

const LEASE_MS = 1_000;
const clock = new ManualClock();
let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await newMessagingDatabase();
  dataSource = newDataSource({ url: database.url, applicationName: 'lease test' });
  await dataSource.initialize();
});
afterEach(() => dataSource.query('DELETE FROM relay_lease'));
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

const newLease = (): Lease => new Lease(dataSource, clock, LEASE_MS);

test('only one of several concurrent requests acquires the lease', async () => {
  const results = await Promise.all(Array.from({ length: 8 }, () => newLease().acquireOrRenew()));
  expect(results.filter(Boolean)).toHaveLength(1);
});

test('the lease passes to another process exactly when it expires, and then the old holder cannot renew it', async () => {
  const [first, second] = [newLease(), newLease()];
  expect(await first.acquireOrRenew()).toBe(true);
  clock.advance(LEASE_MS - 1);
  expect(await second.acquireOrRenew()).toBe(false);
  clock.advance(1);
  expect(await second.acquireOrRenew()).toBe(true);
  expect(await first.acquireOrRenew()).toBe(false);
});

test('a holder that renews its lease continuously keeps the lease, and sends one query in each half of the lease time', async () => {
  const [first, second] = [newLease(), newLease()];
  const query = jest.spyOn(dataSource, 'query');
  for (let step = 0; step < 30; step++) {
    expect(await first.acquireOrRenew()).toBe(true);
    clock.advance(LEASE_MS / 10);
  }
  expect(query.mock.calls.length).toBeLessThanOrEqual(30 / 5 + 1);
  query.mockRestore();
  expect(await second.acquireOrRenew()).toBe(false);
});

test('a released lease is available immediately, and a process cannot release the lease of another process', async () => {
  const [first, second, third] = [newLease(), newLease(), newLease()];
  await first.acquireOrRenew();
  await first.release();
  expect(await second.acquireOrRenew()).toBe(true);
  await first.release();
  await third.release();
  expect(await third.acquireOrRenew()).toBe(false);
});

test('the lease is renewed after exactly half of its time', async () => {
  const [first, second] = [newLease(), newLease()];
  expect(await first.acquireOrRenew()).toBe(true);
  clock.advance(LEASE_MS / 2);
  expect(await first.acquireOrRenew()).toBe(true);
  clock.advance(LEASE_MS / 2);
  expect(await second.acquireOrRenew()).toBe(false);
});

test("a holder whose lease expired does not release the next holder's lease, and a lease is released only once", async () => {
  const [first, second, third] = [newLease(), newLease(), newLease()];
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
