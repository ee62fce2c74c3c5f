import { inTransaction } from '@svc/persistence';
import { waitUntil } from '@svc/testing';
import { type EventHandler, upsertIfNewer } from '../../src/index.js';
import {
  appendNotes,
  countOccurrences,
  DEADLINE_MS,
  effectsTable,
  expectEffects,
  newNoteEvent,
  type Note,
  NotedV1,
  readEffects,
  writeEffects,
} from '../harness/effects.js';
import { gate } from '../harness/gate.js';
import type { MessagingHarness } from '../harness/harness.js';

/** The effect happens once, however often a message is delivered. */
export function consumerContract(harness: () => MessagingHarness): void {
  test('a crash between effect and mark takes the effect back; it then happens once', async () => {
    const history = await effectsTable(harness(), 'history');
    let deliveries = 0;
    let effectsAfterCrash: string[] | undefined;
    await harness().consumer('history', {
      events: {
        [NotedV1.name]: async (events, context) => {
          if (++deliveries === 2) effectsAfterCrash = await readEffects(history);
          await writeEffects(events, context);
          if (deliveries === 1) await context.tx.query('SELECT pg_terminate_backend(pg_backend_pid())');
        },
      },
    });
    const producer = await harness().producer('processor');
    await producer.relay.start();
    await appendNotes(producer, 'a');
    await expectEffects(history, ['a']);
    expect(effectsAfterCrash).toEqual([]);
    expect(deliveries).toBe(2);
  });

  test('a process that dies in the middle of a batch leaves it to the next', async () => {
    const history = await effectsTable(harness(), 'history');
    const door = gate();
    const dying = await harness().consumer('history', {
      events: {
        [NotedV1.name]: async (events, context) => {
          await writeEffects(events, context);
          await door.pass();
        },
      },
    });
    const producer = await harness().producer('processor');
    await producer.relay.start();
    await appendNotes(producer, 'a', 'b');
    await door.reached;
    const crashed = dying.crash();
    door.open();
    await crashed;
    expect(await readEffects(history)).toEqual([]);

    const next = await harness().consumer('history', { events: { [NotedV1.name]: writeEffects } });
    await expectEffects(history, ['a', 'b']);
    expect((await next.deadLetters.list()).deadLetters).toEqual([]);
  });

  test('a consumer that stops completes the batch it was given', async () => {
    const history = await effectsTable(harness(), 'history');
    const door = gate();
    const stopping = await harness().consumer('history', {
      events: {
        [NotedV1.name]: async (events, context) => {
          await door.pass();
          await writeEffects(events, context);
        },
      },
    });
    const producer = await harness().producer('processor');
    await producer.relay.start();
    await appendNotes(producer, 'a');
    await door.reached;
    const stopped = stopping.stop();
    door.open();
    await stopped;
    expect(await readEffects(history)).toEqual(['a']);
  });

  test('a message that keeps failing becomes a dead letter, and those behind it do not wait', async () => {
    const history = await effectsTable(harness(), 'history');
    const tries: string[] = [];
    /** The effects of events delivered with the poison event: over a broker, later events may arrive a moment later. */
    let together: string[] = [];
    let doneAtSecondTry: string[] | undefined;
    const consumer = await harness().consumer('history', {
      events: {
        [NotedV1.name]: async (events, context) => {
          if (countOccurrences(tries)['poison'] === undefined)
            together = events.map(({ payload }) => (payload as Note).text);
          for (const { payload } of events) {
            const { text } = payload as Note;
            tries.push(text);
            if (text !== 'poison') continue;
            if (events.length === 1 && countOccurrences(tries)['poison'] === 3)
              doneAtSecondTry = await readEffects(history);
            throw new Error('cannot be read');
          }
          await writeEffects(events, context);
        },
      },
    });
    const producer = await harness().producer('processor');
    await appendNotes(producer, 'before', 'poison', 'behind');
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
    expect(await readEffects(history)).toEqual(['before', 'behind']);
    expect(doneAtSecondTry).toEqual(expect.arrayContaining(together.filter((text) => text !== 'poison')));
    // Once in the batch, then five times alone.
    expect(countOccurrences(tries)['poison']).toBe(6);
    await waitUntil('the cursor to move', DEADLINE_MS, () => producer.relay.isCaughtUp());
  });

  test('a dead letter is replayed once its cause is mended; until then it stays', async () => {
    const history = await effectsTable(harness(), 'history');
    let mended = false;
    const handler: EventHandler = async (events, context) => {
      await writeEffects(events, context);
      if (!mended) throw new Error('not yet');
    };
    const consumer = await harness().consumer('history', { events: { [NotedV1.name]: handler } });
    const producer = await harness().producer('processor');
    await appendNotes(producer, 'a');
    await producer.relay.start();
    const [letter] = await waitUntil('the dead letter', DEADLINE_MS, async () =>
      nonEmpty((await consumer.deadLetters.list()).deadLetters),
    );
    const { messageId } = letter!;

    await expect(consumer.deadLetters.replay(messageId)).rejects.toThrow('not yet');
    expect((await consumer.deadLetters.list()).deadLetters).toEqual([letter]);
    expect(await readEffects(history)).toEqual([]);

    mended = true;
    const replays = await Promise.allSettled([
      consumer.deadLetters.replay(messageId),
      consumer.deadLetters.replay(messageId),
    ]);
    const refusals = replays.flatMap((replay) => (replay.status === 'rejected' ? [replay.reason as unknown] : []));
    expect(refusals).toMatchObject([{ code: 'resource.not-found' }]);
    expect(await readEffects(history)).toEqual(['a']);
    expect((await consumer.deadLetters.list()).deadLetters).toEqual([]);
    await expect(consumer.deadLetters.replay(messageId)).rejects.toMatchObject({ code: 'resource.not-found' });
    await expect(consumer.deadLetters.replay('not-an-id')).rejects.toMatchObject({ code: 'resource.not-found' });
  });

  test('a reason that repeats a value is kept without it', async () => {
    await effectsTable(harness(), 'history');
    const consumer = await harness().consumer('history', {
      events: {
        [NotedV1.name]: async ([event], { tx }) => {
          await tx.query('SELECT $1::bigint', [(event!.payload as Note).text]);
        },
      },
    });
    const producer = await harness().producer('processor');
    await appendNotes(producer, 'someone’s name');
    await producer.relay.start();
    const [letter] = await waitUntil('the dead letter', DEADLINE_MS, async () =>
      nonEmpty((await consumer.deadLetters.list()).deadLetters),
    );
    expect(letter!.error).toBe('QueryFailedError: PostgreSQL refused a value (SQLSTATE 22P02)');
  });

  test('while the database is away nothing becomes a dead letter; everything arrives afterwards', async () => {
    const history = await effectsTable(harness(), 'history');
    const consumer = await harness().consumer('history', { events: { [NotedV1.name]: writeEffects } });
    const producer = await harness().producer('processor');
    await producer.relay.start();
    await appendNotes(producer, 'before');
    await expectEffects(history, ['before']);

    const restore = await harness().makeDatabaseUnavailable('history');
    const texts = Array.from({ length: 30 }, (_, i) => `while away ${i}`);
    for (const text of texts) await appendNotes(producer, text);
    const failures = (): number => harness().logged.filter(({ level }) => level === 'warn').length;
    await waitUntil('hand-overs that fail', DEADLINE_MS, () => Promise.resolve(failures() >= 3));
    await restore();

    await expectEffects(history, ['before', ...texts]);
    expect((await consumer.deadLetters.list()).deadLetters).toEqual([]);
    expect(harness().logged.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('a lock on a table uses up no deliveries, holds up no other type, and everything arrives when it ends', async () => {
    const history = await effectsTable(harness(), 'history');
    await history.query('CREATE TABLE others (text text NOT NULL)');
    const consumer = await harness().consumer('history', {
      events: {
        [NotedV1.name]: async (events, context) => {
          // As the service's own statement timeout, which is 15 s.
          await context.tx.query(`SET LOCAL statement_timeout = 50`);
          await writeEffects(events, context);
        },
        'other.v1': async (events, { tx }) => {
          for (const { aggregateId } of events) await tx.query(`INSERT INTO others VALUES ($1)`, [aggregateId]);
        },
      },
    });
    const producer = await harness().producer('processor');
    await producer.relay.start();
    const lock = history.createQueryRunner();
    await lock.startTransaction();
    // The server ends a transaction of ours that is idle for long: this one has to last.
    await lock.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    // As CREATE INDEX takes it.
    await lock.query('LOCK TABLE effects IN SHARE MODE');
    const texts = Array.from({ length: 5 }, (_, i) => `locked ${i}`);
    await appendNotes(producer, ...texts);
    const other = { ...newNoteEvent('other'), type: { name: 'other.v1' } };
    await inTransaction(producer.dataSource, (tx) => producer.events.append(tx, other));
    await waitUntil('the other type', DEADLINE_MS, async () => {
      const rows = await history.query<unknown[]>('SELECT 1 FROM others');
      return rows.length > 0;
    });
    // More attempts than a message with failures of its own would get.
    for (let tries = 1; tries <= 7; tries++) {
      await waitUntil(`try ${tries}`, DEADLINE_MS, async () => {
        harness().clock.advance(60_000);
        const rows = await history.query<{ tries: number }[]>('SELECT tries FROM deferred_events');
        return Math.max(0, ...rows.map((row) => row.tries)) >= tries;
      });
    }
    expect((await consumer.deadLetters.list()).deadLetters).toEqual([]);
    await lock.commitTransaction();
    await lock.release();
    await waitUntil('the effects', DEADLINE_MS, async () => {
      harness().clock.advance(60_000);
      return (await readEffects(history)).length >= texts.length;
    });
    expect((await readEffects(history)).sort()).toEqual(texts);
    expect((await consumer.deadLetters.list()).deadLetters).toEqual([]);
  });

  test('connections that break again and again while events flow lose and double nothing', async () => {
    const history = await effectsTable(harness(), 'history');
    const consumer = await harness().consumer('history', { events: { [NotedV1.name]: writeEffects } });
    const producer = await harness().producer('processor');
    await producer.relay.start();
    const texts = Array.from({ length: 60 }, (_, i) => `note ${i}`);
    for (const [i, text] of texts.entries()) {
      await appendNotes(producer, text);
      if (i % 20 === 10) {
        await history.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                              WHERE datname = current_database() AND pid <> pg_backend_pid()`);
      }
    }
    await expectEffects(history, texts);
    expect((await consumer.deadLetters.list()).deadLetters).toEqual([]);
  });

  test('an older version that comes later changes nothing', async () => {
    const history = await harness().database('history');
    await history.query(`CREATE TABLE states (id text PRIMARY KEY, version bigint NOT NULL, state text NOT NULL)`);
    await harness().consumer('history', {
      events: {
        [NotedV1.name]: async (events, { tx }) => {
          for (const { aggregateId, aggregateVersion, payload } of events) {
            await upsertIfNewer(tx, 'states', { id: aggregateId }, aggregateVersion, { state: (payload as Note).text });
          }
        },
      },
    });
    const producer = await harness().producer('processor');
    const versions = [2, 4, 1, 3].map((version) => ({
      ...newNoteEvent(`version ${version}`),
      aggregateId: 'a',
      aggregateVersion: version,
    }));
    for (const event of versions) await inTransaction(producer.dataSource, (tx) => producer.events.append(tx, event));
    await producer.relay.start();
    // In the batch or behind it: when this one has been handled, so have the others.
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
