/**
 * Tests of the generations (copies) of a partitioned read model: a retired generation, the serving generation, and the
 * generation that is being built.
 */
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
    CREATE TABLE displayed (generation int NOT NULL, part int NOT NULL) PARTITION BY LIST (part);
    CREATE TABLE displayed_1 PARTITION OF displayed FOR VALUES IN (1);
    CREATE TABLE displayed_2 PARTITION OF displayed FOR VALUES IN (2);
  `);
  generations = new Generations(dataSource, clock, ['displayed']);
});
afterEach(async () => {
  await dataSource.destroy();
  await database.drop();
});

const beginGeneration = () => generations.begin(() => Promise.resolve());
const listGenerations = async (table: string) =>
  (
    await dataSource.query<{ generation: number }[]>(`SELECT DISTINCT generation FROM ${table} ORDER BY generation`)
  ).map(({ generation }) => generation);

test('only one of several concurrent rebuilds begins, and a rebuild whose replay cannot be scheduled does not begin', async () => {
  const failure = new Error('no broker');
  await expect(generations.begin(() => Promise.reject(failure))).rejects.toBe(failure);
  expect(await generations.findBuilding()).toBeUndefined();
  const scheduleReplay = jest.fn(() => Promise.resolve());
  const beginnings = await Promise.all(Array.from({ length: 6 }, () => generations.begin(scheduleReplay)));
  expect(beginnings.filter((generation) => generation !== undefined)).toEqual([2]);
  expect(scheduleReplay).toHaveBeenCalledTimes(1);
  expect([await generations.serving(), await generations.findBuilding()]).toEqual([1, 2]);
});

test('only the generation that is being built can start to serve, and only once', async () => {
  await beginGeneration();
  for (const generation of [1, 3]) expect(await generations.serve(generation)).toBe(false);
  const served = await Promise.all(Array.from({ length: 6 }, () => generations.serve(2)));
  expect(served.filter(Boolean)).toHaveLength(1);
  expect([await generations.serving(), await generations.findBuilding()]).toEqual([2, undefined]);
});

test('a retired generation is removed after a minute, in batches, without rows of another generation', async () => {
  // Partition 1 has rows of the generations 0 and 2. Partition 2 has rows of generation 1. Rows of both partitions have
  // the same ctids.
  await dataSource.query(`INSERT INTO displayed SELECT 2 * (nr % 2), 1 FROM generate_series(1, 10000) AS nr`);
  await dataSource.query(`INSERT INTO displayed SELECT 1, 2 FROM generate_series(1, 5001)`);
  await beginGeneration();
  expect(await generations.serve(2)).toBe(true);
  await dataSource.query(`INSERT INTO generations VALUES (0, 'retired', $1, $2)`, [clock.now(), clock.later(120_000)]);
  const counts = (): Promise<unknown[]> =>
    dataSource.query(`SELECT generation, count(*) AS count FROM displayed GROUP BY generation ORDER BY generation`);
  clock.advance(59_999);
  expect(await generations.removeSome()).toBe(false);
  clock.advance(1);
  expect(await generations.removeSome()).toBe(true);
  const others = [0, 2].map((generation) => ({ generation, count: 5_000 }));
  expect(await counts()).toEqual([others[0], { generation: 1, count: 1 }, others[1]]);
  while (await generations.removeSome());
  expect([await counts(), await listGenerations('generations')]).toEqual([others, [0, 2]]);
});

test.each([
  ['an unknown state', `(3, 'built', now(), NULL)`, 'generations_state'],
  ['a second serving generation', `(3, 'serving', now(), NULL)`, 'generations_one_serving'],
  [
    'a second generation that is being built',
    `(3, 'building', now(), NULL), (4, 'building', now(), NULL)`,
    'generations_one_building',
  ],
  ['a retired generation without the time of its retirement', `(3, 'retired', now(), NULL)`, 'generations_retired'],
  [
    'a generation that is not retired, but has the time of a retirement',
    `(3, 'building', now(), now())`,
    'generations_retired',
  ],
])('the table generations rejects %s', async (_, rows, constraint) => {
  await expect(dataSource.query(`INSERT INTO generations VALUES ${rows}`)).rejects.toMatchObject({ constraint });
});
