import { type EventEnvelope, eventType } from '@svc/contracts';
import { inTransaction } from '@svc/persistence';
import { anEvent, waitUntil } from '@svc/testing';
import { type Channel, type ChannelModel, connect, type GetMessage } from 'amqplib';
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
import { ProcessesHarness } from '../harness/processes-harness.js';
import { RabbitMqBrokers } from './rabbitmq-brokers.js';
import { rabbitMqUrl } from './rabbitmq-url.js';

// Behaviour that is specific to a broker between processes. The contract tests cover the delivery of events on every transport.

const OtherV1 = eventType<Note>('other.v1');
let brokers: RabbitMqBrokers;
let harness: ProcessesHarness;
/** The test's own view of the broker. */
let connection: ChannelModel;
let channel: Channel;

beforeEach(async () => {
  brokers = new RabbitMqBrokers(rabbitMqUrl(), 1);
  harness = new ProcessesHarness(brokers);
  connection = await connect(rabbitMqUrl());
  channel = await connection.createChannel();
});
afterEach(async () => {
  await connection.close();
  await harness.close();
});

function publishDirectly(...events: EventEnvelope[]): Promise<void> {
  const [target] = brokers.linkOf('processor').broker.targets();
  return target!.deliver(events);
}

function textsOf(events: readonly EventEnvelope[]): string[] {
  return events.map(({ payload }) => (payload as Note).text);
}

function take(queue: string): Promise<GetMessage> {
  return waitUntil(`a message in ${queue}`, DEADLINE_MS, () => channel.get(queue, { noAck: true }));
}

describe('publishing', () => {
  test('an event is persistent, and its properties contain its metadata and trace', async () => {
    await harness.producer('processor');
    await brokers.topology.declareExchanges(connection);
    const { queue } = await channel.assertQueue('', { exclusive: true });
    await channel.bindQueue(queue, brokers.topology.events, NotedV1.name);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const event = { ...anEvent(NotedV1, 'a', 1, { text: 'a' }), traceparent };
    await publishDirectly(event);
    const { properties, content } = await take(queue);
    expect(JSON.parse(content.toString())).toEqual(event);
    expect(properties).toMatchObject({
      messageId: event.id,
      type: 'noted.v1',
      timestamp: 1772359200,
      deliveryMode: 2,
      contentType: 'application/json',
      userId: decodeURIComponent(new URL(rabbitMqUrl()).username) || 'guest',
      headers: { traceparent },
    });
  });
});

describe('consuming', () => {
  test('replicas share a queue: while one is busy, another handles the events, and each event is handled once', async () => {
    const history = await effectsTable(harness, 'history');
    const door = gate();
    const handled: Record<'busy' | 'free', string[]> = { busy: [], free: [] };
    for (const replica of ['busy', 'free'] as const) {
      await harness.consumer('history', {
        events: {
          [NotedV1.name]: async (events, context) => {
            if (replica === 'busy') await door.pass();
            handled[replica].push(...textsOf(events));
            await writeEffects(events, context);
          },
        },
      });
    }
    const producer = await harness.producer('processor');
    await producer.relay.start();
    const texts = Array.from({ length: 40 }, (_, i) => `note ${i}`);
    await appendNotes(producer, ...texts);
    await door.reached;
    await waitUntil('the other to work', DEADLINE_MS, () => Promise.resolve(handled.free.length > 0));
    door.open();
    await expectEffects(history, texts);
    expect(handled.busy.length).toBeGreaterThan(0);
    expect([...handled.busy, ...handled.free].sort()).toEqual([...texts].sort());
  });

  test('a consumer that stops handles every event that it received; the next consumer receives none of them again', async () => {
    const history = await effectsTable(harness, 'history');
    const door = gate();
    const handled: string[] = [];
    const handler = async (events: EventEnvelope[], context: Parameters<typeof writeEffects>[1]): Promise<void> => {
      await door.pass();
      handled.push(...textsOf(events));
      await writeEffects(events, context);
    };
    const stopping = await harness.consumer('history', { events: { [NotedV1.name]: handler } });
    const producer = await harness.producer('processor');
    await producer.relay.start();
    // More events than the broker delivers to one process at once.
    const texts = Array.from({ length: 450 }, (_, i) => `note ${i}`);
    await appendNotes(producer, ...texts);
    await door.reached;
    await waitUntil('everything to be published', DEADLINE_MS, () => producer.relay.isCaughtUp());
    const stopped = stopping.stop();
    door.open();
    await stopped;
    const byTheFirst = handled.length;
    expect(await readEffects(history)).toHaveLength(byTheFirst);
    expect(byTheFirst).toBeGreaterThanOrEqual(50);
    expect(byTheFirst).toBeLessThan(450);

    await harness.consumer('history', { events: { [NotedV1.name]: handler } });
    await expectEffects(history, texts);
    expect(Math.max(...Object.values(countOccurrences(handled)))).toBe(1);
  });

  test('broken connections to the broker while events flow lose and duplicate no event', async () => {
    const history = await effectsTable(harness, 'history');
    const consumer = await harness.consumer('history', { events: { [NotedV1.name]: writeEffects } });
    const producer = await harness.producer('processor');
    await producer.relay.start();
    const texts = Array.from({ length: 60 }, (_, i) => `note ${i}`);
    for (const [i, text] of texts.entries()) {
      await appendNotes(producer, text);
      if (i % 20 === 10) brokers.linkOf(i % 40 === 10 ? 'history' : 'processor').network.breakConnections();
    }
    await expectEffects(history, texts);
    expect((await consumer.deadLetters.list()).deadLetters).toEqual([]);
  });

  test('the messages that wait in a queue without a consumer are counted', async () => {
    const handling = gate();
    await harness.consumer('history', { events: { [NotedV1.name]: () => handling.pass() } });
    await harness.producer('processor');
    const { connection: broker } = brokers.linkOf('history').broker;
    const queue = brokers.topology.eventQueue('history');
    const waiting = async (): Promise<number | undefined> => (await broker.waiting()).get(queue);
    expect([broker.state, await waiting()]).toEqual(['up', 0]);
    const prefetched = 50;
    const events = Array.from({ length: prefetched + 50 }, (_, nr) => anEvent(NotedV1, `a${nr}`, 1, { text: `${nr}` }));
    await publishDirectly(...events);
    await waitUntil('the queue to be counted', DEADLINE_MS, async () => (await waiting()) === 50);
    handling.open();
    await waitUntil('the queue to be empty', DEADLINE_MS, async () => (await waiting()) === 0);
  });

  test('an unreadable message becomes a dead letter and does not delay other messages', async () => {
    const history = await effectsTable(harness, 'history');
    await harness.consumer('history', { events: { [NotedV1.name]: writeEffects } });
    const queue = brokers.topology.eventQueue('history');
    for (const text of ['{', '{"id":"no"}', 'null'])
      channel.sendToQueue(queue, Buffer.from(text), { persistent: true });
    const producer = await harness.producer('processor');
    await producer.relay.start();
    await appendNotes(producer, 'a');
    await expectEffects(history, ['a']);
    const asides: string[] = [];
    while (asides.length < 3) {
      const message = await take(brokers.topology.deadLetterQueue('history'));
      asides.push(message.content.toString());
      expect(message.properties.headers?.['x-first-death-reason']).toBe('rejected');
    }
    expect(asides.sort()).toEqual(['null', '{', '{"id":"no"}']);
  });

  test('an event type without a handler is unbound; when it has a handler again, missed events are replayed', async () => {
    const history = await effectsTable(harness, 'history');
    const both = { [NotedV1.name]: writeEffects, [OtherV1.name]: writeEffects };
    const first = await harness.consumer('history', { events: both });
    const producer = await harness.producer('processor');
    await producer.relay.start();
    await appendNotes(producer, 'a');
    await expectEffects(history, ['a']);
    await first.stop();

    // Longer than the maximum duration of a rollout.
    harness.clock.advance(8 * 24 * 3_600_000);
    const second = await harness.consumer('history', { events: { [NotedV1.name]: writeEffects } });
    await effectsTable(harness, 'other');
    await publishDirectly(anEvent(OtherV1, 'a', 1, { text: 'a' }));
    expect(harness.logged).toContainEqual({ level: 'warn', message: 'broker: event has no consumer yet' });
    const other = await harness.consumer('other', { events: { [OtherV1.name]: writeEffects } });
    await inTransaction(producer.dataSource, (tx) =>
      producer.events.append(tx, { ...newNoteEvent('missed'), type: OtherV1 }),
    );
    await expectEffects(await harness.database('other'), ['missed']);
    await other.stop();
    await second.stop();
    expect(await readEffects(history)).toEqual(['a']);

    await harness.consumer('history', { events: both });
    await expectEffects(history, ['a', 'missed']);
  });
});

describe('event replay', () => {
  test('a replay request is durable: an unavailable publisher serves it after its return, and until then the replay is incomplete', async () => {
    await effectsTable(harness, 'early');
    const late = await effectsTable(harness, 'late');
    await harness.consumer('early', { events: { [NotedV1.name]: writeEffects } });
    const publisher = await harness.producer('processor');
    await publisher.relay.start();
    // More events than one batch contains.
    const texts = Array.from({ length: 450 }, (_, i) => `note ${i}`);
    await appendNotes(publisher, ...texts);
    await expectEffects(await harness.database('early'), texts);
    await publisher.crash();

    const first = await harness.consumer('late', { events: { [NotedV1.name]: writeEffects } });
    expect(await first.isBackfilled()).toBe(false);
    await first.stop();
    // Each start requests the replay again, and it is still served once.
    const second = await harness.consumer('late', { events: { [NotedV1.name]: writeEffects } });
    expect(await second.isBackfilled()).toBe(false);
    expect(await readEffects(late)).toEqual([]);

    const back = await harness.producer('processor');
    await back.relay.start();
    harness.clock.advance(400);
    await waitUntil('the past to be known', DEADLINE_MS, () => second.isBackfilled());
    expect((await readEffects(late)).sort()).toEqual([...texts].sort());
    expect(await readEffects(await harness.database('early'))).toHaveLength(texts.length);
    const rows = await back.dataSource.query<{ target: string }[]>(`SELECT target FROM relay_cursors`);
    expect(rows).toEqual([{ target: 'rabbitmq' }]);
  });

  test('with several replicas, a replay is complete when all its events are handled, and live events do not wait for it', async () => {
    await effectsTable(harness, 'early');
    const late = await effectsTable(harness, 'late');
    await harness.consumer('early', { events: { [NotedV1.name]: writeEffects } });
    const producer = await harness.producer('processor');
    await producer.relay.start();
    const texts = Array.from({ length: 450 }, (_, i) => `note ${i}`);
    await appendNotes(producer, ...texts);
    await expectEffects(await harness.database('early'), texts);

    const door = gate();
    const slow = await harness.consumer('late', {
      events: {
        [NotedV1.name]: async (events, context) => {
          if (textsOf(events).includes('note 300')) await door.pass();
          await writeEffects(events, context);
        },
      },
    });
    await door.reached;
    const quick = await harness.consumer('late', { events: { [NotedV1.name]: writeEffects } });
    const meanwhile = Array.from({ length: 40 }, (_, i) => `meanwhile ${i}`);
    // Not from the log: the waiting handler has an open transaction, and no relay reads beyond it.
    await publishDirectly(...meanwhile.map((text) => anEvent(NotedV1, text, 1, { text })));
    await waitUntil('what happens meanwhile', DEADLINE_MS, async () => {
      const done = new Set(await readEffects(late));
      return meanwhile.every((text) => done.has(text));
    });
    expect(await quick.isBackfilled()).toBe(false);
    expect(await readEffects(late)).not.toContain('note 449');

    const crashed = slow.crash();
    door.open();
    await crashed;
    await waitUntil('the past to be known', DEADLINE_MS, () => quick.isBackfilled());
    expect((await readEffects(late)).sort()).toEqual([...texts, ...meanwhile].sort());
  });

  test('without a publisher, there is no replay to wait for', async () => {
    const consumer = await harness.consumer('history', { events: { [NotedV1.name]: writeEffects } });
    expect(await consumer.isBackfilled()).toBe(true);
  });

  test('a removed service is not waited for, and the services after it are served', async () => {
    await effectsTable(harness, 'early');
    const late = await effectsTable(harness, 'late');
    await harness.consumer('early', { events: { [NotedV1.name]: writeEffects } });
    const producer = await harness.producer('processor');
    await producer.relay.start();
    await appendNotes(producer, 'a');
    await expectEffects(await harness.database('early'), ['a']);
    const { eventReplay } = brokers.linkOf('processor').broker;
    const id = '00000000-0000-7000-8000-00000000dead';
    expect(await eventReplay.request({ id, service: 'gone', type: NotedV1.name })).toBe(true);

    const consumer = await harness.consumer('late', { events: { [NotedV1.name]: writeEffects } });
    await expectEffects(late, ['a']);
    await waitUntil('the past to be known', DEADLINE_MS, () => consumer.isBackfilled());
  });
});

describe('commands', () => {
  const Double = { name: 'double.v1' };

  test('a request without a responder waits for the time of a service restart, and is then refused', async () => {
    const { commands } = await harness.producer('asker');
    const began = Date.now();
    await expect(commands.request(Double, {}, 15_000)).rejects.toMatchObject({ code: 'service.not-ready' });
    expect(Date.now() - began).toBeGreaterThan(5_000);
    expect(Date.now() - began).toBeLessThan(12_000);
    await expect(commands.request(Double, {}, 300)).rejects.toMatchObject({ code: 'service.not-ready' });
  });

  test('a request is handled by a responder that starts while it waits', async () => {
    const { commands } = await harness.producer('asker');
    const askedAt = Date.now();
    const answer = commands.request(Double, {}, 15_000);
    await waitUntil('it to be turned away', DEADLINE_MS, () => Promise.resolve(Date.now() - askedAt > 300));
    await harness.consumer('calculator', { commands: { [Double.name]: () => Promise.resolve(8) } });
    expect(await answer).toBe(8);
  });

  test('a request is never persistent, and leaves the queue at its deadline', async () => {
    const { commands } = await harness.producer('asker');
    await brokers.topology.declareExchanges(connection);
    const queue = await brokers.topology.declareCommand(channel, Double.name);
    const seen = commands.request(Double, { n: 1 }, 10_000).catch(() => undefined);
    const message = await take(queue);
    expect(message.properties).toMatchObject({
      deliveryMode: 1,
      replyTo: expect.stringContaining('.asker.replies.') as string,
    });
    expect(Number(message.properties.expiration)).toBeLessThanOrEqual(10_000);
    channel.publish('', String(message.properties.replyTo), Buffer.from('{"ok":true}'), {
      correlationId: String(message.properties.correlationId),
    });
    await seen;

    await expect(commands.request(Double, { n: 2 }, 300)).rejects.toMatchObject({ code: 'service.not-ready' });
    await waitUntil(
      'the queue to be empty',
      DEADLINE_MS,
      async () => (await channel.checkQueue(queue)).messageCount === 0,
    );
    expect(await channel.get(queue, { noAck: true })).toBe(false);
    await channel.deleteQueue(queue);
  });

  test('replicas share the requests, and a request whose replica crashes goes to another one', async () => {
    const door = gate();
    const answered = { dying: 0, living: 0 };
    const dying = await harness.consumer('calculator', {
      commands: { [Double.name]: async () => (await door.pass(), ++answered.dying) },
    });
    await harness.consumer('calculator', { commands: { [Double.name]: () => Promise.resolve(++answered.living) } });
    const { commands } = await harness.producer('asker');
    const requests = Array.from({ length: 20 }, () => commands.request(Double, {}));
    await door.reached;
    await waitUntil('the other to answer', DEADLINE_MS, () => Promise.resolve(answered.living > 0));
    const crashed = dying.crash();
    await expect(Promise.all(requests)).resolves.toHaveLength(20);
    expect(answered).toEqual({ dying: 0, living: 20 });
    door.open();
    await crashed;
  });

  test('a requester whose connection is lost gets an error, and may send the request again', async () => {
    const door = gate();
    await harness.consumer('calculator', { commands: { [Double.name]: async () => (await door.pass(), 42) } });
    const { commands } = await harness.producer('asker');
    const request = commands.request(Double, {});
    await door.reached;
    brokers.linkOf('asker').network.breakConnections();
    await expect(request).rejects.toMatchObject({ code: 'service.not-ready' });
    door.open();
    await waitUntil('an answer', DEADLINE_MS, async () => (await commands.request(Double, {}, 1_000)) === 42);
  });
});
