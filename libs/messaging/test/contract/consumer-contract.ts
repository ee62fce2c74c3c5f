import { inTransaction } from '@svc/persistence';
import { holdLocks, waitUntil } from '@svc/testing';
import { type EventHandler, upsertIfNewer } from '../../src/index.js';
import {
  appendNotes,
  countOccurrences,
  createEffectsTable,
  DEADLINE_MS,
  expectEffects,
  newNoteEvent,
  type Note,
  NotedV1,
  readEffects,
  writeEffects,
} from '../harness/effects.js';
import { newGate } from '../harness/gate.js';
import type { MessagingHarness } from '../harness/harness.js';

/** Guarantees of consumers: each event has its effect exactly once, even if it is delivered several times. */
export function consumerContract(harness: () => MessagingHarness): void {
  test('a handler writes its effect once, even if the connection is lost before the commit', async () => {
    const history = await createEffectsTable(harness(), 'history');
    let deliveries = 0;
    let effectsAfterCrash: string[] | undefined;
    await harness().startConsumer('history', {
      events: {
        [NotedV1.name]: async (events, context) => {
          if (++deliveries === 2) effectsAfterCrash = await readEffects(history);
          await writeEffects(events, context);
          if (deliveries === 1) await context.tx.query('SELECT pg_terminate_backend(pg_backend_pid())');
        },
      },
    });
    const producer = await harness().startProducer('processor');
    await producer.relay.start();
    await appendNotes(producer, 'a');
    await expectEffects(history, ['a']);
    expect(effectsAfterCrash).toEqual([]);
    expect(deliveries).toBe(2);
  });

  test('if a process crashes in the middle of a batch, the next process handles the whole batch', async () => {
    const history = await createEffectsTable(harness(), 'history');
    const gate = newGate();
    const crashing = await harness().startConsumer('history', {
      events: {
        [NotedV1.name]: async (events, context) => {
          await writeEffects(events, context);
          await gate.pass();
        },
      },
    });
    const producer = await harness().startProducer('processor');
    await producer.relay.start();
    await appendNotes(producer, 'a', 'b');
    await gate.reached;
    const crashed = crashing.crash();
    gate.open();
    await crashed;
    expect(await readEffects(history)).toEqual([]);

    const nextConsumer = await harness().startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
    await expectEffects(history, ['a', 'b']);
    expect((await nextConsumer.deadLetters.list()).deadLetters).toEqual([]);
  });

  test('a consumer completes the received batch before it stops', async () => {
    const history = await createEffectsTable(harness(), 'history');
    const gate = newGate();
    const stopping = await harness().startConsumer('history', {
      events: {
        [NotedV1.name]: async (events, context) => {
          await gate.pass();
          await writeEffects(events, context);
        },
      },
    });
    const producer = await harness().startProducer('processor');
    await producer.relay.start();
    await appendNotes(producer, 'a');
    await gate.reached;
    const stopped = stopping.stop();
    gate.open();
    await stopped;
    expect(await readEffects(history)).toEqual(['a']);
  });

  test('a message that keeps failing becomes a dead letter, and later messages do not wait for it', async () => {
    const history = await createEffectsTable(harness(), 'history');
    const attempts: string[] = [];
    /**
     * The texts of the events in the first batch with the poison event. Over RabbitMQ, later events may arrive in
     * another batch.
     */
    let batchOfPoison: string[] = [];
    let effectsAtSecondRetry: string[] | undefined;
    const consumer = await harness().startConsumer('history', {
      events: {
        [NotedV1.name]: async (events, context) => {
          if (countOccurrences(attempts)['poison'] === undefined)
            batchOfPoison = events.map(({ payload }) => (payload as Note).text);
          for (const { payload } of events) {
            const { text } = payload as Note;
            attempts.push(text);
            if (text !== 'poison') continue;
            if (events.length === 1 && countOccurrences(attempts)['poison'] === 3)
              effectsAtSecondRetry = await readEffects(history);
            throw new Error('cannot be read');
          }
          await writeEffects(events, context);
        },
      },
    });
    const producer = await harness().startProducer('processor');
    await appendNotes(producer, 'before', 'poison', 'after');
    await producer.relay.start();

    const [letter] = await waitUntil('the dead letter', DEADLINE_MS, async () =>
      nonEmpty((await consumer.deadLetters.list()).deadLetters),
    );
    expect(letter).toEqual({
      messageId: expect.any(String) as string,
      type: 'noted.v1',
      aggregateId: 'poison',
      error: 'Error: cannot be read',
      deliveries: 5,
      failedAt: harness().clock.now(),
    });
    expect(await readEffects(history)).toEqual(['before', 'after']);
    expect(effectsAtSecondRetry).toEqual(expect.arrayContaining(batchOfPoison.filter((text) => text !== 'poison')));
    // There was one attempt in the batch, and then five attempts without other events.
    expect(countOccurrences(attempts)['poison']).toBe(6);
    await waitUntil('the cursor to move', DEADLINE_MS, () => producer.relay.isCaughtUp());
  });

  test('the replay of a dead letter fails until the cause is repaired, and then the dead letter is handled once', async () => {
    const history = await createEffectsTable(harness(), 'history');
    let isRepaired = false;
    const handler: EventHandler = async (events, context) => {
      await writeEffects(events, context);
      if (!isRepaired) throw new Error('not repaired');
    };
    const consumer = await harness().startConsumer('history', { events: { [NotedV1.name]: handler } });
    const producer = await harness().startProducer('processor');
    await appendNotes(producer, 'a');
    await producer.relay.start();
    const [letter] = await waitUntil('the dead letter', DEADLINE_MS, async () =>
      nonEmpty((await consumer.deadLetters.list()).deadLetters),
    );
    const { messageId } = letter!;

    await expect(consumer.deadLetters.replay(messageId)).rejects.toThrow('not repaired');
    expect((await consumer.deadLetters.list()).deadLetters).toEqual([letter]);
    expect(await readEffects(history)).toEqual([]);

    isRepaired = true;
    const replays = await Promise.allSettled([
      consumer.deadLetters.replay(messageId),
      consumer.deadLetters.replay(messageId),
    ]);
    const errors = replays.flatMap((replay) => (replay.status === 'rejected' ? [replay.reason as unknown] : []));
    expect(errors).toMatchObject([{ code: 'resource.not-found' }]);
    expect(await readEffects(history)).toEqual(['a']);
    expect((await consumer.deadLetters.list()).deadLetters).toEqual([]);
    await expect(consumer.deadLetters.replay(messageId)).rejects.toMatchObject({ code: 'resource.not-found' });
    await expect(consumer.deadLetters.replay('not-an-id')).rejects.toMatchObject({ code: 'resource.not-found' });
  });

  test('a dead letter does not store the value that PostgreSQL repeats in its error message', async () => {
    await createEffectsTable(harness(), 'history');
    const consumer = await harness().startConsumer('history', {
      events: {
        [NotedV1.name]: async ([event], { tx }) => {
          await tx.query('SELECT $1::bigint', [(event!.payload as Note).text]);
        },
      },
    });
    const producer = await harness().startProducer('processor');
    await appendNotes(producer, 'someone’s name');
    await producer.relay.start();
    const [letter] = await waitUntil('the dead letter', DEADLINE_MS, async () =>
      nonEmpty((await consumer.deadLetters.list()).deadLetters),
    );
    expect(letter!.error).toBe('QueryFailedError: PostgreSQL refused a value (SQLSTATE 22P02)');
  });

  test('while the database is unavailable, no event becomes a dead letter, and all events are handled afterwards', async () => {
    const history = await createEffectsTable(harness(), 'history');
    const consumer = await harness().startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
    const producer = await harness().startProducer('processor');
    await producer.relay.start();
    await appendNotes(producer, 'before');
    await expectEffects(history, ['before']);

    const restore = await harness().makeDatabaseUnavailable('history');
    const texts = Array.from({ length: 30 }, (_, i) => `during the outage ${i}`);
    for (const text of texts) await appendNotes(producer, text);
    const failures = (): number => harness().logLines.filter(({ level }) => level === 'warn').length;
    await waitUntil('three failed deliveries', DEADLINE_MS, () => Promise.resolve(failures() >= 3));
    await restore();

    await expectEffects(history, ['before', ...texts]);
    expect((await consumer.deadLetters.list()).deadLetters).toEqual([]);
    expect(harness().logLines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('while a table is locked, events that need the table wait, and events of other types are handled', async () => {
    const history = await createEffectsTable(harness(), 'history');
    await history.query('CREATE TABLE others (text text NOT NULL)');
    const consumer = await harness().startConsumer('history', {
      events: {
        [NotedV1.name]: async (events, context) => {
          // Replaces the statement timeout of a service, which is 15 s.
          await context.tx.query(`SET LOCAL statement_timeout = 50`);
          await writeEffects(events, context);
        },
        'other.v1': async (events, { tx }) => {
          for (const { aggregateId } of events) await tx.query(`INSERT INTO others VALUES ($1)`, [aggregateId]);
        },
      },
    });
    const producer = await harness().startProducer('processor');
    await producer.relay.start();
    // CREATE INDEX acquires the same lock.
    await using lock = await holdLocks(history, 'LOCK TABLE effects IN SHARE MODE');
    const texts = Array.from({ length: 5 }, (_, i) => `locked ${i}`);
    await appendNotes(producer, ...texts);
    const other = { ...newNoteEvent('other'), type: { name: 'other.v1' } };
    await inTransaction(producer.dataSource, (tx) => producer.events.append(tx, other));
    await waitUntil('the other type', DEADLINE_MS, async () => {
      const rows = await history.query<unknown[]>('SELECT 1 FROM others');
      return rows.length > 0;
    });
    // A failing message would become a dead letter after five attempts. This test waits for more attempts.
    for (let attempt = 1; attempt <= 7; attempt++) {
      await waitUntil(`attempt ${attempt}`, DEADLINE_MS, async () => {
        harness().clock.advance(60_000);
        const rows = await history.query<{ attempts: number }[]>('SELECT attempts FROM deferred_events');
        return Math.max(0, ...rows.map((row) => row.attempts)) >= attempt;
      });
    }
    expect((await consumer.deadLetters.list()).deadLetters).toEqual([]);
    await lock.release();
    await waitUntil('the effects', DEADLINE_MS, async () => {
      harness().clock.advance(60_000);
      return (await readEffects(history)).length >= texts.length;
    });
    expect((await readEffects(history)).sort()).toEqual(texts);
    expect((await consumer.deadLetters.list()).deadLetters).toEqual([]);
  });

  test('no event is lost or handled twice while database connections break repeatedly', async () => {
    const history = await createEffectsTable(harness(), 'history');
    const consumer = await harness().startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
    const producer = await harness().startProducer('processor');
    await producer.relay.start();
    const texts = Array.from({ length: 60 }, (_, i) => `note ${i}`);
    for (const [i, text] of texts.entries()) {
      await appendNotes(producer, text);
      // Breaks the connections three times: after the notes 10, 30 and 50.
      if (i % 20 === 10) {
        await history.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                              WHERE datname = current_database() AND pid <> pg_backend_pid()`);
      }
    }
    await expectEffects(history, texts);
    expect((await consumer.deadLetters.list()).deadLetters).toEqual([]);
  });

  test('an event with an older version that arrives later does not change the row', async () => {
    const history = await harness().database('history');
    await history.query(`CREATE TABLE states (id text PRIMARY KEY, version bigint NOT NULL, state text NOT NULL)`);
    await harness().startConsumer('history', {
      events: {
        [NotedV1.name]: async (events, { tx }) => {
          for (const { aggregateId, aggregateVersion, payload } of events) {
            await upsertIfNewer(tx, 'states', { id: aggregateId }, aggregateVersion, { state: (payload as Note).text });
          }
        },
      },
    });
    const producer = await harness().startProducer('processor');
    const versions = [2, 4, 1, 3].map((version) => ({
      ...newNoteEvent(`version ${version}`),
      aggregateId: 'a',
      aggregateVersion: version,
    }));
    for (const event of versions) await inTransaction(producer.dataSource, (tx) => producer.events.append(tx, event));
    await producer.relay.start();
    // The log is read in order, so when this event has been handled, the other events have been handled too.
    await appendNotes(producer, 'last');
    await waitUntil('the last event to be handled', DEADLINE_MS, async () => {
      const rows = await history.query<unknown[]>(`SELECT 1 FROM states WHERE id = 'last'`);
      return rows.length > 0;
    });
    expect(await history.query(`SELECT * FROM states WHERE id = 'a'`)).toEqual([
      { id: 'a', version: 4, state: 'version 4' },
    ]);
  });
}

function nonEmpty<T>(list: T[]): T[] | undefined {
  return list.length > 0 ? list : undefined;
}
