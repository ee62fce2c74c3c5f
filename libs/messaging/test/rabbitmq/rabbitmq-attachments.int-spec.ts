import { PATIENCE, VirtualHost, waitUntil } from '@svc/testing';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import type { BrokerConnection } from '../../src/index.js';
import type { RabbitMqBroker } from '../../src/rabbitmq/rabbitmq-broker.js';
import {
  appendNotes,
  createEffectsTable,
  DEADLINE_MS,
  expectEffects,
  NotedV1,
  writeEffects,
} from '../harness/effects.js';
import { newGate } from '../harness/gate.js';
import { ProcessesHarness } from '../harness/processes-harness.js';
import { RabbitMqBrokers } from './rabbitmq-brokers.js';

// A queue that is lost or refused affects no other queue of the process, and is attached again.

const Double = { name: 'double.v1' };
let virtualHost: VirtualHost;
let brokers: RabbitMqBrokers;
let harness: ProcessesHarness;
/** The test's connection to the broker. */
let connection: ChannelModel;
let channel: Channel;

beforeAll(async () => (virtualHost = await VirtualHost.create()));
afterAll(() => virtualHost.stop());
beforeEach(async () => {
  brokers = new RabbitMqBrokers(virtualHost.url);
  harness = new ProcessesHarness(brokers);
  connection = await connect(virtualHost.url);
  channel = await connection.createChannel();
});
afterEach(async () => {
  await connection.close();
  await harness.close();
});

const messages = (): string[] => harness.logLines.map(({ message }) => message);
const countLogged = (text: string): number => messages().filter((message) => message === text).length;

function connectionOf(service: string): BrokerConnection {
  return brokers.linkOf(service).broker.connection;
}

/** Deletes a queue on the process's own connection, because no other connection may delete an exclusive queue. */
async function deleteOwnQueue(broker: RabbitMqBroker, command: string): Promise<void> {
  const own = await broker['consuming'].current!.createChannel();
  const responder = broker['attachments'].all.find(({ queue }) => queue.name === command) as unknown as {
    attached: { replica: string };
  };
  await own.deleteQueue(brokers.topology.commandQueue(command, responder.attached.replica));
  await own.close();
}

test('a deleted queue is declared again, while the other queues of the process are consumed on the same connection', async () => {
  const history = await createEffectsTable(harness, 'history');
  await harness.startConsumer('history', {
    events: { [NotedV1.name]: writeEffects },
    commands: { [Double.name]: () => Promise.resolve(8), 'other.v1': () => Promise.resolve(9) },
  });
  const producer = await harness.startProducer('processor');
  await producer.relay.start();
  const { broker } = brokers.linkOf('history');
  const connected = broker['consuming'].current;

  await deleteOwnQueue(broker, Double.name);
  expect(await producer.commands.request({ name: 'other.v1' }, {})).toBe(9);
  await waitUntil(
    'the queue of the command',
    DEADLINE_MS,
    async () => (await producer.commands.request(Double, {})) === 8,
  );

  await channel.deleteQueue(brokers.topology.eventQueue('history'));
  expect(await producer.commands.request(Double, {})).toBe(8);
  await waitUntil('the queue of events', DEADLINE_MS, () =>
    Promise.resolve(countLogged('broker: queue attached again') === 2),
  );
  await appendNotes(producer, 'a');
  await expectEffects(history, ['a']);
  expect(broker['consuming'].current).toBe(connected);
  expect(countLogged('broker: connection closed after an error')).toBe(0);
});

test('a queue that the broker refuses is reported and logged once, the other queues are consumed, and it is attached when the broker accepts it', async () => {
  await brokers.topology.declareExchanges(connection);
  const refusedQueue = brokers.topology.eventQueue('history');
  // The broker refuses a declaration with other arguments.
  await channel.assertQueue(refusedQueue, { durable: true });
  const history = await createEffectsTable(harness, 'history');
  await harness.startConsumer('history', {
    events: { [NotedV1.name]: writeEffects },
    commands: { [Double.name]: () => Promise.resolve(8) },
  });
  const producer = await harness.startProducer('processor');
  await producer.relay.start();
  await waitUntil('the loss to last a second', DEADLINE_MS, () =>
    Promise.resolve(connectionOf('history').unattached.some(({ seconds }) => seconds > 1)),
  );
  expect(connectionOf('history').unattached).toEqual([
    { name: refusedQueue, isForRequests: false, seconds: expect.any(Number) as number },
  ]);
  expect(connectionOf('history').state).toBe('up');
  expect(await producer.commands.request(Double, {})).toBe(8);
  expect(countLogged('broker: queue not attached, will be retried')).toBe(1);

  await channel.deleteQueue(refusedQueue);
  await waitUntil('the queue to be attached', DEADLINE_MS, () =>
    Promise.resolve(connectionOf('history').unattached.length === 0),
  );
  await appendNotes(producer, 'a');
  await expectEffects(history, ['a']);
});

test('a queue without a connection is not reported as unattached', async () => {
  await harness.startConsumer('calculator', { commands: { [Double.name]: () => Promise.resolve(8) } });
  brokers.linkOf('calculator').network.cut();
  await waitUntil('the loss of the connection', DEADLINE_MS, () =>
    Promise.resolve(connectionOf('calculator').state === 'unavailable'),
  );
  expect(connectionOf('calculator').unattached).toEqual([]);
});

test('a process whose node is lost connects to the next node at once, and its request gets a reply', async () => {
  const gate = newGate();
  await harness.startConsumer('calculator', { commands: { [Double.name]: async () => (await gate.pass(), 8) } });
  const requester = await brokers.connect('requester', harness.messagingLog, 3);
  const reply = requester.broker.request(Double.name, {}, 15_000 * PATIENCE);
  await gate.reached;
  for (const node of requester.nodes.filter(({ hasConnections }) => hasConnections)) node.cut();
  gate.open();
  expect(await reply).toEqual({ ok: true, reply: 8 });
  await requester.close();
});
