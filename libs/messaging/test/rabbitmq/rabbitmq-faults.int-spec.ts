import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { PrivateRabbitMq, waitUntil } from '@svc/testing';
import { connect } from 'amqplib';
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
import { ProcessesHarness } from '../harness/processes-harness.js';
import { RabbitMqBrokers } from './rabbitmq-brokers.js';

// Faults of the broker: committed events arrive once, even if it crashes, is unavailable or accepts nothing.

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

/** RabbitMQ 3.10 can lose a quorum queue that is killed within a second of its declaration, and no client can help it. */
async function settled(declaredAt: number): Promise<void> {
  await waitUntil('the queues to be on disk', DEADLINE_MS, () => Promise.resolve(Date.now() - declaredAt > 2_500));
}

test('after a crash of the broker between publish and confirm, in the middle of a batch, no event is lost or handled twice', async () => {
  const history = await effectsTable(harness, 'history');
  const door = gate();
  let batches = 0;
  const consumer = await harness.consumer('history', {
    events: {
      [NotedV1.name]: async (events, context) => {
        if (++batches === 2) await door.pass();
        await writeEffects(events, context);
      },
    },
  });
  const producer = await harness.producer('processor');
  await producer.relay.start();
  await appendNotes(producer, 'before');
  await expectEffects(history, ['before']);
  await settled(Date.now());

  const { network } = brokers.linkOf('processor');
  network.holdResponses();
  const texts = Array.from({ length: 150 }, (_, i) => `under way ${i}`);
  await appendNotes(producer, ...texts);
  // The batch is published, because the consumer has some events, but not confirmed.
  await door.reached;
  expect(await producer.relay.isCaughtUp()).toBe(false);
  await server.kill();
  network.dropHeldResponses();
  door.open();
  await server.restart();

  await waitUntil('the relay to get its confirmations', 30_000, () => producer.relay.isCaughtUp());
  await appendNotes(producer, 'after');
  await expectEffects(history, ['before', ...texts, 'after']);
  expect((await consumer.deadLetters.list()).deadLetters).toEqual([]);
});

test('a service whose connection is lost while it stops still stops', async () => {
  const consumer = await harness.consumer('history', { events: { [NotedV1.name]: writeEffects } });
  const { network } = brokers.linkOf('history');
  network.holdResponses();
  const sent = network.bytesSent;
  const stopped = consumer.stop();
  await waitUntil('the close to be on its way', DEADLINE_MS, () => Promise.resolve(network.bytesSent > sent));
  network.cut();
  await expect(stopped).resolves.toBeUndefined();
});

test('while the broker is unavailable, events wait in the log and not in memory; services respond and stop', async () => {
  const history = await effectsTable(harness, 'history');
  await harness.consumer('history', { events: { [NotedV1.name]: writeEffects } });
  const producer = await harness.producer('processor');
  await producer.relay.start();
  await appendNotes(producer, 'before');
  await expectEffects(history, ['before']);
  await settled(Date.now());

  await server.kill();
  const noteMany = async (from: number, to: number): Promise<void> => {
    for (let i = from; i < to; i++) await appendNotes(producer, `${i} `.padEnd(250_000, 'x'));
    await expect(producer.relay.runOnce()).rejects.toThrow('There is no connection to the broker.');
  };
  try {
    await noteMany(0, 40);
    const withABatchWaiting = memoryInUse();
    await noteMany(40, 140);
    // The relay retries: it holds one batch in memory at most, never the 25 MB that wait.
    await waitUntil('the memory to be as before', DEADLINE_MS, () =>
      Promise.resolve(memoryInUse() - withABatchWaiting < 10_000_000),
    );
    await expect(producer.commands.request({ name: 'double.v1' }, {}, 500)).rejects.toMatchObject({
      code: 'service.not-ready',
    });
    await (await harness.producer('short-lived')).stop();
  } finally {
    await server.restart();
  }
  // 35 MB through a broker that has just started.
  await waitUntil('the relay to catch up', 90_000, () => producer.relay.isCaughtUp());
  const effects = async (): Promise<{ all: number; different: number }> => {
    const rows = await history.query<{ all: number; different: number }[]>(
      `SELECT count(*)::int AS all, count(DISTINCT text)::int AS different FROM effects`,
    );
    return rows[0]!;
  };
  await waitUntil('the effects', 30_000, async () => (await effects()).all > 140);
  expect(await effects()).toEqual({ all: 141, different: 141 });
});

test('the relay waits for a broker without free memory, and sends it no more messages', async () => {
  const history = await effectsTable(harness, 'history');
  await harness.consumer('history', { events: { [NotedV1.name]: writeEffects } });
  const producer = await harness.producer('processor');
  await producer.relay.start();
  await appendNotes(producer, 'before');
  await expectEffects(history, ['before']);

  await server.control('set_vm_memory_high_watermark', '0.000001');
  try {
    await appendNotes(producer, 'notices');
    await waitUntil('the broker to say so', 20_000, () =>
      Promise.resolve(harness.logged.some(({ message }) => message === 'broker: blocked, accepts no messages')),
    );
    const { network } = brokers.linkOf('processor');
    const sent = network.bytesSent;
    await appendNotes(producer, ...Array.from({ length: 100 }, (_, i) => `${i}`.padEnd(10_000, 'x')));
    await expect(producer.relay.runOnce()).rejects.toThrow('The broker accepts no messages now');
    expect(network.bytesSent - sent).toBeLessThan(10_000);
  } finally {
    await server.control('set_vm_memory_high_watermark', '0.6');
  }
  await waitUntil('the effects', 30_000, async () => (await readEffects(history)).length >= 102);
  expect(new Set(await readEffects(history)).size).toBe(102);
});

test('a request is never on the disk of the broker, even while it has no consumer; an event is', async () => {
  const asker = await harness.producer('asker');
  await harness.consumer('history', { events: { [NotedV1.name]: () => Promise.resolve() } });
  const connection = await connect(server.url);
  const channel = await connection.createChannel();
  const queue = await brokers.topology.declareCommand(channel, 'charge.v1');
  const requests = Array.from({ length: 50 }, () =>
    asker.commands.request({ name: 'charge.v1' }, { card: 'planted-request'.repeat(200) }, 3_000),
  );
  const outcomes = Promise.allSettled(requests);
  await waitUntil(
    'the requests to wait',
    DEADLINE_MS,
    async () => (await channel.checkQueue(queue)).messageCount === 50,
  );
  await asker.relay.start();
  await appendNotes(asker, 'planted-event');
  await waitUntil('the event to be on the disk', DEADLINE_MS, () => onDisk('planted-event'));
  expect(await onDisk('planted-request')).toBe(false);
  expect((await outcomes).filter(({ status }) => status === 'rejected')).toHaveLength(50);
  expect(await onDisk('planted-request')).toBe(false);
  await channel.deleteQueue(queue);
  await connection.close();
});

async function onDisk(text: string): Promise<boolean> {
  for (const entry of await readdir(server.dataFolder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    // A file may be replaced during the search; the new file has its content.
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
