import { inTransaction, newDataSource } from '@svc/persistence';
import { ManualClock, newMessagingDatabase, openTransaction, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { newNoteEvent, type Note, NotedV1 } from '../../test/harness/effects.js';
import { ensureMonthPartitions, EventLog } from '../index.js';
import { joinCursors, separateCursors } from '../relay/separate-cursors.js';
import {
  findCursor,
  findLag,
  hasEventsBeyond,
  type LogBatch,
  type LogScope,
  moveCursor,
  readLog,
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

const LOG_BEGINNING = { txid: '0', position: 0 };
/** Size of the payload {"text": "x"} of a one-letter note. */
const NOTE_BYTES = 13;

const append = (...texts: string[]): Promise<void> =>
  inTransaction(dataSource, (tx) => events.append(tx, ...texts.map(newNoteEvent)));
const read = (scope: Partial<LogScope> = {}, bounds: { events?: number; bytes?: number } = {}): Promise<LogBatch> =>
  readLog(
    dataSource,
    { after: LOG_BEGINNING, ...scope },
    { maxBatchEvents: bounds.events ?? 100, maxBatchBytes: bounds.bytes ?? 1_000 },
  );
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

test('readLog returns no events of an open transaction or of later transactions, and reports that they are blocked', async () => {
  await using transaction = await openTransaction(dataSource);
  await events.append(transaction.manager, newNoteEvent('open'));
  await append('after it');
  const blocked = await read();
  expect([readTexts(blocked), blocked.end, blocked.isBlocked]).toEqual([[], LOG_BEGINNING, true]);
  const withoutNotes = await read({ types: new Set(['other.v1']) });
  expect([withoutNotes.end, withoutNotes.isBlocked]).toEqual([LOG_BEGINNING, false]);
  await transaction.commit();
  const afterCommit = await read();
  expect([readTexts(afterCommit), afterCommit.isBlocked]).toEqual([['open', 'after it'], false]);
});

test('a cursor never moves backwards, and events up to the cursor are not counted as waiting', async () => {
  await append('a', 'b');
  const { end } = await read();
  const before = { ...end, position: end.position - 1 };
  expect(await findLag(dataSource, 'target')).toMatchObject({ waiting: 2 });
  await moveCursor(dataSource, 'target', before);
  expect(await findLag(dataSource, 'target')).toMatchObject({ waiting: 1 });
  expect(await hasEventsBeyond(dataSource, 'target')).toBe(true);
  await moveCursor(dataSource, 'target', end);
  expect(await hasEventsBeyond(dataSource, 'target')).toBe(false);
  for (const earlier of [before, { txid: '1', position: end.position + 1 }]) {
    await moveCursor(dataSource, 'target', earlier);
    expect(await findCursor(dataSource, 'target')).toEqual({ ...end, held: {} });
  }
});

test('a cursor with a held type has its position, and the events of the held type after it are counted as waiting', async () => {
  await append('a', 'b');
  await inTransaction(dataSource, (tx) => events.append(tx, { ...newNoteEvent('other'), type: { name: 'other.v1' } }));
  await append('c');
  const { end } = await read();
  const afterFirst = (await read({}, { events: 1 })).end;
  await moveCursor(dataSource, 'target', end, { [NotedV1.name]: afterFirst });
  expect(await findCursor(dataSource, 'target')).toEqual({ ...end, held: { [NotedV1.name]: afterFirst } });
  expect(await findLag(dataSource, 'target')).toMatchObject({ waiting: 2 });
  expect(await findLag(dataSource, 'target', new Set(['other.v1']))).toEqual({ waiting: 0, since: null });
  expect(await hasEventsBeyond(dataSource, 'target')).toBe(true);
  await append('d');
  expect(await findLag(dataSource, 'target')).toMatchObject({ waiting: 3 });
  await moveCursor(dataSource, 'target', end, { [NotedV1.name]: end });
  expect(await findLag(dataSource, 'target')).toMatchObject({ waiting: 1 });
  // The position is the same, and the held type is not held any more.
  await moveCursor(dataSource, 'target', end);
  expect(await findCursor(dataSource, 'target')).toEqual({ ...end, held: {} });
});

test('readLog skips excluded types and ends at the last position of its scope', async () => {
  await append('a');
  await inTransaction(dataSource, (tx) => events.append(tx, { ...newNoteEvent('other'), type: { name: 'other.v1' } }));
  const { end } = await read();
  await append('later');
  expect(readTexts(await read({ exceptTypes: new Set([NotedV1.name]) }))).toEqual(['other']);
  expect(readTexts(await read({ types: new Set([NotedV1.name]), upTo: end }))).toEqual(['a']);
  expect(readTexts(await read({ upTo: end }))).toEqual(['a', 'other']);
});

test('the cursors of a target begin with its held types, and joinCursors keeps the types that a consumer holds back', async () => {
  const at = (position: number) => ({ txid: '7', position });
  const readHeld = async (target: string) => (await findCursor(dataSource, target)).held;
  await moveCursor(dataSource, 'target', at(5), { 'x.v1': at(3) });
  await separateCursors(dataSource, 'target', ['target/0', 'target/1']);
  expect(await readHeld('target/0')).toEqual({ 'x.v1': at(3) });
  await moveCursor(dataSource, 'target/0', at(8), { 'x.v1': at(4), 'y.v1': at(6), 'z.v1': at(8) });
  await moveCursor(dataSource, 'target/1', at(7), { 'x.v1': at(3), 'y.v1': at(6) });
  await joinCursors(dataSource, 'target', ['target/0', 'target/1']);
  // `z.v1` is held after the position of the joined cursor, so it is read again from there.
  expect(await findCursor(dataSource, 'target')).toEqual({ ...at(7), held: { 'x.v1': at(3), 'y.v1': at(6) } });
  await separateCursors(dataSource, 'target', ['target/0']);
  await moveCursor(dataSource, 'target/0', at(9));
  await joinCursors(dataSource, 'target', ['target/0']);
  expect(await findCursor(dataSource, 'target')).toEqual({ ...at(9), held: {} });
});

test('joinCursors moves the target to the position of its slowest consumer, but never backwards', async () => {
  const positionAfterJoin = async (targetPosition: number, ...consumerPositions: number[]) => {
    await dataSource.query('TRUNCATE relay_cursors');
    const names = consumerPositions.map((_, index) => `target/${index}`);
    await moveCursor(dataSource, 'target', { txid: '7', position: targetPosition });
    for (const [index, name] of names.entries())
      await moveCursor(dataSource, name, { txid: '7', position: consumerPositions[index]! });
    await joinCursors(dataSource, 'target', names);
    return dataSource.query('SELECT target, position FROM relay_cursors');
  };
  expect(await positionAfterJoin(1, 3, 2)).toEqual([{ target: 'target', position: 2 }]);
  expect(await positionAfterJoin(5, 3, 4)).toEqual([{ target: 'target', position: 5 }]);
});
