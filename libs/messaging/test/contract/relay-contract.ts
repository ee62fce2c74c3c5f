import { waitUntil } from '@svc/testing';
import {
  appendNotes,
  createEffectsTable,
  DEADLINE_MS,
  expectEffects,
  NotedV1,
  readEffects,
  writeEffects,
} from '../harness/effects.js';
import { newGate } from '../harness/gate.js';
import type { MessagingHarness } from '../harness/harness.js';

/** Guarantees of the relay: its leases and cursors after a crash and after a shutdown. */
export function relayContract(harness: () => MessagingHarness): void {
  test('a crash after the delivery and before the cursor is moved repeats the delivery, but not the effect', async () => {
    const history = await createEffectsTable(harness(), 'history');
    const log = await harness().database('processor');
    // The trigger breaks the connection when the cursor is moved for the first time.
    await log.query(`
      CREATE SEQUENCE cursor_moves;
      CREATE FUNCTION crash_once() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF nextval('cursor_moves') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER crash_once BEFORE INSERT OR UPDATE ON relay_cursors FOR EACH ROW EXECUTE FUNCTION crash_once()`);
    const producer = await harness().startProducer('processor');
    await harness().startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
    await appendNotes(producer, 'a', 'b');
    await producer.relay.start();

    await waitUntil('the cursor to move', DEADLINE_MS, () => producer.relay.isCaughtUp());
    const [moves] = await log.query<{ last_value: number }[]>('SELECT last_value FROM cursor_moves');
    expect(moves!.last_value).toBeGreaterThan(1);
    await appendNotes(producer, 'c');
    await expectEffects(history, ['a', 'b', 'c']);
  });

  test('if a process crashes during a delivery, the next process repeats the delivery when the lease has expired', async () => {
    const history = await createEffectsTable(harness(), 'history');
    const log = await harness().database('processor');
    const gate = harness().holdDeliveries();
    await harness().startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
    const [crashing, nextProcess] = [
      await harness().startProducer('processor'),
      await harness().startProducer('processor'),
    ];
    await crashing.relay.start();
    await appendNotes(crashing, 'a', 'b');
    await gate.reached;
    const crashed = crashing.crash();
    gate.open();
    await crashed;
    expect(await log.query('SELECT 1 FROM relay_cursors')).toEqual([]);
    const lease = await log.query('SELECT holder, expires_at FROM relay_lease');
    expect(lease).toHaveLength(1);

    await nextProcess.relay.start();
    await appendNotes(nextProcess, 'c');
    expect(await log.query('SELECT holder, expires_at FROM relay_lease')).toEqual(lease);
    // The lease of the crashed process expires after 400 ms.
    harness().clock.advance(400);
    await expectEffects(history, ['a', 'b', 'c']);
    expect(await log.query('SELECT holder, expires_at FROM relay_lease')).not.toEqual(lease);
  });

  test('a process that stops releases the lease, so the next process does not wait until it expires', async () => {
    const history = await createEffectsTable(harness(), 'history');
    await harness().startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
    const [first, second] = [await harness().startProducer('processor'), await harness().startProducer('processor')];
    await first.relay.start();
    await second.relay.start();
    await appendNotes(first, 'a');
    await expectEffects(history, ['a']);
    await first.stop();
    await appendNotes(second, 'b');
    await expectEffects(history, ['a', 'b']);
  });

  test('a shutdown completes the current batch, and no event is delivered twice', async () => {
    const history = await createEffectsTable(harness(), 'history');
    const gate = harness().holdDeliveries();
    let handled = 0;
    await harness().startConsumer('history', {
      events: {
        [NotedV1.name]: async (events, context) => {
          handled += events.length;
          await writeEffects(events, context);
        },
      },
    });
    const stopping = await harness().startProducer('processor');
    await stopping.relay.start();
    await appendNotes(stopping, 'a', 'b');
    await gate.reached;

    let stopped = false;
    const stop = stopping.stop().then(() => (stopped = true));
    await (await harness().database('processor')).query('SELECT 1');
    expect(stopped).toBe(false);
    gate.open();
    await stop;
    await expectEffects(history, ['a', 'b']);

    const nextProcess = await harness().startProducer('processor');
    expect(await nextProcess.relay.isCaughtUp()).toBe(true);
    await nextProcess.relay.start();
    await appendNotes(nextProcess, 'c');
    await expectEffects(history, ['a', 'b', 'c']);
    expect(handled).toBe(3);
  });

  test('a slow consumer and a failing consumer do not delay other consumers, because each consumer has its own cursor', async () => {
    const [quick, slow, failing] = await Promise.all(
      ['quick', 'slow', 'failing'].map((name) => createEffectsTable(harness(), name)),
    );
    const gate = newGate();
    await harness().startConsumer('quick', { events: { [NotedV1.name]: writeEffects } });
    await harness().startConsumer('slow', {
      events: {
        [NotedV1.name]: async (events, context) => {
          await gate.pass();
          await writeEffects(events, context);
        },
      },
    });
    const broken = await harness().startConsumer('failing', {
      events: { [NotedV1.name]: () => Promise.reject(new Error('broken')) },
    });
    const producer = await harness().startProducer('processor');
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
    gate.open();
    await expectEffects(slow!, texts);
  });

  test('a consumer that subscribes late receives all events from the beginning', async () => {
    const [earlyEffects, lateEffects] = [
      await createEffectsTable(harness(), 'early'),
      await createEffectsTable(harness(), 'late'),
    ];
    await harness().startConsumer('early', { events: { [NotedV1.name]: writeEffects } });
    const producer = await harness().startProducer('processor');
    await producer.relay.start();
    await appendNotes(producer, 'a', 'b');
    await appendNotes(producer, 'c');
    await expectEffects(earlyEffects, ['a', 'b', 'c']);

    await harness().startConsumer('late', { events: { [NotedV1.name]: writeEffects } });
    await expectEffects(lateEffects, ['a', 'b', 'c']);
    await appendNotes(producer, 'd');
    await expectEffects(lateEffects, ['a', 'b', 'c', 'd']);
    expect(await readEffects(lateEffects)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('a consumer that was stopped continues with the first event that it has not handled', async () => {
    const history = await createEffectsTable(harness(), 'history');
    const first = await harness().startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
    const producer = await harness().startProducer('processor');
    await producer.relay.start();
    await appendNotes(producer, 'a');
    await expectEffects(history, ['a']);
    await first.stop();
    await appendNotes(producer, 'b');
    await harness().startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
    await appendNotes(producer, 'c');
    await expectEffects(history, ['a', 'b', 'c']);
  });
}
