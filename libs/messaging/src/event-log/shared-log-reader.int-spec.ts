import { inTransaction, newDataSource } from '@svc/persistence';
import { ManualClock, newMessagingDatabase, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { newNoteEvent, type Note, NotedV1 } from '../../test/harness/effects.js';
import { EventLog } from '../index.js';
import { LOG_BEGINNING, type LogCursor } from './log-cursor.js';
import type { LogBatch } from './log-reader.js';
import { SharedLogReader } from './shared-log-reader.js';

const NOTES = new Set([NotedV1.name]);
let database: TestDatabase;
let dataSource: DataSource;
let events: EventLog;
let reads: jest.SpyInstance;

beforeAll(async () => {
  database = await newMessagingDatabase();
  dataSource = await newDataSource({ url: database.url, applicationName: 'reader test' }).initialize();
  events = new EventLog(dataSource, new ManualClock());
});
beforeEach(() => (reads = jest.spyOn(dataSource, 'query')));
afterEach(async () => {
  jest.restoreAllMocks();
  await dataSource.query('TRUNCATE event_log');
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

const newReader = (
  wanted: readonly (ReadonlySet<string> | undefined)[] = [NOTES, NOTES],
  maxBatchBytes = 100_000,
): SharedLogReader => new SharedLogReader(dataSource, { maxBatchEvents: 3, maxBatchBytes }, () => wanted);
const append = (...texts: string[]): Promise<void> =>
  inTransaction(dataSource, (tx) => events.append(tx, ...texts.map(newNoteEvent)));
/** Reads from the cursor. Returns the texts of the events, the end and the number of queries. */
async function read(
  reader: SharedLogReader,
  after: LogCursor,
): Promise<{ texts: string; end: LogCursor; queries: number }> {
  const before = reads.mock.calls.length;
  const batch = await reader.read(after);
  return { texts: textsOf(batch), end: batch.end, queries: reads.mock.calls.length - before };
}
const textsOf = ({ events: read }: Pick<LogBatch, 'events'>): string =>
  read.map(({ payload }) => (payload as Note).text).join('');

test('targets that read from the same cursor at the same time share one query', async () => {
  await append('a', 'b');
  const reader = newReader();
  reads.mockClear();
  const [first, second] = await Promise.all([reader.read(LOG_BEGINNING), reader.read({ ...LOG_BEGINNING })]);
  expect([textsOf(first), textsOf(second), reads.mock.calls.length]).toEqual(['ab', 'ab', 1]);
});

test('targets that share a query without events stay at their cursors', async () => {
  const reader = newReader();
  const cursors: LogCursor[] = [LOG_BEGINNING, { ...LOG_BEGINNING }];
  for (let times = 0; times < 2; times++) {
    const batches = await Promise.all(cursors.map((cursor) => reader.read(cursor)));
    for (const [i, { end }] of batches.entries()) expect(end).toBe(cursors[i]);
  }
});

test('after an error nothing is received from memory, because the server may have lost events in a failover', async () => {
  await append('a');
  const reader = newReader();
  const { end } = await read(reader, LOG_BEGINNING);
  reads.mockRejectedValueOnce(new Error('Connection terminated'));
  await expect(reader.read(end)).rejects.toThrow('Connection terminated');
  await dataSource.query('TRUNCATE event_log');
  expect((await read(reader, LOG_BEGINNING)).texts).toBe('');
});

test('a target that reads after the query has begun does not share it', async () => {
  const reader = newReader();
  reads.mockRestore();
  const query = dataSource.query.bind(dataSource);
  let second: Promise<Pick<LogBatch, 'events'>> | undefined;
  jest.spyOn(dataSource, 'query').mockImplementationOnce(async (...parameters: Parameters<typeof query>) => {
    const rows = await query(...parameters);
    await append('a');
    second = reader.read(LOG_BEGINNING);
    return rows;
  });
  const first = await reader.read(LOG_BEGINNING);
  expect([textsOf(first), textsOf(await second!)]).toEqual(['', 'a']);
});

test('a slower target receives from memory what another target has read, up to the limit of a batch', async () => {
  const reader = newReader();
  let end: LogCursor = LOG_BEGINNING;
  for (const text of ['a', 'b', 'c', 'd']) {
    await append(text);
    ({ end } = await read(reader, end));
  }
  const slower = await read(reader, LOG_BEGINNING);
  expect([slower.texts, slower.queries]).toEqual(['abc', 0]);
  await append('e');
  const last = await read(reader, slower.end);
  expect([last.texts, last.queries]).toEqual(['de', 1]);
});

test('the memory is limited in bytes, and a single target uses none', async () => {
  for (const reader of [newReader([NOTES, NOTES], 600), newReader([NOTES])]) {
    await dataSource.query('TRUNCATE event_log');
    await append('a');
    const first = await read(reader, LOG_BEGINNING);
    await append('b');
    await read(reader, first.end);
    const slower = await read(reader, LOG_BEGINNING);
    expect([slower.texts, slower.queries]).toEqual(['ab', 1]);
  }
});

test('a query contains the types of all targets, and every type if one target wants all types', async () => {
  await append('a');
  await inTransaction(dataSource, (tx) => events.append(tx, { ...newNoteEvent('o'), type: { name: 'other.v1' } }));
  const wanted: (ReadonlySet<string> | undefined)[] = [NOTES, new Set(['third.v1'])];
  const reader = newReader(wanted);
  expect((await read(reader, LOG_BEGINNING)).texts).toBe('a');
  // A batch in memory has no events of the types of a new target.
  wanted.push(new Set(['other.v1']));
  expect((await read(reader, LOG_BEGINNING)).texts).toBe('ao');
  expect((await read(newReader([NOTES, undefined]), LOG_BEGINNING)).texts).toBe('ao');
});
