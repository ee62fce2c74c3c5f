import type { EventEnvelope } from '@svc/contracts';
import { anEvent, GaugeReader, waitUntil } from '@svc/testing';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import type { BrokerDeadLetters } from '../../src/broker/broker.js';
import { createEffectsTable, DEADLINE_MS, NotedV1, readEffects, writeEffects } from '../harness/effects.js';
import { newGate } from '../harness/gate.js';
import { ProcessesHarness } from '../harness/processes-harness.js';
import { RabbitMqBrokers } from './rabbitmq-brokers.js';
import { rabbitMqUrl } from './rabbitmq-url.js';

// Tests of RabbitMQ's dead-letter queue, and of the replay of its messages to the consumer.

jest.setTimeout(60_000);

let brokers: RabbitMqBrokers;
let harness: ProcessesHarness;
/** The test's connection to the broker. */
let connection: ChannelModel;
let channel: Channel;
let deadLetterQueue: string;

beforeEach(async () => {
  // Each message contains one event.
  brokers = new RabbitMqBrokers(rabbitMqUrl(), 1);
  harness = new ProcessesHarness(brokers);
  connection = await connect(rabbitMqUrl());
  channel = await connection.createChannel();
  deadLetterQueue = brokers.topology.deadLetterQueue('history');
});
afterEach(async () => {
  await connection.close();
  await harness.close();
});

const userName = (): string => decodeURIComponent(new URL(rabbitMqUrl()).username) || 'guest';
const newNote = (text: string): EventEnvelope => anEvent(NotedV1, text, 1, { text });
const newTexts = (count: number): string[] => Array.from({ length: count }, (_, i) => `note ${i}`);
const startHistory = (handler: typeof writeEffects = writeEffects) =>
  harness.startConsumer('history', { events: { [NotedV1.name]: handler } });
const getDeadLetters = (): BrokerDeadLetters => brokers.linkOf('history').broker.deadLetters;
const waitForCount = (count: number): Promise<boolean> =>
  waitUntil(`${count} dead letters`, DEADLINE_MS, async () => (await getDeadLetters().count()) === count);

/** A dead letter as the broker creates it. */
function publishDeadLetter(content: string, properties: object = { userId: userName() }): void {
  channel.publish(brokers.topology.deadLetters, 'history', Buffer.from(content), {
    persistent: true,
    ...properties,
  });
}

test('count(), summary() and replay() include a message that the broker dead-lettered at its delivery limit', async () => {
  const effects = await createEffectsTable(harness, 'history');
  await (await startHistory()).stop();
  await harness.startProducer('processor');
  const events = newTexts(3).map(newNote);
  const { broker } = brokers.linkOf('processor');
  await waitUntil('a connection', DEADLINE_MS, () => Promise.resolve(broker.connection.state === 'up'));
  await broker.targets()[0]!.deliver(events);
  const eventQueue = brokers.topology.eventQueue('history');
  await waitUntil('the delivery limit', DEADLINE_MS, async () => {
    for (let message = await channel.get(eventQueue); message; message = await channel.get(eventQueue))
      channel.reject(message, true);
    return (await channel.checkQueue(deadLetterQueue)).messageCount === 3;
  });

  await startHistory();
  expect(await readEffects(effects)).toEqual([]);
  await waitForCount(3);
  const { count, countMax, oldest } = await getDeadLetters().summary();
  expect([count, countMax]).toEqual([3, 100_000]);
  expect(events.map(({ id }) => id)).toContain(oldest?.messageId);
  expect(oldest).toMatchObject({ type: NotedV1.name, reason: 'delivery_limit', deadLetteredAt: expect.any(Date) });

  expect(await getDeadLetters().replay()).toEqual({ replayed: 3, refused: 0 });
  expect((await readEffects(effects)).sort()).toEqual(newTexts(3));
  await waitForCount(0);
  expect(await getDeadLetters().summary()).toMatchObject({ count: 0, oldest: null });
  expect(await getDeadLetters().replay()).toEqual({ replayed: 0, refused: 0 });
});

test('a process that crashes during a replay loses no event and handles no event twice', async () => {
  const effects = await createEffectsTable(harness, 'history');
  const gate = newGate();
  let batches = 0;
  const crashing = await startHistory(async (events, context) => {
    if (++batches === 2) await gate.pass();
    await writeEffects(events, context);
  });
  for (const text of newTexts(250)) publishDeadLetter(JSON.stringify([newNote(text)]));
  await waitForCount(250);
  const replay = getDeadLetters()
    .replay()
    .catch(() => 'failed');
  await gate.reached;
  const crashed = crashing.crash();
  gate.open();
  expect(await replay).toBe('failed');
  await crashed;
  expect(await readEffects(effects)).toHaveLength(1);

  await startHistory();
  await waitForCount(249);
  expect(await getDeadLetters().replay()).toEqual({ replayed: 249, refused: 0 });
  expect((await readEffects(effects)).sort()).toEqual(newTexts(250).sort());
  await waitForCount(0);
});

test('a dead letter with several events is replayed if all its events are valid, and refused otherwise', async () => {
  const effects = await createEffectsTable(harness, 'history');
  await startHistory();
  publishDeadLetter(JSON.stringify(newTexts(3).map(newNote)));
  publishDeadLetter(JSON.stringify([newNote('a'), { ...newNote('b'), id: 'none' }]));
  await waitForCount(2);
  expect(await getDeadLetters().replay()).toEqual({ replayed: 1, refused: 1 });
  expect((await readEffects(effects)).sort()).toEqual(newTexts(3));
});

test('the gauge svc.broker.dead_letters is the number of dead letters in the queue', async () => {
  await createEffectsTable(harness, 'history');
  const gauges = GaugeReader.begin();
  try {
    await startHistory();
    const read = () => gauges.read('svc.broker.dead_letters');
    expect(await read()).toEqual([{ value: 0, attributes: { service: 'history' } }]);
    for (const text of newTexts(2)) publishDeadLetter(text);
    await waitForCount(2);
    expect(await read()).toEqual([{ value: 2, attributes: { service: 'history' } }]);
  } finally {
    gauges.end();
  }
});

test('an event that two dead letters contain is handled once', async () => {
  const effects = await createEffectsTable(harness, 'history');
  await startHistory();
  const note = JSON.stringify([newNote('a')]);
  for (let times = 0; times < 2; times++) publishDeadLetter(note);
  await waitForCount(2);
  expect(await getDeadLetters().replay()).toEqual({ replayed: 2, refused: 0 });
  expect(await readEffects(effects)).toEqual(['a']);
});

test('while the database of the consumer is unavailable, a replay fails and the dead letters stay', async () => {
  const effects = await createEffectsTable(harness, 'history');
  await startHistory();
  for (const text of newTexts(3)) publishDeadLetter(JSON.stringify([newNote(text)]));
  await waitForCount(3);
  const restore = await harness.makeDatabaseUnavailable('history');
  const replay = getDeadLetters()
    .replay()
    .catch(() => 'failed');
  expect(await replay).toBe('failed');
  await waitForCount(3);
  await restore();
  await waitUntil('the database to be back', DEADLINE_MS, async () => {
    const { replayed } = await getDeadLetters()
      .replay()
      .catch(() => ({ replayed: 0 }));
    return replayed === 3;
  });
  expect((await readEffects(effects)).sort()).toEqual(newTexts(3));
});

test('a dead letter that is unreadable or has no sender is refused, stays in the queue, and delays no later dead letters', async () => {
  const effects = await createEffectsTable(harness, 'history');
  await startHistory();
  for (const text of ['{', 'null']) publishDeadLetter(text);
  publishDeadLetter(JSON.stringify([newNote('no sender')]), {});
  publishDeadLetter(JSON.stringify([newNote('a')]));
  await waitForCount(4);
  expect(await getDeadLetters().replay()).toEqual({ replayed: 1, refused: 3 });
  expect(await readEffects(effects)).toEqual(['a']);
  await waitForCount(3);
  expect(harness.logLines).toContainEqual({ level: 'warn', message: 'broker: a dead letter is unreadable' });
});

test('one call replays at most 1 000 dead letters, and the next call replays the remaining dead letters', async () => {
  await createEffectsTable(harness, 'history');
  await startHistory();
  for (const text of newTexts(1_001)) publishDeadLetter(JSON.stringify([newNote(text)]));
  await waitForCount(1_001);
  expect(await getDeadLetters().replay()).toEqual({ replayed: 1_000, refused: 0 });
  expect(await getDeadLetters().replay()).toEqual({ replayed: 1, refused: 0 });
});

test('a dead letter is not removed by summaries, refused replays or crashes, even after more than 20 deliveries', async () => {
  await createEffectsTable(harness, 'history');
  await startHistory();
  publishDeadLetter('{');
  await waitForCount(1);
  // The default delivery limit of RabbitMQ 4 is 20. This declaration would fail if the queue had other arguments.
  const limit = { 'x-queue-type': 'quorum', 'x-max-length': 100_000, 'x-delivery-limit': 1_000_000 };
  await channel.assertQueue(deadLetterQueue, { durable: true, arguments: limit });
  for (let times = 0; times < 25; times++) {
    expect((await getDeadLetters().summary()).oldest).not.toBeNull();
    expect(await getDeadLetters().replay()).toEqual({ replayed: 0, refused: 1 });
  }
  // Simulates a process that crashes before it acknowledges the message.
  for (let times = 0; times < 25; times++) {
    const separateChannel = await connection.createChannel();
    const message = await waitUntil('the message', DEADLINE_MS, () => separateChannel.get(deadLetterQueue));
    separateChannel.reject(message, true);
    await separateChannel.close();
  }
  await waitForCount(1);
});
