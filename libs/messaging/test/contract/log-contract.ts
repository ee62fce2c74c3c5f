import { inTransaction, type Transaction } from '@svc/persistence';
import { waitUntil } from '@svc/testing';
import { MAX_EVENT_BYTES } from '../../src/index.js';
import {
  appendNotes,
  DEADLINE_MS,
  effectsTable,
  expectEffects,
  newNoteEvent,
  NotedV1,
  readEffects,
  writeEffects,
} from '../harness/effects.js';
import type { MessagingHarness } from '../harness/harness.js';

/** An appended event arrives if and only if its transaction commits. */
export function logContract(harness: () => MessagingHarness): void {
  test('what a committed transaction appended arrives; what was rolled back never does', async () => {
    const history = await effectsTable(harness(), 'history');
    const producer = await harness().producer('processor');
    await harness().consumer('history', { events: { [NotedV1.name]: writeEffects } });
    await producer.relay.start();

    await appendNotes(producer, 'a', 'b');
    const rolledBack = inTransaction(producer.dataSource, async (tx) => {
      await producer.events.append(tx, newNoteEvent('never'));
      throw new Error('the change was refused');
    });
    await expect(rolledBack).rejects.toThrow('the change was refused');
    await appendNotes(producer, 'c');

    await expectEffects(history, ['a', 'b', 'c']);
  });

  test('outside a transaction nothing can be appended, and nothing was', async () => {
    const producer = await harness().producer('processor');
    // @ts-expect-error It does not compile: the connection is not in a transaction.
    const outside = producer.events.append(producer.dataSource.manager, newNoteEvent('a'));
    await expect(outside).rejects.toThrow('inside the transaction');
    expect(await (await harness().database('processor')).query('SELECT 1 FROM event_log')).toEqual([]);
  });

  test('an event over the bound is refused before it reaches the database', async () => {
    const producer = await harness().producer('processor');
    await expect(appendNotes(producer, 'x'.repeat(MAX_EVENT_BYTES))).rejects.toThrow('noted.v1 is over');
  });

  test('a transaction that commits after a later one is not skipped', async () => {
    const history = await effectsTable(harness(), 'history');
    const log = await harness().database('processor');
    const producer = await harness().producer('processor');
    await harness().consumer('history', { events: { [NotedV1.name]: writeEffects } });
    await producer.relay.start();

    const slow = producer.dataSource.createQueryRunner();
    await slow.startTransaction();
    await producer.events.append(slow.manager as Transaction, newNoteEvent('first position, last commit'));
    await appendNotes(producer, 'second position, first commit');

    // A cursor over positions alone would now see the second, store its position, and skip the first.
    const naive = await log.query<{ position: number; text: string }[]>(
      `SELECT position, payload->>'text' AS text FROM event_log WHERE position > 0 ORDER BY position`,
    );
    expect(naive.map(({ text }) => text)).toEqual(['second position, first commit']);
    expect(await producer.relay.runOnce()).toBe(0);

    await slow.commitTransaction();
    await slow.release();
    const skipped = await log.query<{ text: string }[]>(
      `SELECT payload->>'text' AS text FROM event_log WHERE position < $1`,
      [naive[0]!.position],
    );
    expect(skipped).toEqual([{ text: 'first position, last commit' }]);

    await expectEffects(history, ['first position, last commit', 'second position, first commit']);
    expect(await readEffects(history)).toEqual(['first position, last commit', 'second position, first commit']);
  });

  test('a transaction that began first and appends last is not skipped', async () => {
    const history = await effectsTable(harness(), 'history');
    const producer = await harness().producer('processor');
    await harness().consumer('history', { events: { [NotedV1.name]: writeEffects } });
    await producer.relay.start();

    const early = producer.dataSource.createQueryRunner();
    await early.startTransaction();
    await early.query('SELECT pg_current_xact_id()');
    await appendNotes(producer, 'lower position, higher transaction');
    await producer.events.append(early.manager as Transaction, newNoteEvent('higher position, lower transaction'));
    await early.commitTransaction();
    await early.release();
    await appendNotes(producer, 'last');

    await expectEffects(history, ['last', 'lower position, higher transaction', 'higher position, lower transaction']);
  });

  test('each month has its partition; rows of a month without one are moved when it is made, and are handed over once', async () => {
    const history = await effectsTable(harness(), 'history');
    const log = await harness().database('processor');
    const producer = await harness().producer('processor');
    await harness().consumer('history', { events: { [NotedV1.name]: writeEffects } });
    await producer.relay.start();
    await appendNotes(producer, 'march');
    expect(await partitionOf('march')).toBe('event_log_2026_03');
    await producer.relay.stop();

    harness().clock.advance(300 * 24 * 3_600_000);
    await appendNotes(producer, 'december');
    expect(await partitionOf('december')).toBe('event_log_default');

    // For the relay nothing changes between the insert of a row and its move.
    await producer.relay.start();
    expect(await partitionOf('december')).toBe('event_log_2026_12');
    await expectEffects(history, ['march', 'december']);
    await appendNotes(producer, 'december too');
    expect(await partitionOf('december too')).toBe('event_log_2026_12');
    await expectEffects(history, ['march', 'december', 'december too']);
    harness().clock.advance(31 * 24 * 3_600_000);
    await waitUntil('the partitions of a month that begins', DEADLINE_MS, async () =>
      (await partitions()).includes('event_log_2027_03'),
    );
    expect(await partitions()).toEqual(
      expect.arrayContaining(['event_log_2026_05', 'event_log_2027_01', 'event_log_default']),
    );

    async function partitionOf(text: string): Promise<string> {
      const [row] = await log.query<{ partition: string }[]>(
        `SELECT tableoid::regclass::text AS partition FROM event_log WHERE payload->>'text' = $1`,
        [text],
      );
      return row!.partition;
    }
    async function partitions(): Promise<string[]> {
      const rows = await log.query<{ name: string }[]>(
        `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'event_log'::regclass`,
      );
      return rows.map(({ name }) => name);
    }
  });
}
