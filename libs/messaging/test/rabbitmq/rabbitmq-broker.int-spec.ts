import { type EventEnvelope, eventType } from '@svc/contracts';
import { inTransaction } from '@svc/persistence';
import { anEvent, waitUntil } from '@svc/testing';
import { type Channel, type ChannelModel, connect, type GetMessage } from 'amqplib';
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
import { ProcessesHarness } from '../harness/processes-harness.js';
import { RabbitMqBrokers } from './rabbitmq-brokers.js';
import { rabbitMqUrl } from './rabbitmq-url.js';

// Tests of behaviour that is specific to RabbitMQ. The contract tests cover the guarantees of every broker.

const OtherV1 = eventType<Note>('other.v1');
let brokers: RabbitMqBrokers;
let harness: ProcessesHarness;
/** The test's connection to the broker. */
let connection: ChannelModel;
let channel: Channel;

beforeEach(async () => {
  // Each message contains one event.
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

function readTexts(events: readonly EventEnvelope[]): string[] {
  return events.map(({ payload }) => (payload as Note).text);
}

function takeMessage(queue: string): Promise<GetMessage> {
  return waitUntil(`a message in ${queue}`, DEADLINE_MS, () => channel.get(queue, { noAck: true }));
}

describe('publishing', () => {
  test('an event is persistent, and its properties contain its metadata and trace', async () => {
    await harness.startProducer('processor');
    await brokers.topology.declareExchanges(connection);
    const { queue } = await channel.assertQueue('', { exclusive: true });
    await channel.bindQueue(queue, brokers.topology.events, NotedV1.name);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const event = { ...anEvent(NotedV1, 'a', 1, { text: 'a' }), traceparent };
    await publishDirectly(event);
    const { properties, content } = await takeMessage(queue);
    expect(JSON.parse(content.toString())).toEqual([event]);
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
  test('while one replica is busy, another replica handles events of the shared queue, and each event is handled once', async () => {
    const history = await createEffectsTable(harness, 'history');
    const gate = newGate();
    const handled: Record<'busy' | 'free', string[]> = { busy: [], free: [] };
    for (const replica of ['busy', 'free'] as const) {
      await harness.startConsumer('history', {
        events: {
          [NotedV1.name]: async (events, context) => {
            if (replica === 'busy') await gate.pass();
            handled[replica].push(...readTexts(events));
            await writeEffects(events, context);
          },
        },
      });
    }
    const producer = await harness.startProducer('processor');
    await producer.relay.start();
    const texts = Array.from({ length: 40 }, (_, i) => `note ${i}`);
    await appendNotes(producer, ...texts);
    await gate.reached;
    await waitUntil('the other replica to handle an event', DEADLINE_MS, () =>
      Promise.resolve(handled.free.length > 0),
    );
    gate.open();
    await expectEffects(history, texts);
    expect(handled.busy.length).toBeGreaterThan(0);
    expect([...handled.busy, ...handled.free].sort()).toEqual([...texts].sort());
  });

  test('a consumer that stops handles every event that it received, and the next consumer does not receive them again', async () => {
    const history = await createEffectsTable(harness, 'history');
    const gate = newGate();
    const handled: string[] = [];
    const handler = async (events: EventEnvelope[], context: Parameters<typeof writeEffects>[1]): Promise<void> => {
      await gate.pass();
      handled.push(...readTexts(events));
      await writeEffects(events, context);
    };
    const stopping = await harness.startConsumer('history', { events: { [NotedV1.name]: handler } });
    const producer = await harness.startProducer('processor');
    await producer.relay.start();
    // These are more events than the broker delivers to one process before the first acknowledgement.
    const texts = Array.from({ length: 450 }, (_, i) => `note ${i}`);
    await appendNotes(producer, ...texts);
    await gate.reached;
    await waitUntil('everything to be published', DEADLINE_MS, () => producer.relay.isCaughtUp());
    const stopped = stopping.stop();
    gate.open();
    await stopped;
    const handledBeforeStop = handled.length;
    expect(await readEffects(history)).toHaveLength(handledBeforeStop);
    expect(handledBeforeStop).toBeGreaterThanOrEqual(50);
    expect(handledBeforeStop).toBeLessThan(450);

    await harness.startConsumer('history', { events: { [NotedV1.name]: handler } });
    await expectEffects(history, texts);
    expect(Math.max(...Object.values(countOccurrences(handled)))).toBe(1);
  });

  test('no event is lost or handled twice while connections to the broker break repeatedly', async () => {
    const history = await createEffectsTable(harness, 'history');
    const consumer = await harness.startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
    const producer = await harness.startProducer('processor');
    await producer.relay.start();
    const texts = Array.from({ length: 60 }, (_, i) => `note ${i}`);
    for (const [i, text] of texts.entries()) {
      await appendNotes(producer, text);
      // Breaks the connections of the consumer after the notes 10 and 50, and those of the publisher after note 30.
      if (i % 20 === 10) brokers.linkOf(i % 40 === 10 ? 'history' : 'processor').network.breakConnections();
    }
    await expectEffects(history, texts);
    expect((await consumer.deadLetters.list()).deadLetters).toEqual([]);
  });

  test('broker.connection.waiting() counts the messages in a queue that are not delivered yet', async () => {
    const handlerGate = newGate();
    await harness.startConsumer('history', { events: { [NotedV1.name]: () => handlerGate.pass() } });
    await harness.startProducer('processor');
    const { connection: brokerConnection } = brokers.linkOf('history').broker;
    const queue = brokers.topology.eventQueue('history');
    const countWaiting = async (): Promise<number | undefined> => (await brokerConnection.waiting()).get(queue);
    expect([brokerConnection.state, await countWaiting()]).toEqual(['up', 0]);
    /** Number of messages that the broker delivers before the first acknowledgement. */
    const prefetched = 50;
    const events = Array.from({ length: prefetched + 50 }, (_, nr) => anEvent(NotedV1, `a${nr}`, 1, { text: `${nr}` }));
    await publishDirectly(...events);
    await waitUntil('the queue to be counted', DEADLINE_MS, async () => (await countWaiting()) === 50);
    handlerGate.open();
    await waitUntil('the queue to be empty', DEADLINE_MS, async () => (await countWaiting()) === 0);
  });

  test('an unreadable message becomes a dead letter and does not delay other messages', async () => {
    const history = await createEffectsTable(harness, 'history');
    await harness.startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
    const queue = brokers.topology.eventQueue('history');
    for (const text of ['{', '{"id":"no"}', 'null'])
      channel.sendToQueue(queue, Buffer.from(text), { persistent: true });
    const producer = await harness.startProducer('processor');
    await producer.relay.start();
    await appendNotes(producer, 'a');
    await expectEffects(history, ['a']);
    const unreadable: string[] = [];
    while (unreadable.length < 3) {
      const message = await takeMessage(brokers.topology.deadLetterQueue('history'));
      unreadable.push(message.content.toString());
      expect(message.properties.headers?.['x-first-death-reason']).toBe('rejected');
    }
    expect(unreadable.sort()).toEqual(['null', '{', '{"id":"no"}']);
  });

  test('an event type without a handler is unbound, and a new handler gets a replay of the missed events', async () => {
    const history = await createEffectsTable(harness, 'history');
    const bothHandlers = { [NotedV1.name]: writeEffects, [OtherV1.name]: writeEffects };
    const first = await harness.startConsumer('history', { events: bothHandlers });
    const producer = await harness.startProducer('processor');
    await producer.relay.start();
    await appendNotes(producer, 'a');
    await expectEffects(history, ['a']);
    await first.stop();

    // A type without a handler is unbound after a week.
    harness.clock.advance(8 * 24 * 3_600_000);
    const second = await harness.startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
    await createEffectsTable(harness, 'other');
    await publishDirectly(anEvent(OtherV1, 'a', 1, { text: 'a' }));
    expect(harness.logLines).toContainEqual({ level: 'warn', message: 'broker: event has no consumer yet' });
    const other = await harness.startConsumer('other', { events: { [OtherV1.name]: writeEffects } });
    await inTransaction(producer.dataSource, (tx) =>
      producer.events.append(tx, { ...newNoteEvent('missed'), type: OtherV1 }),
    );
    await expectEffects(await harness.database('other'), ['missed']);
    await other.stop();
    await second.stop();
    expect(await readEffects(history)).toEqual(['a']);

    await harness.startConsumer('history', { events: bothHandlers });
    await expectEffects(history, ['a', 'missed']);
  });
});

describe('event replay', () => {
  test('a replay request waits for an unavailable publisher, and the replay is incomplete until the publisher serves it', async () => {
    await createEffectsTable(harness, 'early');
    const lateEffects = await createEffectsTable(harness, 'late');
    await harness.startConsumer('early', { events: { [NotedV1.name]: writeEffects } });
    const publisher = await harness.startProducer('processor');
    await publisher.relay.start();
    // These are more events than one batch contains.
    const texts = Array.from({ length: 450 }, (_, i) => `note ${i}`);
    await appendNotes(publisher, ...texts);
    await expectEffects(await harness.database('early'), texts);
    await publisher.crash();

    const first = await harness.startConsumer('late', { events: { [NotedV1.name]: writeEffects } });
    expect(await first.isBackfilled()).toBe(false);
    await first.stop();
    // Each start requests the replay again, and it is still served once.
    const second = await harness.startConsumer('late', { events: { [NotedV1.name]: writeEffects } });
    expect(await second.isBackfilled()).toBe(false);
    expect(await readEffects(lateEffects)).toEqual([]);

    const returnedPublisher = await harness.startProducer('processor');
    await returnedPublisher.relay.start();
    // The lease of the crashed publisher expires after 400 ms.
    harness.clock.advance(400);
    await waitUntil('the replay to be complete', DEADLINE_MS, () => second.isBackfilled());
    expect((await readEffects(lateEffects)).sort()).toEqual([...texts].sort());
    expect(await readEffects(await harness.database('early'))).toHaveLength(texts.length);
    const rows = await returnedPublisher.dataSource.query<{ target: string }[]>(`SELECT target FROM relay_cursors`);
    expect(rows).toEqual([{ target: 'rabbitmq' }]);
  });

  test('a replay to several replicas is complete when all its events are handled, and live events do not wait for the replay', async () => {
    await createEffectsTable(harness, 'early');
    const lateEffects = await createEffectsTable(harness, 'late');
    await harness.startConsumer('early', { events: { [NotedV1.name]: writeEffects } });
    const producer = await harness.startProducer('processor');
    await producer.relay.start();
    const texts = Array.from({ length: 450 }, (_, i) => `note ${i}`);
    await appendNotes(producer, ...texts);
    await expectEffects(await harness.database('early'), texts);

    const gate = newGate();
    const slow = await harness.startConsumer('late', {
      events: {
        [NotedV1.name]: async (events, context) => {
          if (readTexts(events).includes('note 300')) await gate.pass();
          await writeEffects(events, context);
        },
      },
    });
    await gate.reached;
    const quick = await harness.startConsumer('late', { events: { [NotedV1.name]: writeEffects } });
    const meanwhile = Array.from({ length: 40 }, (_, i) => `meanwhile ${i}`);
    await publishDirectly(...meanwhile.map((text) => anEvent(NotedV1, text, 1, { text })));
    await waitUntil('the live events', DEADLINE_MS, async () => {
      const handledTexts = new Set(await readEffects(lateEffects));
      return meanwhile.every((text) => handledTexts.has(text));
    });
    expect(await quick.isBackfilled()).toBe(false);
    expect(await readEffects(lateEffects)).not.toContain('note 449');

    const crashed = slow.crash();
    gate.open();
    await crashed;
    await waitUntil('the replay to be complete', DEADLINE_MS, () => quick.isBackfilled());
    expect((await readEffects(lateEffects)).sort()).toEqual([...texts, ...meanwhile].sort());
  });

  test('a consumer is backfilled immediately if no service has published its types', async () => {
    const consumer = await harness.startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
    expect(await consumer.isBackfilled()).toBe(true);
  });

  test('a replay request of a removed service does not delay the requests of other services', async () => {
    await createEffectsTable(harness, 'early');
    const lateEffects = await createEffectsTable(harness, 'late');
    await harness.startConsumer('early', { events: { [NotedV1.name]: writeEffects } });
    const producer = await harness.startProducer('processor');
    await producer.relay.start();
    await appendNotes(producer, 'a');
    await expectEffects(await harness.database('early'), ['a']);
    const { eventReplay } = brokers.linkOf('processor').broker;
    const id = '00000000-0000-7000-8000-00000000dead';
    expect(await eventReplay.request({ id, service: 'removed', type: NotedV1.name })).toBe(true);

    const consumer = await harness.startConsumer('late', { events: { [NotedV1.name]: writeEffects } });
    await expectEffects(lateEffects, ['a']);
    await waitUntil('the replay to be complete', DEADLINE_MS, () => consumer.isBackfilled());
  });
});
