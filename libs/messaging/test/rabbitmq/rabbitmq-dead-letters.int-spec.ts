import type { EventEnvelope } from '@svc/contracts';
import { anEvent, GaugeReader, waitUntil } from '@svc/testing';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import type { BrokerDeadLetters } from '../../src/broker/broker.js';
import { DEADLINE_MS, effectsTable, NotedV1, readEffects, writeEffects } from '../harness/effects.js';
import { gate } from '../harness/gate.js';
import { ProcessesHarness } from '../harness/processes-harness.js';
import { RabbitMqBrokers } from './rabbitmq-brokers.js';
import { rabbitMqUrl } from './rabbitmq-url.js';

// The dead-letter queue of RabbitMQ, and the replay to the consumer.

jest.setTimeout(60_000);

let brokers: RabbitMqBrokers;
let harness: ProcessesHarness;
/** The test's own view of the broker. */
let connection: ChannelModel;
let channel: Channel;
let queue: string;

beforeEach(async () => {
  brokers = new RabbitMqBrokers(rabbitMqUrl(), 1);
  harness = new ProcessesHarness(brokers);
  connection = await connect(rabbitMqUrl());
  channel = await connection.createChannel();
  queue = brokers.topology.deadLetterQueue('history');
});
afterEach(async () => {
  await connection.close();
  await harness.close();
});

const user = (): string => decodeURIComponent(new URL(rabbitMqUrl()).username) || 'guest';
const aNote = (text: string): EventEnvelope => anEvent(NotedV1, text, 1, { text });
const textsOf = (count: number): string[] => Array.from({ length: count }, (_, i) => `note ${i}`);
const history = (handler: typeof writeEffects = writeEffects) =>
  harness.consumer('history', { events: { [NotedV1.name]: handler } });
const deadLetters = (): BrokerDeadLetters => brokers.linkOf('history').broker.deadLetters;
const countIs = (count: number): Promise<boolean> =>
  waitUntil(`${count} dead letters`, DEADLINE_MS, async () => (await deadLetters().count()) === count);

/** A dead letter as the broker creates it. */
function deadLetter(content: string, properties: object = { userId: user() }): void {
  channel.publish(brokers.topology.deadLetters, 'history', Buffer.from(content), { persistent: true, ...properties });
}

test('a dead letter of the broker is counted, shown and replayed', async () => {
  const effects = await effectsTable(harness, 'history');
  await (await history()).stop();
  await harness.producer('processor');
  const events = textsOf(3).map(aNote);
  const { broker } = brokers.linkOf('processor');
  await waitUntil('a connection', DEADLINE_MS, () => Promise.resolve(broker.connection.state === 'up'));
  await broker.targets()[0]!.deliver(events);
  const eventQueue = brokers.topology.eventQueue('history');
  await waitUntil('the delivery limit', DEADLINE_MS, async () => {
    const message = await channel.get(eventQueue);
    if (message) channel.reject(message, true);
    return (await channel.checkQueue(queue)).messageCount === 3;
  });

  await history();
  expect(await readEffects(effects)).toEqual([]);
  await countIs(3);
  const { count, countMax, oldest } = await deadLetters().summary();
  expect([count, countMax]).toEqual([3, 100_000]);
  expect(events.map(({ id }) => id)).toContain(oldest?.messageId);
  expect(oldest).toMatchObject({ type: NotedV1.name, reason: 'delivery_limit' });
  expect(Math.abs(Date.now() - oldest!.deadLetteredAt!.getTime())).toBeLessThan(DEADLINE_MS);

  expect(await deadLetters().replay()).toEqual({ replayed: 3, refused: 0 });
  expect((await readEffects(effects)).sort()).toEqual(textsOf(3));
  await countIs(0);
  expect(await deadLetters().summary()).toMatchObject({ count: 0, oldest: null });
  expect(await deadLetters().replay()).toEqual({ replayed: 0, refused: 0 });
});

test('a process that crashes during a replay loses no event and handles none twice', async () => {
  const effects = await effectsTable(harness, 'history');
  const door = gate();
  let batches = 0;
  const dying = await history(async (events, context) => {
    if (++batches === 2) await door.pass();
    await writeEffects(events, context);
  });
  for (const text of textsOf(250)) deadLetter(JSON.stringify(aNote(text)));
  await countIs(250);
  const replay = deadLetters()
    .replay()
    .catch(() => 'failed');
  await door.reached;
  const crashed = dying.crash();
  door.open();
  expect(await replay).toBe('failed');
  await crashed;
  expect(await readEffects(effects)).toHaveLength(1);

  await history();
  await countIs(249);
  expect(await deadLetters().replay()).toEqual({ replayed: 249, refused: 0 });
  expect((await readEffects(effects)).sort()).toEqual(textsOf(250).sort());
  await countIs(0);
});

test('a message of several events is replayed as one, if its sender publishes them all', async () => {
  const effects = await effectsTable(harness, 'history');
  await history();
  deadLetter(JSON.stringify(textsOf(3).map(aNote)));
  deadLetter(JSON.stringify([aNote('a'), { ...aNote('b'), id: 'none' }]));
  await countIs(2);
  expect(await deadLetters().replay()).toEqual({ replayed: 1, refused: 1 });
  expect((await readEffects(effects)).sort()).toEqual(textsOf(3));
});

test('a gauge counts the dead letters', async () => {
  await effectsTable(harness, 'history');
  const gauges = GaugeReader.begin();
  try {
    await history();
    const read = () => gauges.read('svc.broker.dead_letters');
    expect(await read()).toEqual([{ value: 0, attributes: { service: 'history' } }]);
    for (const text of textsOf(2)) deadLetter(text);
    await countIs(2);
    expect(await read()).toEqual([{ value: 2, attributes: { service: 'history' } }]);
  } finally {
    gauges.end();
  }
});

test('a dead letter that is replayed twice is handled once', async () => {
  const effects = await effectsTable(harness, 'history');
  await history();
  const note = JSON.stringify(aNote('a'));
  for (let times = 0; times < 2; times++) deadLetter(note);
  await countIs(2);
  expect(await deadLetters().replay()).toEqual({ replayed: 2, refused: 0 });
  expect(await readEffects(effects)).toEqual(['a']);
});

test('while the database of the consumer is unavailable, a replay fails and the dead letters stay', async () => {
  const effects = await effectsTable(harness, 'history');
  await history();
  for (const text of textsOf(3)) deadLetter(JSON.stringify(aNote(text)));
  await countIs(3);
  const restore = await harness.makeDatabaseUnavailable('history');
  const replay = deadLetters()
    .replay()
    .catch(() => 'failed');
  expect(await replay).toBe('failed');
  await countIs(3);
  await restore();
  await waitUntil('the database to be back', DEADLINE_MS, async () => {
    const { replayed } = await deadLetters()
      .replay()
      .catch(() => ({ replayed: 0 }));
    return replayed === 3;
  });
  expect((await readEffects(effects)).sort()).toEqual(textsOf(3));
});

test('a dead letter that is unreadable or has another sender is refused, stays, and does not delay later ones', async () => {
  const effects = await effectsTable(harness, 'history');
  await history();
  for (const text of ['{', 'null']) deadLetter(text);
  deadLetter(JSON.stringify(aNote('no sender')), {});
  deadLetter(JSON.stringify(aNote('a')));
  await countIs(4);
  expect(await deadLetters().replay()).toEqual({ replayed: 1, refused: 3 });
  expect(await readEffects(effects)).toEqual(['a']);
  await countIs(3);
  expect(harness.logged).toContainEqual({ level: 'warn', message: 'broker: a dead letter is unreadable' });
});

test('one call replays a thousand dead letters, and the next call the rest', async () => {
  await effectsTable(harness, 'history');
  await history();
  for (const text of textsOf(1_001)) deadLetter(JSON.stringify(aNote(text)));
  await countIs(1_001);
  expect(await deadLetters().replay()).toEqual({ replayed: 1_000, refused: 0 });
  expect(await deadLetters().replay()).toEqual({ replayed: 1, refused: 0 });
});

test('reading and failed replays remove no dead letter, even beyond the delivery limit', async () => {
  await effectsTable(harness, 'history');
  await history();
  deadLetter('{');
  await countIs(1);
  // The default limit of RabbitMQ 4 is 20. A queue that was declared with other arguments refuses this declaration.
  const limit = { 'x-queue-type': 'quorum', 'x-max-length': 100_000, 'x-delivery-limit': 1_000_000 };
  await channel.assertQueue(queue, { durable: true, arguments: limit });
  for (let times = 0; times < 25; times++) {
    expect((await deadLetters().summary()).oldest).not.toBeNull();
    expect(await deadLetters().replay()).toEqual({ replayed: 0, refused: 1 });
  }
  // Simulates a process that crashes while it has the message.
  for (let times = 0; times < 25; times++) {
    const own = await connection.createChannel();
    const message = await waitUntil('the message', DEADLINE_MS, () => own.get(queue));
    own.reject(message, true);
    await own.close();
  }
  await countIs(1);
});
