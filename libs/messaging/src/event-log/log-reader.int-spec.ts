import { inTransaction, newDataSource } from '@svc/persistence';
import { ManualClock, newMessagingDatabase, openTransaction, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { newNoteEvent, type Note } from '../../test/harness/effects.js';
import { ensureMonthPartitions, EventLog } from '../index.js';
import { joinCursors } from '../relay/separate-cursors.js';
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
    expect(await findCursor(dataSource, 'target')).toEqual(end);
  }
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
