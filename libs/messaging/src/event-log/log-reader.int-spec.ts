import { inTransaction, newDataSource } from '@svc/persistence';
import { ManualClock, newMessagingDatabase, openTransaction, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { newNoteEvent, type Note, NotedV1 } from '../../test/harness/effects.js';
import { ensureMonthPartitions, EventLog } from '../index.js';
import { LOG_BEGINNING, type LogCursor } from './log-cursor.js';
import {
  findCursor,
  findLag,
  hasConsumerCursors,
  hasEventsBeyond,
  type LogBatch,
  type LogScope,
  moveCursor,
  readLog,
  replaceConsumerCursors,
} from './log-reader.js';

const clock = new ManualClock();
let database: TestDatabase;
let dataSource: DataSource;
let events: EventLog;

beforeAll(async () => {
  database = await newMessagingDatabase();
  dataSource = newDataSource({ url: database.url, applicationName: 'log test' });
  await dataSource.initialize();
  await ensureMonthPartitions(dataSource, clock);
  events = new EventLog(dataSource, clock);
});
afterEach(() => dataSource.query('TRUNCATE event_log, relay_cursors'));
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

/** Size of the payload {"text":"x"} of a one-letter note. */
const NOTE_BYTES = 12;

const append = (...texts: string[]): Promise<void> =>
  inTransaction(dataSource, (tx) => events.append(tx, ...texts.map(newNoteEvent)));
const read = (scope: Partial<LogScope> = {}, bounds: { events?: number; bytes?: number } = {}): Promise<LogBatch> =>
  readLog(
    dataSource,
    { after: LOG_BEGINNING, ...scope },
    { maxBatchEvents: bounds.events ?? 100, maxBatchBytes: bounds.bytes ?? 1_000 },
  );
/** Moves the cursor of `target`. */
const move = (to: LogCursor, held: Record<string, LogCursor> = {}): Promise<void> =>
  moveCursor(dataSource, 'target', { ...to, held });
const readTexts = (batch: LogBatch): string[] => batch.events.map(({ payload }) => (payload as Note).text);

test('a batch ends at the limit of events or bytes, even in the middle of a transaction, and the next batch begins after it', async () => {
  await append('a', 'b', 'c', 'd');
  const firstBatch = await read({}, { events: 3 });
  expect([readTexts(firstBatch), firstBatch.hasMore]).toEqual([['a', 'b', 'c'], true]);
  const secondBatch = await read({ after: firstBatch.end }, { events: 3 });
  expect([readTexts(secondBatch), secondBatch.hasMore]).toEqual([['d'], false]);
  expect(readTexts(await read({ after: secondBatch.end }))).toEqual([]);

  const byBytes = await read({}, { bytes: 2 * NOTE_BYTES });
  expect([readTexts(byBytes), byBytes.hasMore]).toEqual([['a', 'b'], true]);
  const belowByteLimit = await read({}, { bytes: 4 * NOTE_BYTES + 1 });
  expect([readTexts(belowByteLimit), belowByteLimit.hasMore]).toEqual([['a', 'b', 'c', 'd'], false]);
});

test('events of one transaction are read in the order of their positions, even if they are in different partitions', async () => {
  await inTransaction(dataSource, async (tx) => {
    clock.advance(200 * 24 * 3_600_000);
    await events.append(tx, newNoteEvent('first, in the default partition'));
    clock.advance(-200 * 24 * 3_600_000);
    await events.append(tx, newNoteEvent('second, in the partition of its month'));
  });
  expect(readTexts(await read({}, { events: 1 }))).toEqual(['first, in the default partition']);
  expect(readTexts(await read({}))).toHaveLength(2);
});

test('the events of a transaction that commits after later transactions are read after theirs, and each event is read once', async () => {
  await using first = await openTransaction(dataSource);
  await using second = await openTransaction(dataSource);
  await events.append(first.manager, newNoteEvent('first'));
  await events.append(second.manager, newNoteEvent('second, 1'), newNoteEvent('second, 2'));
  await append('third');
  const openTxids = await readTxids(first, second);
  const begun = await read();
  expect([readTexts(begun), begun.end.openTxids]).toEqual([['third'], openTxids]);
  expect((await read({ after: begun.end })).end).toBe(begun.end);

  await second.commit();
  await append('fourth');
  // The limit does not divide the events of the second transaction.
  const next = await read({ after: begun.end }, { events: 1 });
  expect([readTexts(next), next.hasMore]).toEqual([['second, 1', 'second, 2', 'fourth'], true]);
  expect(next.end.openTxids).toEqual([openTxids[0]]);
  await first.commit();
  const last = await read({ after: next.end });
  expect([readTexts(last), last.hasMore]).toEqual([['first'], false]);
  expect(last.end).toEqual({ ...next.end, openTxids: [] });
  expect((await read({ after: last.end })).end).toBe(last.end);
});

test('a transaction that is rolled back, or begins after the position, is not part of a cursor', async () => {
  await using rolledBack = await openTransaction(dataSource);
  await events.append(rolledBack.manager, newNoteEvent('never'));
  await append('a');
  await using later = await openTransaction(dataSource);
  await events.append(later.manager, newNoteEvent('later'));
  const { end } = await read();
  expect(end.openTxids).toEqual(await readTxids(rolledBack));
  await rolledBack[Symbol.asyncDispose]();
  const next = await read({ after: end });
  expect([readTexts(next), next.end]).toEqual([[], { ...end, openTxids: [] }]);
  await later.commit();
  expect(readTexts(await read({ after: next.end }))).toEqual(['later']);
});

test('events of one aggregate are read in the order of their versions, although the later change has the lower transaction id', async () => {
  // Both transactions change the aggregate under a lock, and this one waits for the lock.
  await using waiting = await openTransaction(dataSource);
  await waiting.query('SELECT pg_current_xact_id()');
  await append('version 1');
  await events.append(waiting.manager, newNoteEvent('version 2'));
  await waiting.commit();
  expect(readTexts(await read())).toEqual(['version 1', 'version 2']);
});

test('a read with a snapshot contains the events that were committed then', async () => {
  await append('a');
  await using transaction = await openTransaction(dataSource);
  await events.append(transaction.manager, newNoteEvent('open'));
  const [row] = await dataSource.query<{ snapshot: string }[]>('SELECT pg_current_snapshot()::text AS snapshot');
  await transaction.commit();
  await append('later');
  expect(readTexts(await read(row))).toEqual(['a']);
  expect(readTexts(await read())).toEqual(['a', 'open', 'later']);
});

test('a read with a snapshot ends at the end of the snapshot, and does not read all later events to skip them', async () => {
  await append('a');
  const [row] = await dataSource.query<{ snapshot: string }[]>('SELECT pg_current_snapshot()::text AS snapshot');
  for (let times = 0; times < 300; times++) await append('later');
  await dataSource.query('VACUUM ANALYZE event_log');
  const query = jest.spyOn(dataSource, 'query');
  await read(row);
  const [statement, parameters] = query.mock.calls.at(-1)!;
  query.mockRestore();
  const plan = await dataSource.query<{ 'QUERY PLAN': string }[]>(
    `EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) ${statement}`,
    parameters,
  );
  const skipped = plan.map((line) => Number(/Rows Removed by Filter: (\d+)/.exec(line['QUERY PLAN'])?.[1] ?? 0));
  expect(skipped.reduce((sum, rows) => sum + rows)).toBeLessThan(10);
});

test('a cursor of another server is an error, because it would skip the events of all transactions below it', async () => {
  await append('a');
  const { end } = await read();
  await expect(read({ after: { ...end, txid: String(BigInt(end.txid) + 1_000_000n) } })).rejects.toThrow(
    'the database was restored',
  );
});

test('a cursor never moves backwards, and events up to the cursor are not counted as waiting', async () => {
  await append('a', 'b');
  const { end } = await read();
  const before = { ...end, position: end.position - 1 };
  expect(await findLag(dataSource, 'target')).toMatchObject({ waiting: 2 });
  await move(before);
  expect(await findLag(dataSource, 'target')).toMatchObject({ waiting: 1 });
  expect(await hasEventsBeyond(dataSource, 'target')).toBe(true);
  await move(end);
  expect(await hasEventsBeyond(dataSource, 'target')).toBe(false);
  for (const earlier of [before, { ...end, txid: '1', position: end.position + 1 }]) {
    await move(earlier);
    expect(await findCursor(dataSource, 'target')).toEqual({ ...end, held: {} });
  }
});

test('a cursor with a held type has its position, and the events of the held type after it are counted as waiting', async () => {
  await append('a', 'b');
  await inTransaction(dataSource, (tx) => events.append(tx, { ...newNoteEvent('other'), type: { name: 'other.v1' } }));
  await append('c');
  const { end } = await read();
  const afterFirst = (await read({}, { events: 1 })).end;
  await move(end, { [NotedV1.name]: afterFirst });
  expect(await findCursor(dataSource, 'target')).toEqual({ ...end, held: { [NotedV1.name]: afterFirst } });
  expect(await findLag(dataSource, 'target')).toMatchObject({ waiting: 2 });
  expect(await findLag(dataSource, 'target', new Set(['other.v1']))).toEqual({ waiting: 0, since: null });
  expect(await hasEventsBeyond(dataSource, 'target')).toBe(true);
  await append('d');
  expect(await findLag(dataSource, 'target')).toMatchObject({ waiting: 3 });
  await move(end, { [NotedV1.name]: end });
  expect(await findLag(dataSource, 'target')).toMatchObject({ waiting: 1 });
  // The position is the same, and the held type is not held any more.
  await move(end);
  expect(await findCursor(dataSource, 'target')).toEqual({ ...end, held: {} });
});

test('an event of a transaction that was open at the read counts as waiting when the transaction has committed', async () => {
  await using transaction = await openTransaction(dataSource);
  await events.append(transaction.manager, newNoteEvent('late'));
  await append('a');
  const { end } = await read();
  await move(end);
  expect(await findCursor(dataSource, 'target')).toEqual({ ...end, held: {} });
  expect(await hasEventsBeyond(dataSource, 'target')).toBe(false);
  await transaction.commit();
  expect(await findLag(dataSource, 'target')).toEqual({ waiting: 1, since: clock.now() });
  // The event is of a held type, whose cursor is not behind the transaction.
  await move(end, { [NotedV1.name]: { ...end, openTxids: [] } });
  expect(await hasEventsBeyond(dataSource, 'target')).toBe(false);
  await move({ ...end, openTxids: [] }, { [NotedV1.name]: end });
  expect(await hasEventsBeyond(dataSource, 'target')).toBe(true);
  expect(await hasEventsBeyond(dataSource, 'target', new Set(['other.v1']))).toBe(false);
});

test('readLog skips other types and ends at the last position of its scope', async () => {
  await append('a');
  await inTransaction(dataSource, (tx) => events.append(tx, { ...newNoteEvent('other'), type: { name: 'other.v1' } }));
  const { end } = await read();
  await append('later');
  expect(readTexts(await read({ types: new Set(['other.v1']) }))).toEqual(['other']);
  expect(readTexts(await read({ types: new Set([NotedV1.name]), upTo: end }))).toEqual(['a']);
  expect(readTexts(await read({ upTo: end }))).toEqual(['a', 'other']);
});

test('the cursors of consumers are replaced by the cursor of their target, which never moves backwards', async () => {
  const at = (position: number) => ({ ...LOG_BEGINNING, txid: '7', position });
  const readCursors = () => dataSource.query('SELECT target, position FROM relay_cursors ORDER BY target');
  await move(at(5));
  await moveCursor(dataSource, 'targets', at(1));
  expect(await hasConsumerCursors(dataSource, 'target')).toBe(false);
  await moveCursor(dataSource, 'target/0', at(8));
  await moveCursor(dataSource, 'target/1', at(7));
  expect(await hasConsumerCursors(dataSource, 'target')).toBe(true);
  await replaceConsumerCursors(dataSource, 'target', at(7));
  expect(await readCursors()).toEqual([
    { target: 'target', position: 7 },
    { target: 'targets', position: 1 },
  ]);
  await replaceConsumerCursors(dataSource, 'target', at(6));
  expect(await findCursor(dataSource, 'target')).toEqual(at(7));
});

async function readTxids(...transactions: { query(sql: string): Promise<unknown> }[]): Promise<string[]> {
  const rows = transactions.map((transaction) => transaction.query('SELECT pg_current_xact_id()::text AS txid'));
  return (await Promise.all(rows)).map((result) => (result as [{ txid: string }])[0].txid);
}
