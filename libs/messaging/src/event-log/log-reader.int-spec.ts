import { inTransaction, newDataSource, type Transaction } from '@svc/persistence';
import { ManualClock, newTestDatabase, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { newNoteEvent, type Note } from '../../test/harness/effects.js';
import { ensureMonthPartitions, EventLog, messagingMigrations } from '../index.js';
import { joinCursors } from '../relay/separate-cursors.js';
import { findCursor, isBehind, lagBehind, type LogBatch, type LogScope, moveCursor, readLog } from './log-reader.js';

const clock = new ManualClock();
let database: TestDatabase;
let dataSource: DataSource;
let events: EventLog;

beforeAll(async () => {
  database = await newTestDatabase();
  dataSource = newDataSource({ url: database.url, applicationName: 'log test', migrations: messagingMigrations });
  await dataSource.initialize();
  await dataSource.runMigrations({ transaction: 'each' });
  await ensureMonthPartitions(dataSource, clock);
  events = new EventLog(dataSource, clock);
});
afterEach(() => dataSource.query('TRUNCATE event_log, relay_cursors'));
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

const BEGINNING = { txid: '0', position: 0 };
/** As JSON: {"text": "x"} */
const BYTES_OF_NOTE = 13;

const append = (...texts: string[]): Promise<void> =>
  inTransaction(dataSource, (tx) => events.append(tx, ...texts.map(newNoteEvent)));
const read = (scope: Partial<LogScope> = {}, bounds: { events?: number; bytes?: number } = {}): Promise<LogBatch> =>
  readLog(
    dataSource,
    { after: BEGINNING, ...scope },
    { batchMax: bounds.events ?? 100, batchBytesMax: bounds.bytes ?? 1_000 },
  );
const textsOf = (batch: LogBatch): string[] => batch.events.map(({ payload }) => (payload as Note).text);

test('a batch ends at its number of events or bytes, within a transaction too, and the next begins behind it', async () => {
  await append('a', 'b', 'c', 'd');
  const byCount = await read({}, { events: 3 });
  expect([textsOf(byCount), byCount.isCut]).toEqual([['a', 'b', 'c'], true]);
  const rest = await read({ after: byCount.end }, { events: 3 });
  expect([textsOf(rest), rest.isCut]).toEqual([['d'], false]);
  expect(textsOf(await read({ after: rest.end }))).toEqual([]);

  const byBytes = await read({}, { bytes: 2 * BYTES_OF_NOTE });
  expect([textsOf(byBytes), byBytes.isCut]).toEqual([['a', 'b'], true]);
  const justBelow = await read({}, { bytes: 4 * BYTES_OF_NOTE + 1 });
  expect([textsOf(justBelow), justBelow.isCut]).toEqual([['a', 'b', 'c', 'd'], false]);
});

test('events of one transaction are read in the order of their positions, in whatever partitions they are', async () => {
  await inTransaction(dataSource, async (tx) => {
    clock.advance(200 * 24 * 3_600_000);
    await events.append(tx, newNoteEvent('first, in the default partition'));
    clock.advance(-200 * 24 * 3_600_000);
    await events.append(tx, newNoteEvent('second, in the partition of its month'));
  });
  expect(textsOf(await read({}, { events: 1 }))).toEqual(['first, in the default partition']);
  expect(textsOf(await read({}))).toHaveLength(2);
});

test('what an open transaction has written is not read, nor what came after it; a batch says that it is blocked', async () => {
  const open = dataSource.createQueryRunner();
  await open.startTransaction();
  await events.append(open.manager as Transaction, newNoteEvent('open'));
  await append('after it');
  const blocked = await read();
  expect([textsOf(blocked), blocked.end, blocked.isBlocked]).toEqual([[], BEGINNING, true]);
  const stepped = await read({ types: new Set(['other.v1']) });
  expect([stepped.end, stepped.isBlocked]).toEqual([BEGINNING, false]);
  await open.commitTransaction();
  await open.release();
  const free = await read();
  expect([textsOf(free), free.isBlocked]).toEqual([['open', 'after it'], false]);
});

test('a cursor never moves backwards, and what is behind it counts as handed over', async () => {
  await append('a', 'b');
  const { end } = await read();
  const before = { ...end, position: end.position - 1 };
  expect(await lagBehind(dataSource, 'target')).toMatchObject({ waiting: 2 });
  await moveCursor(dataSource, 'target', before);
  expect(await lagBehind(dataSource, 'target')).toMatchObject({ waiting: 1 });
  expect(await isBehind(dataSource, 'target')).toBe(true);
  await moveCursor(dataSource, 'target', end);
  expect(await isBehind(dataSource, 'target')).toBe(false);
  for (const earlier of [before, { txid: '1', position: end.position + 1 }]) {
    await moveCursor(dataSource, 'target', earlier);
    expect(await findCursor(dataSource, 'target')).toEqual(end);
  }
});

test('joined, a target stands where the last of its consumers does, and not behind where it stood itself', async () => {
  const join = async (own: number, ...consumers: number[]) => {
    await dataSource.query('TRUNCATE relay_cursors');
    const names = consumers.map((_, at) => `target/${at}`);
    await moveCursor(dataSource, 'target', { txid: '7', position: own });
    for (const [at, name] of names.entries())
      await moveCursor(dataSource, name, { txid: '7', position: consumers[at]! });
    await joinCursors(dataSource, 'target', names);
    return dataSource.query('SELECT target, position FROM relay_cursors');
  };
  expect(await join(1, 3, 2)).toEqual([{ target: 'target', position: 2 }]);
  expect(await join(5, 3, 4)).toEqual([{ target: 'target', position: 5 }]);
});
