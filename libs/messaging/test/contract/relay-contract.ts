import { waitUntil } from '@svc/testing';
import {
  appendNotes,
  DEADLINE_MS,
  effectsTable,
  expectEffects,
  NotedV1,
  readEffects,
  writeEffects,
} from '../harness/effects.js';
import { gate } from '../harness/gate.js';
import type { MessagingHarness } from '../harness/harness.js';

/** The relay's leases and cursors after a crash and after a shutdown. */
export function relayContract(harness: () => MessagingHarness): void {
  test('a crash between hand-over and cursor repeats the hand-over, not the effect', async () => {
    const history = await effectsTable(harness(), 'history');
    const log = await harness().database('processor');
    // The connection breaks at the very moment when the cursor moves, the first time.
    await log.query(`
      CREATE SEQUENCE cursor_moves;
      CREATE FUNCTION die_once() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF nextval('cursor_moves') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER die_once BEFORE INSERT OR UPDATE ON relay_cursors FOR EACH ROW EXECUTE FUNCTION die_once()`);
    const producer = await harness().producer('processor');
    await harness().consumer('history', { events: { [NotedV1.name]: writeEffects } });
    await appendNotes(producer, 'a', 'b');
    await producer.relay.start();

    await waitUntil('the cursor to move', DEADLINE_MS, () => producer.relay.isCaughtUp());
    const [moves] = await log.query<{ last_value: number }[]>('SELECT last_value FROM cursor_moves');
    expect(moves!.last_value).toBeGreaterThan(1);
    await appendNotes(producer, 'c');
    await expectEffects(history, ['a', 'b', 'c']);
  });

  test('a process that dies while it hands over leaves it to the next, once its lease has run out', async () => {
    const history = await effectsTable(harness(), 'history');
    const log = await harness().database('processor');
    const door = harness().holdHandOvers();
    await harness().consumer('history', { events: { [NotedV1.name]: writeEffects } });
    const [dying, next] = [await harness().producer('processor'), await harness().producer('processor')];
    await dying.relay.start();
    await appendNotes(dying, 'a', 'b');
    await door.reached;
    const crashed = dying.crash();
    door.open();
    await crashed;
    expect(await log.query('SELECT 1 FROM relay_cursors')).toEqual([]);
    const lease = await log.query('SELECT holder, expires_at FROM relay_lease');
    expect(lease).toHaveLength(1);

    await next.relay.start();
    await appendNotes(next, 'c');
    expect(await log.query('SELECT holder, expires_at FROM relay_lease')).toEqual(lease);
    harness().clock.advance(400);
    await expectEffects(history, ['a', 'b', 'c']);
    expect(await log.query('SELECT holder, expires_at FROM relay_lease')).not.toEqual(lease);
  });

  test('a process that stops gives the lease back, and the next need not wait for it', async () => {
    const history = await effectsTable(harness(), 'history');
    await harness().consumer('history', { events: { [NotedV1.name]: writeEffects } });
    const [first, second] = [await harness().producer('processor'), await harness().producer('processor')];
    await first.relay.start();
    await second.relay.start();
    await appendNotes(first, 'a');
    await expectEffects(history, ['a']);
    await first.stop();
    await appendNotes(second, 'b');
    await expectEffects(history, ['a', 'b']);
  });

  test('a shutdown completes the batch under way, and nothing is handed over twice', async () => {
    const history = await effectsTable(harness(), 'history');
    const door = harness().holdHandOvers();
    let handled = 0;
    await harness().consumer('history', {
      events: {
        [NotedV1.name]: async (events, context) => {
          handled += events.length;
          await writeEffects(events, context);
        },
      },
    });
    const stopping = await harness().producer('processor');
    await stopping.relay.start();
    await appendNotes(stopping, 'a', 'b');
    await door.reached;

    let stopped = false;
    const stop = stopping.stop().then(() => (stopped = true));
    await (await harness().database('processor')).query('SELECT 1');
    expect(stopped).toBe(false);
    door.open();
    await stop;
    await expectEffects(history, ['a', 'b']);

    const next = await harness().producer('processor');
    expect(await next.relay.isCaughtUp()).toBe(true);
    await next.relay.start();
    await appendNotes(next, 'c');
    await expectEffects(history, ['a', 'b', 'c']);
    expect(handled).toBe(3);
  });

  test('each consumer has a cursor of its own: a slow one and a failing one hold nobody', async () => {
    const [quick, slow, failing] = await Promise.all(
      ['quick', 'slow', 'failing'].map((name) => effectsTable(harness(), name)),
    );
    const door = gate();
    await harness().consumer('quick', { events: { [NotedV1.name]: writeEffects } });
    await harness().consumer('slow', {
      events: {
        [NotedV1.name]: async (events, context) => {
          await door.pass();
          await writeEffects(events, context);
        },
      },
    });
    const broken = await harness().consumer('failing', {
      events: { [NotedV1.name]: () => Promise.reject(new Error('broken')) },
    });
    const producer = await harness().producer('processor');
    await producer.relay.start();
    const texts = Array.from({ length: 20 }, (_, i) => `note ${i}`);
    await appendNotes(producer, ...texts);

    await expectEffects(quick!, texts);
    expect(await readEffects(slow!)).toEqual([]);
    await waitUntil(
      'the dead letters',
      DEADLINE_MS,
      async () => (await broken.deadLetters.list()).deadLetters.length === 20,
    );
    expect(await readEffects(failing!)).toEqual([]);
    door.open();
    await expectEffects(slow!, texts);
  });

  test('a consumer that comes later is told everything from the beginning', async () => {
    const [early, late] = [await effectsTable(harness(), 'early'), await effectsTable(harness(), 'late')];
    await harness().consumer('early', { events: { [NotedV1.name]: writeEffects } });
    const producer = await harness().producer('processor');
    await producer.relay.start();
    await appendNotes(producer, 'a', 'b');
    await appendNotes(producer, 'c');
    await expectEffects(early, ['a', 'b', 'c']);

    await harness().consumer('late', { events: { [NotedV1.name]: writeEffects } });
    await expectEffects(late, ['a', 'b', 'c']);
    await appendNotes(producer, 'd');
    await expectEffects(late, ['a', 'b', 'c', 'd']);
    expect(await readEffects(late)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('a consumer that was away goes on where it was', async () => {
    const history = await effectsTable(harness(), 'history');
    const first = await harness().consumer('history', { events: { [NotedV1.name]: writeEffects } });
    const producer = await harness().producer('processor');
    await producer.relay.start();
    await appendNotes(producer, 'a');
    await expectEffects(history, ['a']);
    await first.stop();
    await appendNotes(producer, 'b');
    await harness().consumer('history', { events: { [NotedV1.name]: writeEffects } });
    await appendNotes(producer, 'c');
    await expectEffects(history, ['a', 'b', 'c']);
  });
}
