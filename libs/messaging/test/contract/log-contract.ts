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

  test('an event is delivered at once while an older transaction is open, whose events follow after its commit', async () => {
    const history = await createEffectsTable(harness(), 'history');
    let handled = 0;
    await harness().startConsumer('history', {
      events: {
        [NotedV1.name]: async (events, context) => {
          handled += events.length;
          await writeEffects(events, context);
        },
      },
    });
    const producer = await harness().startProducer('processor');
    await producer.relay.start();

    await using lastToCommit = await openTransaction(producer.dataSource);
    await producer.events.append(lastToCommit.manager, newNoteEvent('first position, last commit'));
    await appendNotes(producer, 'second position, first commit');
    await expectEffects(history, ['second position, first commit']);
    // The cursor has passed the position of the open transaction.
    await waitUntil('the relay to catch up', DEADLINE_MS, () => producer.relay.isCaughtUp());

    await lastToCommit.commit();
    await appendNotes(producer, 'third');
    await expectEffects(history, ['second position, first commit', 'first position, last commit', 'third']);
    await waitUntil('the relay to catch up', DEADLINE_MS, () => producer.relay.isCaughtUp());
    expect(handled).toBe(3);
  });

  test('the events of a transaction that was open when the relay crashed are delivered by the next process', async () => {
    const history = await createEffectsTable(harness(), 'history');
    const log = await harness().database('processor');
    await harness().startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
    const [crashing, writer, nextProcess] = [
      await harness().startProducer('processor'),
      await harness().startProducer('processor'),
      await harness().startProducer('processor'),
    ];
    await crashing.relay.start();
    await using lastToCommit = await openTransaction(writer.dataSource);
    await writer.events.append(lastToCommit.manager, newNoteEvent('first position, last commit'));
    await appendNotes(crashing, 'second position, first commit');
    await waitUntil('the cursor to move', DEADLINE_MS, async () => {
      const [row] = await log.query<[{ open: number }?]>('SELECT cardinality(open_txids) AS open FROM relay_cursors');
      return row?.open === 1;
    });
    await crashing.crash();
    await lastToCommit.commit();

    // The lease of the crashed process expires after 400 ms.
    harness().clock.advance(400);
    await nextProcess.relay.start();
    await expectEffects(history, ['second position, first commit', 'first position, last commit']);
    await waitUntil('the relay to catch up', DEADLINE_MS, () => nextProcess.relay.isCaughtUp());
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
