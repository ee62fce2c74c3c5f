/** Generations of a partitioned read model: one that is retired, one that serves, and one that is being built. */
import { newDataSource } from '@svc/persistence';
import { ManualClock, newTestDatabase, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { Generations, Generations1763500000030 } from './generations.js';

let database: TestDatabase;
let dataSource: DataSource;
let generations: Generations;
let clock: ManualClock;

beforeEach(async () => {
  [database, clock] = [await newTestDatabase(), new ManualClock()];
  dataSource = await newDataSource({
    url: database.url,
    applicationName: 'generations test',
    migrations: [Generations1763500000030],
  }).initialize();
  await dataSource.runMigrations({ transaction: 'each' });
  await dataSource.query(`
    CREATE TABLE shown (generation int NOT NULL, part int NOT NULL) PARTITION BY LIST (part);
    CREATE TABLE shown_1 PARTITION OF shown FOR VALUES IN (1);
    CREATE TABLE shown_2 PARTITION OF shown FOR VALUES IN (2);
  `);
  generations = new Generations(dataSource, clock, ['shown']);
});
afterEach(async () => {
  await dataSource.destroy();
  await database.drop();
});

const begin = () => generations.begin(() => Promise.resolve());
const left = async (table = 'shown') =>
  (
    await dataSource.query<{ generation: number }[]>(`SELECT DISTINCT generation FROM ${table} ORDER BY generation`)
  ).map(({ generation }) => generation);

test('of several that begin at once one does, and marks what it lacks; one that fails begins nothing', async () => {
  const failure = new Error('no broker');
  await expect(generations.begin(() => Promise.reject(failure))).rejects.toBe(failure);
  expect(await generations.findBuilding()).toBeUndefined();
  const miss = jest.fn(() => Promise.resolve());
  const begun = await Promise.all(Array.from({ length: 6 }, () => generations.begin(miss)));
  expect(begun.filter((generation) => generation !== undefined)).toEqual([2]);
  expect(miss).toHaveBeenCalledTimes(1);
  expect([await generations.serving(), await generations.findBuilding()]).toEqual([1, 2]);
});

test('only the generation that is being built may begin to serve, once', async () => {
  await begin();
  for (const other of [1, 3]) expect(await generations.serve(other)).toBe(false);
  const served = await Promise.all(Array.from({ length: 6 }, () => generations.serve(2)));
  expect(served.filter(Boolean)).toHaveLength(1);
  expect([await generations.serving(), await generations.findBuilding()]).toEqual([2, undefined]);
});

test('a retired generation is removed after a minute, and no row of another one, whatever its position', async () => {
  // Rows of generation 2 in one partition are where those of generation 1 are in the other.
  await dataSource.query(`INSERT INTO shown SELECT 1, 1 FROM generate_series(1, 100)`);
  await dataSource.query(`INSERT INTO shown SELECT 2, 2 FROM generate_series(1, 100)`);
  await begin();
  expect(await generations.serve(2)).toBe(true);
  clock.advance(59_999);
  expect(await generations.removeSome()).toBe(false);
  clock.advance(1);
  while (await generations.removeSome());
  expect([await left(), await left('generations')]).toEqual([[2], [2]]);
  expect(await dataSource.query(`SELECT count(*) AS count FROM shown`)).toEqual([{ count: 100 }]);
});
