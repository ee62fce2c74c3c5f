import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { letTimePass, PrivateRabbitMq, waitUntil } from '@svc/testing';
import { connect } from 'amqplib';
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
import { ProcessesHarness } from '../harness/processes-harness.js';
import { RabbitMqBrokers } from './rabbitmq-brokers.js';
import { StalledReplica } from './stalled-replica.js';

// Tests of faults of the broker: committed events are handled once, even if the broker crashes, is unavailable or
// accepts no messages.

let server: PrivateRabbitMq;
let brokers: RabbitMqBrokers;
let harness: ProcessesHarness;

beforeAll(async () => (server = await PrivateRabbitMq.start()), 90_000);
afterAll(() => server.stop());
beforeEach(() => {
  brokers = new RabbitMqBrokers(server.url);
  harness = new ProcessesHarness(brokers);
});
afterEach(() => harness.close());

/**
 * Waits until new queues are on disk: RabbitMQ 3.10 can lose a quorum queue if it is killed within a second of the
 * declaration.
 */
async function waitForQueuesOnDisk(declaredAt: number): Promise<void> {
  await letTimePass(declaredAt + 2_500 - performance.now());
}

test('no event is lost or handled twice if the broker crashes after it received a batch and before it confirmed the batch', async () => {
  const history = await createEffectsTable(harness, 'history');
  const gate = newGate();
  let batches = 0;
  const consumer = await harness.startConsumer('history', {
    events: {
      [NotedV1.name]: async (events, context) => {
        if (++batches === 2) await gate.pass();
        await writeEffects(events, context);
      },
    },
  });
  const producer = await harness.startProducer('processor');
  await producer.relay.start();
  await appendNotes(producer, 'before');
  await expectEffects(history, ['before']);
  await waitForQueuesOnDisk(performance.now());

  const { network } = brokers.linkOf('processor');
  network.holdResponses();
  const texts = Array.from({ length: 150 }, (_, i) => `in flight ${i}`);
  await appendNotes(producer, ...texts);
  // The consumer has received some events, so the batch was published. It is not confirmed yet.
  await gate.reached;
  expect(await producer.relay.isCaughtUp()).toBe(false);
  await server.kill();
  network.dropHeldResponses();
  gate.open();
  await server.restart();

  await waitUntil('the relay to get its confirmations', 30_000, () => producer.relay.isCaughtUp());
  await appendNotes(producer, 'after');
  await expectEffects(history, ['before', ...texts, 'after']);
  expect((await consumer.deadLetters.list()).deadLetters).toEqual([]);
});

test('a service stops even if its connection is lost while it stops', async () => {
  const consumer = await harness.startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
  const { network } = brokers.linkOf('history');
  network.holdResponses();
  const bytesSentBefore = network.bytesSent;
  const stopped = consumer.stop();
  await waitUntil('the close request to be sent', DEADLINE_MS, () =>
    Promise.resolve(network.bytesSent > bytesSentBefore),
  );
  network.cut();
  await expect(stopped).resolves.toBeUndefined();
});

test('while the broker is unavailable, events stay in the event log and not in memory, requests fail, and services can stop', async () => {
  const history = await createEffectsTable(harness, 'history');
  await harness.startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
  const producer = await harness.startProducer('processor');
  await producer.relay.start();
  await appendNotes(producer, 'before');
  await expectEffects(history, ['before']);
  await waitForQueuesOnDisk(performance.now());

  await server.kill();
  const appendLargeNotes = async (from: number, to: number): Promise<void> => {
    for (let i = from; i < to; i++) await appendNotes(producer, `${i} `.padEnd(250_000, 'x'));
    await expect(producer.relay.deliverAll()).rejects.toThrow('There is no connection to the broker.');
  };
  try {
    await appendLargeNotes(0, 40);
    const memoryWithOneBatch = memoryInUse();
    await appendLargeNotes(40, 140);
    // The relay retries one batch, and must not hold all 25 MB of events in memory.
    await waitUntil('the memory of more than one batch to be freed', DEADLINE_MS, () =>
      Promise.resolve(memoryInUse() - memoryWithOneBatch < 10_000_000),
    );
    await expect(producer.commands.request({ name: 'double.v1' }, {}, 500)).rejects.toMatchObject({
      code: 'service.not-ready',
    });
    await (await harness.startProducer('short-lived')).stop();
  } finally {
    await server.restart();
  }
  // The timeout is long, because 35 MB are sent to a broker that has just started.
  await waitUntil('the relay to catch up', 90_000, () => producer.relay.isCaughtUp());
  const countEffects = async (): Promise<{ all: number; different: number }> => {
    const rows = await history.query<{ all: number; different: number }[]>(
      `SELECT count(*)::int AS all, count(DISTINCT text)::int AS different FROM effects`,
    );
    return rows[0]!;
  };
  await waitUntil('the effects', 30_000, async () => (await countEffects()).all > 140);
  expect(await countEffects()).toEqual({ all: 141, different: 141 });
});

test('while the broker has no free memory, the relay sends no messages, and all events are handled afterwards', async () => {
  const history = await createEffectsTable(harness, 'history');
  await harness.startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
  const producer = await harness.startProducer('processor');
  await producer.relay.start();
  await appendNotes(producer, 'before');
  await expectEffects(history, ['before']);

  await server.control('set_vm_memory_high_watermark', '0.000001');
  try {
    await appendNotes(producer, 'first during the alarm');
    await waitUntil('the broker to report the memory alarm', 20_000, () =>
      Promise.resolve(harness.logLines.some(({ message }) => message === 'broker: blocked, accepts no messages')),
    );
    const { network } = brokers.linkOf('processor');
    const bytesSentBefore = network.bytesSent;
    await appendNotes(producer, ...Array.from({ length: 100 }, (_, i) => `${i}`.padEnd(10_000, 'x')));
    await expect(producer.relay.deliverAll()).rejects.toThrow('The broker accepts no messages now');
    expect(network.bytesSent - bytesSentBefore).toBeLessThan(10_000);
  } finally {
    await server.control('set_vm_memory_high_watermark', '0.6');
  }
  await waitUntil('the effects', 30_000, async () => (await readEffects(history)).length >= 102);
  expect(new Set(await readEffects(history)).size).toBe(102);
});

test('the broker writes events to disk, but never a request, even while the replica does not take the request', async () => {
  const requester = await harness.startProducer('requester');
  await harness.startConsumer('history', { events: { [NotedV1.name]: () => Promise.resolve() } });
  const connection = await connect(server.url);
  const replica = await StalledReplica.start(connection, brokers.topology, 'charge.v1');
  const requests = Array.from({ length: 50 }, () =>
    requester.commands.request({ name: 'charge.v1' }, { card: 'planted-request'.repeat(200) }, 3_000),
  );
  const outcomes = Promise.allSettled(requests);
  await replica.answerPing();
  await waitUntil('the requests to wait', DEADLINE_MS, async () => (await replica.countWaiting()) >= 50);
  await requester.relay.start();
  await appendNotes(requester, 'planted-event');
  await waitUntil('the event to be on the disk', DEADLINE_MS, () => isOnDisk('planted-event'));
  expect(await isOnDisk('planted-request')).toBe(false);
  expect((await outcomes).filter(({ status }) => status === 'rejected')).toHaveLength(50);
  expect(await isOnDisk('planted-request')).toBe(false);
  await connection.close();
});

async function isOnDisk(text: string): Promise<boolean> {
  for (const entry of await readdir(server.dataFolder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    // A file may be deleted during the search. Its content is then in another file.
    const content = await readFile(join(entry.parentPath, entry.name)).catch(() => Buffer.alloc(0));
    if (content.includes(text)) return true;
  }
  return false;
}

function memoryInUse(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
