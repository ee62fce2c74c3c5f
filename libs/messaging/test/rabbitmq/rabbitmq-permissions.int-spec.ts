import { eventType } from '@svc/contracts';
import { inTransaction } from '@svc/persistence';
import { VirtualHost, waitUntil } from '@svc/testing';
import { TypesRefusedError } from '../../src/index.js';
import { permissionsOf } from '../../src/routing/rabbitmq-names.js';
import {
  appendNotes,
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
import type { Producer } from '../harness/harness.js';
import { ProcessesHarness } from '../harness/processes-harness.js';
import { RabbitMqBrokers } from './rabbitmq-brokers.js';

// The permissions of a service's user lack a message type of a new release. Only that type waits for its permission.

const RenamedV1 = eventType<Note>('renamed.v1');
const BOTH = [NotedV1.name, RenamedV1.name];
const HELD = 'relay: types held back, because the target refuses them';

let virtualHost: VirtualHost;
let brokers: RabbitMqBrokers;
let harness: ProcessesHarness;

beforeAll(async () => (virtualHost = await VirtualHost.create()));
afterAll(() => virtualHost.stop());
beforeEach(() => {
  brokers = new RabbitMqBrokers(virtualHost.url, 1);
  harness = new ProcessesHarness(brokers);
});
afterEach(() => harness.close());

interface Messages {
  readonly publishes?: readonly string[];
  readonly consumes?: readonly string[];
  readonly requests?: readonly string[];
}

/** Gives the service a login with the permissions for these messages, as an import of permissions does. */
async function allow(service: string, { publishes = [], consumes = [], requests = [] }: Messages): Promise<void> {
  const messages = { publishes, consumes, requests, answers: [] };
  const permissions = permissionsOf(brokers.topology, service, messages);
  brokers.logins.set(service, await virtualHost.allow(`${brokers.namespace}-${service}`, permissions));
}

function appendRenamed({ dataSource, events }: Producer, ...texts: string[]): Promise<void> {
  return inTransaction(dataSource, (tx) =>
    events.append(tx, ...texts.map((text) => ({ ...newNoteEvent(text), type: RenamedV1 }))),
  );
}

const countLines = (message: string): number => harness.logLines.filter((line) => line.message === message).length;

/** Advances the clock, so that held types and replays are tried again, until the events have arrived. */
async function waitForHeld(texts: readonly string[], read: () => Promise<readonly string[]>): Promise<void> {
  await waitUntil('the held events', DEADLINE_MS, async () => {
    harness.clock.advance(1_000);
    const effects = await read();
    return texts.every((text) => effects.includes(text));
  });
}

async function startHistory() {
  const database = await createEffectsTable(harness, 'history');
  const events = { [NotedV1.name]: writeEffects, [RenamedV1.name]: writeEffects };
  await harness.startConsumer('history', { events });
  return { database, read: () => readEffects(database) };
}

test('a type that the broker refuses waits for its permission, all other events and requests do not, and its events follow in their order', async () => {
  const history = await startHistory();
  const gate = newGate();
  await harness.startConsumer('responder', {
    commands: { 'double.v1': async () => (await gate.pass(), 'doubled') },
  });
  await allow('processor', { publishes: [NotedV1.name], requests: ['double.v1'] });
  const producer = await harness.startProducer('processor');
  await producer.relay.start();
  const reply = producer.commands.request({ name: 'double.v1' }, {}, DEADLINE_MS);
  await gate.reached;
  await appendNotes(producer, 'a');
  await appendRenamed(producer, 'first', 'second');
  await appendNotes(producer, 'b');
  await expectEffects(history.database, ['a', 'b']);
  await appendRenamed(producer, 'third');
  await appendNotes(producer, 'c');
  await expectEffects(history.database, ['a', 'b', 'c']);
  expect(harness.logLines).toContainEqual({ level: 'error', message: HELD });
  expect(await producer.relay.isCaughtUp()).toBe(false);
  const { connection } = brokers.linkOf('processor').broker;
  expect([...connection.refusals]).toEqual([[`publish ${RenamedV1.name}`, true]]);
  gate.open();
  expect(await reply).toBe('doubled');
  expect(countLines('broker: connection closed after an error')).toBe(0);

  await allow('processor', { publishes: BOTH, requests: ['double.v1'] });
  await waitForHeld(['third'], history.read);
  expect(await history.read()).toEqual(['a', 'b', 'c', 'first', 'second', 'third']);
  await appendRenamed(producer, 'fourth');
  await expectEffects(history.database, ['a', 'b', 'c', 'first', 'second', 'third', 'fourth']);
  await waitUntil('the relay to catch up', DEADLINE_MS, () => producer.relay.isCaughtUp());
  expect([...connection.refusals]).toEqual([[`publish ${RenamedV1.name}`, false]]);
  expect(countLines(HELD)).toBe(1);
});

test('the next process that relays continues to hold a type back, and publishes its events when they are allowed', async () => {
  const history = await startHistory();
  await allow('processor', { publishes: [NotedV1.name] });
  const first = await harness.startProducer('processor');
  await first.relay.start();
  await appendRenamed(first, 'held');
  await appendNotes(first, 'a');
  await expectEffects(history.database, ['a']);
  await first.stop();

  const next = await harness.startProducer('processor');
  await next.relay.start();
  await appendNotes(next, 'b');
  await expectEffects(history.database, ['a', 'b']);
  expect(await next.relay.findOldestWaiting()).toEqual(harness.clock.now());
  await allow('processor', { publishes: BOTH });
  await waitForHeld(['held'], history.read);
  expect(await history.read()).toEqual(['a', 'b', 'held']);
});

test('a permission that is lost while the service runs holds back only its type, and the replay of this type does not delay other replays', async () => {
  const history = await startHistory();
  await allow('processor', { publishes: BOTH });
  const producer = await harness.startProducer('processor');
  await producer.relay.start();
  await appendNotes(producer, 'a');
  await appendRenamed(producer, 'b');
  await expectEffects(history.database, ['a', 'b']);

  await allow('processor', { publishes: [NotedV1.name] });
  const { eventReplay } = brokers.linkOf('processor').broker;
  const late = await createEffectsTable(harness, 'late');
  const consumer = await harness.startConsumer('late', {
    events: { [RenamedV1.name]: writeEffects, [NotedV1.name]: writeEffects },
  });
  await waitForHeld(['a'], () => readEffects(late));
  expect(await readEffects(late)).toEqual(['a']);
  expect(await consumer.isBackfilled()).toBe(false);
  // The first message after the loss closes the channel of the events, and the next message is checked before.
  const replayed = { ...newEnvelope(producer), type: RenamedV1.name };
  await waitUntil('the refusal', DEADLINE_MS, () =>
    eventReplay.deliver('late', [replayed]).then(
      () => false,
      (error: unknown) => error instanceof TypesRefusedError,
    ),
  );
  expect(countLines('broker: connection closed after an error')).toBe(0);

  await allow('processor', { publishes: BOTH });
  await waitForHeld(['b'], () => readEffects(late));
  await waitUntil('the replay to be complete', DEADLINE_MS, () => consumer.isBackfilled());
});

test('a type is also held back while the queue of one consumer is full, and in the end each consumer has every event', async () => {
  const history = await createEffectsTable(harness, 'history');
  const webhooks = await createEffectsTable(harness, 'webhooks');
  const events = { [NotedV1.name]: writeEffects, [RenamedV1.name]: writeEffects };
  const stopped = await harness.startConsumer('history', { events });
  await harness.startConsumer('webhooks', { events });
  await stopped.stop();
  await virtualHost.limitQueueLength(brokers.topology.eventQueue('history'), 1);
  await allow('processor', { publishes: [NotedV1.name] });
  const producer = await harness.startProducer('processor');
  await producer.relay.start();
  const texts = ['a'];
  await appendNotes(producer, 'a');
  await waitUntil('the consumers to be separated', DEADLINE_MS, async () => {
    texts.push(`note ${texts.length}`);
    await appendNotes(producer, texts.at(-1)!);
    return harness.logLines.some(({ message }) => message.startsWith('relay: a consumer refuses events'));
  });
  await appendRenamed(producer, 'held');
  await appendNotes(producer, 'meanwhile');
  await expectEffects(webhooks, [...texts, 'meanwhile']);

  await virtualHost.removeLengthLimit();
  await harness.startConsumer('history', { events });
  await expectEffects(history, [...texts, 'meanwhile']);
  await waitUntil('the consumers to share a cursor again', DEADLINE_MS, () =>
    Promise.resolve(harness.logLines.some(({ message }) => message.includes('share a cursor again'))),
  );
  await allow('processor', { publishes: BOTH });
  for (const database of [history, webhooks]) await waitForHeld(['held'], () => readEffects(database));
  await expectEffects(history, [...texts, 'meanwhile', 'held']);
  await expectEffects(webhooks, [...texts, 'meanwhile', 'held']);
  await waitUntil('the relay to catch up', DEADLINE_MS, () => producer.relay.isCaughtUp());
});

const newEnvelope = ({ events }: Producer) => events.newEnvelope(newNoteEvent('x'));

test('a command that the broker refuses fails, and does not disturb the requests of other commands', async () => {
  const gate = newGate();
  await harness.startConsumer('responder', {
    commands: {
      'double.v1': async () => (await gate.pass(), 'doubled'),
      'other.v1': () => Promise.resolve('answered'),
    },
  });
  await allow('requester', { requests: ['double.v1'] });
  const requester = await harness.startProducer('requester');
  const reply = requester.commands.request({ name: 'double.v1' }, {}, DEADLINE_MS);
  await gate.reached;
  for (let times = 0; times < 3; times++)
    await expect(requester.commands.request({ name: 'other.v1' }, {}, DEADLINE_MS)).rejects.toMatchObject({
      code: 'service.not-ready',
      cause: { message: 'The permissions at the broker do not allow other.v1.' },
    });
  gate.open();
  expect(await reply).toBe('doubled');
  expect([...brokers.linkOf('requester').broker.connection.refusals]).toEqual([['send other.v1', true]]);
  expect(countLines('broker: connection closed after an error')).toBe(0);

  await allow('requester', { requests: ['double.v1', 'other.v1'] });
  await waitUntil('the command', DEADLINE_MS, () =>
    requester.commands.request({ name: 'other.v1' }, {}, DEADLINE_MS).then(
      (answer) => answer === 'answered',
      () => false,
    ),
  );
});

test('a command that the broker no longer allows fails, and the other commands are answered again', async () => {
  const commands = {
    'double.v1': () => Promise.resolve('doubled'),
    'other.v1': () => Promise.resolve('answered'),
  };
  const first = await harness.startConsumer('responder', { commands });
  await allow('requester', { requests: ['double.v1', 'other.v1'] });
  const requester = await harness.startProducer('requester');
  expect(await requester.commands.request({ name: 'other.v1' }, {}, DEADLINE_MS)).toBe('answered');

  await allow('requester', { requests: ['double.v1'] });
  // The broker remembers on each channel which routing keys it has allowed. Those of the next replica are new.
  await first.stop();
  await harness.startConsumer('responder', { commands });
  await expect(requester.commands.request({ name: 'other.v1' }, {}, DEADLINE_MS)).rejects.toMatchObject({
    code: 'service.not-ready',
    cause: { message: 'The permissions at the broker do not allow other.v1.' },
  });
  expect(countLines('broker: connection closed after an error')).toBe(1);
  expect(await requester.commands.request({ name: 'double.v1' }, {}, DEADLINE_MS)).toBe('doubled');
});

test('a consumer whose binding the broker refuses handles its other types, and later receives every event of the refused type', async () => {
  await startHistory();
  const producer = await harness.startProducer('processor');
  await producer.relay.start();
  await appendRenamed(producer, 'before');
  const limited = await createEffectsTable(harness, 'limited');
  // The user of a service may not create the dead-letter queue.
  const former = await harness.startConsumer('limited', { events: { [NotedV1.name]: writeEffects } });
  await former.stop();
  await allow('limited', { consumes: [NotedV1.name] });
  const consumer = await harness.startConsumer('limited', {
    events: { [NotedV1.name]: writeEffects, [RenamedV1.name]: writeEffects },
  });
  await appendNotes(producer, 'a');
  await appendRenamed(producer, 'meanwhile');
  await expectEffects(limited, ['a']);
  expect(await consumer.isBackfilled()).toBe(false);
  const { connection } = brokers.linkOf('limited').broker;
  expect([...connection.refusals]).toContainEqual([`consume ${RenamedV1.name}`, true]);

  await allow('limited', { consumes: BOTH });
  await expectEffects(limited, ['a', 'before', 'meanwhile']);
  await waitUntil('the replay to be complete', DEADLINE_MS, () => consumer.isBackfilled());
});
