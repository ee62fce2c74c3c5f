import { MAX_BOOK_LINES, MAX_DIGESTS } from '@svc/contracts';
import { newDataSource } from '@svc/persistence';
import { newTestDatabase, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { firstUuidAt, isoTime, numberOr0, ReconciliationReader, timeOfUuid } from './reconciliation-reader.js';

let database: TestDatabase;
let dataSource: DataSource;
beforeAll(async () => {
  database = await newTestDatabase();
  dataSource = await newDataSource({ url: database.url, applicationName: 'reconciliation' }).initialize();
  await dataSource.query(
    `CREATE TABLE rows (at timestamptz, mode text, merchant_id bigint, key text, amount bigint, open boolean, line jsonb)`,
  );
});
beforeEach(() => dataSource.query(`TRUNCATE rows`));
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

const RANGE = { from: '2026-03-01T00:00:00.000Z', until: '2026-03-02T00:00:00.000Z' };
const reader = () => new ReconciliationReader(dataSource, `SELECT * FROM rows WHERE at >= $1 AND at < $2`);
const insert = (values: string): Promise<unknown> =>
  dataSource.query(
    `INSERT INTO rows (mode, merchant_id, key, amount, open, line, at) SELECT v.*, '2026-03-01T10:00:00Z' FROM (${values}) AS v`,
  );

test('digests() returns one digest for each merchant and mode, and the next page begins after the last digest of a page', async () => {
  await insert(
    `SELECT mode, n, 'k', 1, false, '{}'::jsonb FROM generate_series(1, ${MAX_DIGESTS / 2 + 1}) n, (VALUES ('live'), ('test')) m (mode)`,
  );
  // With statistics PostgreSQL groups by hash, so that only the ORDER BY determines the order.
  await dataSource.query(`ANALYZE rows`);
  const { digests } = await reader().digests(RANGE);
  expect(digests.map(({ merchantId, mode }) => `${merchantId} ${mode}`)).toEqual(
    Array.from({ length: MAX_DIGESTS }, (_, at) => `${Math.floor(at / 2) + 1} ${at % 2 === 0 ? 'live' : 'test'}`),
  );
  const last = digests.at(-1)!;
  expect(last).toMatchObject({ merchantId: MAX_DIGESTS / 2, mode: 'test' });
  const next = await reader().digests(RANGE, { after: last });
  expect(next.digests.map(({ merchantId, mode }) => [merchantId, mode])).toEqual([
    [MAX_DIGESTS / 2 + 1, 'live'],
    [MAX_DIGESTS / 2 + 1, 'test'],
  ]);
  expect((await reader().digests(RANGE, { merchantId: 7 })).digests.map(({ mode }) => mode)).toEqual(['live', 'test']);
});

test('a digest counts rows that are not final as open, and excludes them from its count, amount and hash', async () => {
  await insert(
    `VALUES ('test', 1, 'a', 5, false, '{"x": 1}'::jsonb), ('test', 2, 'a', 5, false, '{"x": 1}'), ('test', 2, 'b', 7, true, NULL)`,
  );
  const [merchant1, merchant2] = (await reader().digests(RANGE)).digests;
  expect([merchant1, merchant2]).toMatchObject([
    { count: 1, amount: 5, open: 0 },
    { count: 1, amount: 5, open: 1 },
  ]);
  expect(merchant1!.hash).toBe(merchant2!.hash);
});

test('the hash of a digest changes if a row occurs twice or three times, or has a different key', async () => {
  await insert(`VALUES ('test', 1, 'a', 0, false, '{}'::jsonb), ('test', 2, 'a', 0, false, '{}'), ('test', 2, 'a', 0, false, '{}'),
                       ('test', 3, 'a', 0, false, '{}'), ('test', 3, 'a', 0, false, '{}'), ('test', 3, 'a', 0, false, '{}'), ('test', 4, 'b', 0, false, '{}')`);
  const hashes = (await reader().digests(RANGE)).digests.map(({ hash }) => hash);
  expect(new Set(hashes).size).toBe(4);
});

test('lines() returns all rows with the same key, even if a page ends between two of them', async () => {
  await insert(
    `SELECT 'test', 1, 'k', 0, false, jsonb_build_object('n', n) FROM generate_series(1, ${MAX_BOOK_LINES + 1}) n`,
  );
  const owner = { merchantId: 1, mode: 'test' } as const;
  const { lines } = await reader().lines(RANGE, owner);
  const nextLines = (await reader().lines(RANGE, owner, { after: lines.at(-1)!.key })).lines;
  expect([lines.length, nextLines.length]).toEqual([MAX_BOOK_LINES, 1]);
  expect(new Set([...lines, ...nextLines].map(({ line }) => line!['n'])).size).toBe(MAX_BOOK_LINES + 1);
});

test('lines() returns only the rows of the merchant and mode', async () => {
  await insert(
    `VALUES ('test', 1, 'a', 0, false, '{}'::jsonb), ('live', 1, 'b', 0, false, '{}'), ('test', 2, 'c', 0, false, '{}')`,
  );
  const { lines } = await reader().lines(RANGE, { merchantId: 1, mode: 'test' });
  expect(lines.map(({ key }) => key)).toEqual(['a']);
});

test('after a reconciliation query, the connection has the planner settings of this service again', async () => {
  await reader().digests(RANGE);
  const [setting] = await dataSource.query<{ enable_hashjoin: string }[]>(`SHOW enable_hashjoin`);
  expect(setting!.enable_hashjoin).toBe('off');
});

test('the range of UUIDs of one millisecond contains a UUID of that millisecond', async () => {
  const id = '019ca8d7-2d00-7000-8000-000000000000';
  const [row] = await dataSource.query<[Record<string, unknown>]>(
    `SELECT ${timeOfUuid('$1::uuid')} AS time, $1::uuid >= ${firstUuidAt('$2')} AS "from", $1::uuid < ${firstUuidAt('$3')} AS until,
            ${firstUuidAt(`'0001-01-01T00:00:00Z'`)}::text AS first, ${firstUuidAt(`'9999-12-31T00:00:00Z'`)}::text AS last`,
    [id, new Date(0x019ca8d72d00), new Date(0x019ca8d72d00 + 1)],
  );
  expect(row).toEqual({
    ...{ time: new Date(0x019ca8d72d00), from: true, until: true },
    ...{ first: '00000000-0000-0000-0000-000000000000', last: 'ffffffff-ffff-ffff-ffff-ffffffffffff' },
  });
});

test('isoTime formats a time as JSON does, and numberOr0 returns 0 for a text that is not a whole number', async () => {
  const rows = await dataSource.query<Record<string, unknown>[]>(
    `SELECT ${isoTime('time')} AS time, ${numberOr0('text')} AS number
       FROM (VALUES ('2026-03-01T10:00:00.070Z'::timestamptz, '12'), (NULL, '1e9'), (NULL, NULL)) AS given (time, text)`,
  );
  expect(rows).toEqual([
    { time: '2026-03-01T10:00:00.070Z', number: 12 },
    { time: null, number: 0 },
    { time: null, number: 0 },
  ]);
});
