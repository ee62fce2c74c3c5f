import { newDataSource } from '@svc/persistence';
import { newTestDatabase, type TestDatabase } from '@svc/testing';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { upsertIfNewer } from './upsert-if-newer.js';

let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await newTestDatabase();
  dataSource = await newDataSource({ url: database.url, applicationName: 'upsert test' }).initialize();
  await dataSource.query(
    `CREATE TABLE states (owner bigint, id bigint, state text NOT NULL, version bigint NOT NULL, PRIMARY KEY (owner, id))`,
  );
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

const arbitraryEvent = fc.record({ id: fc.integer({ min: 1, max: 3 }), version: fc.integer({ min: 1, max: 9 }) });
const arbitraryDeliveries = fc.array(arbitraryEvent, { minLength: 1, maxLength: 25, size: 'max' });

test('the rows do not depend on the order, the repetition and the batches of the events', async () => {
  let lastOwner = 0;
  let ignoredEvents = 0;
  await fc.assert(
    fc.asyncProperty(arbitraryDeliveries, fc.integer({ min: 1, max: 6 }), async (deliveries, batchSize) => {
      const owner = ++lastOwner;
      for (let from = 0; from < deliveries.length; from += batchSize) {
        await dataSource.transaction(async (tx) => {
          for (const { id, version } of deliveries.slice(from, from + batchSize)) {
            const isNew = await upsertIfNewer(tx, 'states', { owner, id }, version, { state: `state ${version}` });
            if (!isNew) ignoredEvents++;
          }
        });
      }
      const newest = new Map<number, number>();
      for (const { id, version } of deliveries) newest.set(id, Math.max(version, newest.get(id) ?? 0));
      const rows = await dataSource.query('SELECT id, state, version FROM states WHERE owner = $1 ORDER BY id', [
        owner,
      ]);
      expect(rows).toEqual(
        [...newest].sort(([a], [b]) => a - b).map(([id, version]) => ({ id, state: `state ${version}`, version })),
      );
    }),
    { numRuns: 60 },
  );
  // Many of the events were outdated or repeated, so the test has covered these cases.
  expect(ignoredEvents).toBeGreaterThan(60);
});

test('upsertIfNewer resolves to true only if it changed the row', async () => {
  const upsert = (version: number): Promise<boolean> =>
    dataSource.transaction((tx) => upsertIfNewer(tx, 'states', { owner: 0, id: 0 }, version, { state: 'x' }));
  expect(await upsert(2)).toBe(true);
  expect(await upsert(2)).toBe(false);
  expect(await upsert(1)).toBe(false);
  expect(await upsert(3)).toBe(true);
});
