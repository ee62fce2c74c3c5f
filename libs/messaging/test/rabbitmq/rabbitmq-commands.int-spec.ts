import { DomainError } from '@svc/kernel';
import { letTimePass, PATIENCE, VirtualHost, waitUntil } from '@svc/testing';
import { type ChannelModel, connect } from 'amqplib';
import { REPLY_TYPES } from '../../src/rabbitmq/rabbitmq-messages.js';
import { MAX_QUEUED_REQUESTS } from '../../src/rabbitmq/rabbitmq-topology.js';
import { DEADLINE_MS } from '../harness/effects.js';
import { newGate } from '../harness/gate.js';
import { ProcessesHarness } from '../harness/processes-harness.js';
import { RabbitMqBrokers } from './rabbitmq-brokers.js';
import { StalledReplica } from './stalled-replica.js';

// Requests over RabbitMQ: they are not stored, and survive the loss of a replica, of its queue and of a connection. The
// contract tests cover the guarantees of every broker.

const Double = { name: 'double.v1' };
const TIMEOUT_MS = 15_000 * PATIENCE;
let virtualHost: VirtualHost;
let brokers: RabbitMqBrokers;
let harness: ProcessesHarness;
/** The test's connection to the broker. */
let connection: ChannelModel;

beforeAll(async () => (virtualHost = await VirtualHost.create()));
afterAll(() => virtualHost.stop());
beforeEach(async () => {
  brokers = new RabbitMqBrokers(virtualHost.url);
  harness = new ProcessesHarness(brokers);
  connection = await connect(virtualHost.url);
});
afterEach(async () => {
  await connection.close();
  await harness.close();
});

function startCalculator(respond: () => Promise<unknown>) {
  return harness.startConsumer('calculator', { commands: { [Double.name]: respond } });
}

/** Starts a replica that does not take its requests, and lets the requester find it. */
async function startStalledReplica(service: string): Promise<StalledReplica> {
  const replica = await StalledReplica.start(connection, brokers.topology, Double.name);
  const { broker } = brokers.linkOf(service);
  const found = broker.request(Double.name, {}, TIMEOUT_MS);
  await replica.answerPing();
  replica.answer(await replica.takeRequest(), REPLY_TYPES.reply, 'first');
  expect(await found).toBe('first');
  return replica;
}

test('a request without a responder fails with service.not-ready', async () => {
  const { commands } = await harness.startProducer('requester');
  await expect(commands.request(Double, {}, 300)).rejects.toMatchObject({ code: 'service.not-ready' });
});

test('a request is handled by a responder that starts while the request waits', async () => {
  const { commands } = await harness.startProducer('requester');
  const reply = commands.request(Double, {}, TIMEOUT_MS);
  // The requester searches for a replica several times in this time.
  await letTimePass(300);
  await startCalculator(() => Promise.resolve(8));
  expect(await reply).toBe(8);
});

test('a request is not persistent, and the broker removes it from the queue at its deadline', async () => {
  const { commands } = await harness.startProducer('requester');
  const replica = await startStalledReplica('requester');
  const request = commands.request(Double, { n: 1 }, 10_000);
  const message = await replica.takeRequest();
  expect(message.properties).toMatchObject({
    deliveryMode: 1,
    replyTo: expect.stringContaining('.requester.replies.') as string,
  });
  expect(Number(message.properties.expiration)).toBeLessThanOrEqual(10_000);
  replica.answer(message, REPLY_TYPES.reply, { ok: true });
  await request;

  await expect(commands.request(Double, { n: 2 }, 300)).rejects.toMatchObject({ code: 'service.not-ready' });
  await waitUntil('the queue to be empty', DEADLINE_MS, async () => (await replica.countWaiting()) === 0);
});

test('replicas share the requests, and another replica handles the requests of a replica that crashes', async () => {
  const gate = newGate();
  const handledRequests = { crashing: 0, running: 0 };
  const crashingReplica = await startCalculator(async () => (await gate.pass(), ++handledRequests.crashing));
  await startCalculator(() => Promise.resolve(++handledRequests.running));
  const { commands } = await harness.startProducer('requester');
  const requests = Array.from({ length: 20 }, () => commands.request(Double, {}, TIMEOUT_MS));
  let hasReachedGate = false;
  void gate.reached.then(() => (hasReachedGate = true));
  // The requester finds one replica first, and may have sent all requests to it before it finds the other.
  await waitUntil('both replicas to have requests', DEADLINE_MS, () => {
    const areShared = hasReachedGate && handledRequests.running > 0;
    if (!areShared) requests.push(commands.request(Double, {}, TIMEOUT_MS));
    return Promise.resolve(areShared);
  });
  const crashed = crashingReplica.crash();
  await Promise.all(requests);
  expect(handledRequests).toEqual({ crashing: 0, running: requests.length });
  gate.open();
  await crashed;
});

test('a request that a stalled replica does not take is handled by another replica, which then gets all requests', async () => {
  const { commands } = await harness.startProducer('requester');
  const stalled = await startStalledReplica('requester');
  const reply = commands.request(Double, {}, TIMEOUT_MS);
  await waitUntil('the request to wait', DEADLINE_MS, async () => (await stalled.countWaiting()) > 0);
  await startCalculator(() => Promise.resolve('second'));
  expect(await reply).toBe('second');
  // The queue of the stalled replica still exists: the broker deletes it after a minute.
  expect(await stalled.countWaiting()).toBeGreaterThan(0);
  const replies = Array.from({ length: 10 }, () => commands.request(Double, {}, TIMEOUT_MS));
  expect(new Set(await Promise.all(replies))).toEqual(new Set(['second']));
});

test('a slow request is not sent to another replica while its replica handles it', async () => {
  const gate = newGate();
  let handled = 0;
  for (let replica = 0; replica < 2; replica++) await startCalculator(async () => (handled++, await gate.pass(), 8));
  const { commands } = await harness.startProducer('requester');
  const reply = commands.request(Double, {}, TIMEOUT_MS);
  await gate.reached;
  // Several pings are answered in this time.
  await letTimePass(3_500);
  gate.open();
  expect(await reply).toBe(8);
  expect(handled).toBe(1);
});

test('a request is sent again if its replica no longer knows it, because the request or its reply was lost', async () => {
  const { commands } = await harness.startProducer('requester');
  let handled = 0;
  await startCalculator(() => Promise.resolve(++handled));
  expect(await commands.request(Double, {}, TIMEOUT_MS)).toBe(1);
  const { broker } = brokers.linkOf('calculator');
  const lostReply = jest.spyOn(broker['requests'], 'reply').mockImplementation(() => undefined);
  const repeated = commands.request(Double, {}, TIMEOUT_MS);
  await waitUntil('the request to be handled', DEADLINE_MS, () => Promise.resolve(handled === 2));
  lostReply.mockRestore();
  expect(await repeated).toBe(3);
});

test('a request that the full queue of a replica rejects goes to another replica at once, and fails if there is none', async () => {
  const { commands } = await harness.startProducer('requester');
  const stalled = await startStalledReplica('requester');
  const channel = await connection.createChannel();
  for (let i = 0; i < MAX_QUEUED_REQUESTS; i++) channel.sendToQueue(stalled.queue, Buffer.from(''));
  await waitUntil(
    'the queue to be full',
    DEADLINE_MS,
    async () => (await stalled.countWaiting()) >= MAX_QUEUED_REQUESTS,
  );
  const refused: unknown = await commands.request(Double, {}, TIMEOUT_MS).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'service.not-ready' });
  expect((refused as DomainError).cause).toMatchObject({ message: 'No service answers double.v1.' });

  await startCalculator(() => Promise.resolve(8));
  // A search every few seconds finds the new replica.
  await waitUntil('a reply', DEADLINE_MS, () => commands.request(Double, {}, TIMEOUT_MS).catch(() => undefined));
  const startedAt = performance.now();
  const replies = Array.from({ length: 20 }, () => commands.request(Double, {}, TIMEOUT_MS));
  expect(new Set(await Promise.all(replies))).toEqual(new Set([8]));
  expect(performance.now() - startedAt).toBeLessThan(1_000 * PATIENCE);
});

test('a replica that stops finishes its requests, and no request is lost or handled twice', async () => {
  const gate = newGate();
  let handled = 0;
  const stopping = await startCalculator(async () => (await gate.pass(), 'stopping'));
  const { commands } = await harness.startProducer('requester');
  const first = commands.request(Double, {}, TIMEOUT_MS);
  await gate.reached;
  await startCalculator(() => Promise.resolve((handled++, 'running')));
  const stopped = stopping.stop();
  const later = Array.from({ length: 50 }, () => commands.request(Double, {}, TIMEOUT_MS));
  expect(new Set(await Promise.all(later))).toEqual(new Set(['running']));
  expect(handled).toBe(50);
  gate.open();
  expect(await first).toBe('stopping');
  await stopped;
});

test('a requester whose connection is lost sends its requests again and gets their replies', async () => {
  const gate = newGate();
  let handled = 0;
  await startCalculator(async () => (handled++, await gate.pass(), 42));
  const { commands } = await harness.startProducer('requester');
  const request = commands.request(Double, {}, TIMEOUT_MS);
  await gate.reached;
  brokers.linkOf('requester').network.breakConnections();
  await waitUntil('the second copy', DEADLINE_MS, () => Promise.resolve(handled === 2));
  gate.open();
  expect(await request).toBe(42);
});

test('a requester whose connection delivers nothing gets the reply after the loss is noticed, within the deadline', async () => {
  await startCalculator(() => Promise.resolve(42));
  const { commands } = await harness.startProducer('requester');
  expect(await commands.request(Double, {}, TIMEOUT_MS)).toBe(42);
  const { network } = brokers.linkOf('requester');
  network.holdResponses();
  const request = commands.request(Double, {}, TIMEOUT_MS);
  await waitUntil('the connection to be given up', DEADLINE_MS, () =>
    Promise.resolve(harness.logLines.some(({ message }) => message === 'broker: connection closed after an error')),
  );
  network.dropHeldResponses();
  expect(await request).toBe(42);
});
