import { inTransaction } from '@svc/persistence';
import { openTransaction, waitUntil } from '@svc/testing';
import { MAX_EVENT_BYTES } from '../../src/index.js';
import {
  appendNotes,
  createEffectsTable,
  DEADLINE_MS,
  expectEffects,
  newNoteEvent,
  NotedV1,
  readEffects,
  writeEffects,
} from '../harness/effects.js';
import type { MessagingHarness } from '../harness/harness.js';

/** Guarantees of the event log: an appended event is delivered if and only if its transaction commits. */
export function logContract(harness: () => MessagingHarness): void {
  test('events of a committed transaction are delivered, and events that were rolled back are not delivered', async () => {
    const history = await createEffectsTable(harness(), 'history');
    const producer = await harness().startProducer('processor');
    await harness().startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
    await producer.relay.start();

    await appendNotes(producer, 'a', 'b');
    const rolledBack = inTransaction(producer.dataSource, async (tx) => {
      await producer.events.append(tx, newNoteEvent('never'));
      throw new Error('the change was rejected');
    });
    await expect(rolledBack).rejects.toThrow('the change was rejected');
    await appendNotes(producer, 'c');

    await expectEffects(history, ['a', 'b', 'c']);
  });

  test('append() without a transaction is rejected and writes no event', async () => {
    const producer = await harness().startProducer('processor');
    // @ts-expect-error This does not compile, because the connection is not in a transaction.
    const outside = producer.events.append(producer.dataSource.manager, newNoteEvent('a'));
    await expect(outside).rejects.toThrow('inside the transaction');
    expect(await (await harness().database('processor')).query('SELECT 1 FROM event_log')).toEqual([]);
  });

  test('an event over the size limit is rejected before it is sent to the database', async () => {
    const producer = await harness().startProducer('processor');
    await expect(appendNotes(producer, 'x'.repeat(MAX_EVENT_BYTES))).rejects.toThrow('noted.v1 is over');
  });

  test('the events of a transaction that commits after a later transaction are not skipped', async () => {
    const history = await createEffectsTable(harness(), 'history');
    const log = await harness().database('processor');
    const producer = await harness().startProducer('processor');
    await harness().startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
    await producer.relay.start();

    await using lastToCommit = await openTransaction(producer.dataSource);
    await producer.events.append(lastToCommit.manager, newNoteEvent('first position, last commit'));
    await appendNotes(producer, 'second position, first commit');

    // A cursor that consisted only of the position would now read the second event, store its position, and skip the
    // first event.
    const visibleRows = await log.query<{ position: number; text: string }[]>(
      `SELECT position, payload->>'text' AS text FROM event_log WHERE position > 0 ORDER BY position`,
    );
    expect(visibleRows.map(({ text }) => text)).toEqual(['second position, first commit']);
    expect(await producer.relay.deliverAll()).toBe(0);

    await lastToCommit.commit();
    const skipped = await log.query<{ text: string }[]>(
      `SELECT payload->>'text' AS text FROM event_log WHERE position < $1`,
      [visibleRows[0]!.position],
    );
    expect(skipped).toEqual([{ text: 'first position, last commit' }]);

    await expectEffects(history, ['first position, last commit', 'second position, first commit']);
    expect(await readEffects(history)).toEqual(['first position, last commit', 'second position, first commit']);
  });

  test('the events of a transaction that began first and appends last are not skipped', async () => {
    const history = await createEffectsTable(harness(), 'history');
    const producer = await harness().startProducer('processor');
    await harness().startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
    await producer.relay.start();

    await using firstToBegin = await openTransaction(producer.dataSource);
    await firstToBegin.query('SELECT pg_current_xact_id()');
    await appendNotes(producer, 'lower position, higher transaction');
    await producer.events.append(firstToBegin.manager, newNoteEvent('higher position, lower transaction'));
    await firstToBegin.commit();
    await appendNotes(producer, 'last');

    await expectEffects(history, ['last', 'lower position, higher transaction', 'higher position, lower transaction']);
  });

  test('events of a month without a partition are moved when the partition is created, and are delivered once', async () => {
    const history = await createEffectsTable(harness(), 'history');
    const log = await harness().database('processor');
    const producer = await harness().startProducer('processor');
    await harness().startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
    await producer.relay.start();
    await appendNotes(producer, 'march');
    expect(await partitionOf('march')).toBe('event_log_2026_03');
    await producer.relay.stop();

    harness().clock.advance(300 * 24 * 3_600_000);
    await appendNotes(producer, 'december');
    expect(await partitionOf('december')).toBe('event_log_default');

    // The relay creates the partition at its start, and must deliver a moved event once.
    await producer.relay.start();
    expect(await partitionOf('december')).toBe('event_log_2026_12');
    await expectEffects(history, ['march', 'december']);
    await appendNotes(producer, 'december too');
    expect(await partitionOf('december too')).toBe('event_log_2026_12');
    await expectEffects(history, ['march', 'december', 'december too']);
    harness().clock.advance(31 * 24 * 3_600_000);
    await waitUntil('the partitions of the new month', DEADLINE_MS, async () =>
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
