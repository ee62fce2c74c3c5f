import type { EventEnvelope } from '@svc/contracts';
import { inTransaction } from '@svc/persistence';
import { VirtualHost, waitUntil } from '@svc/testing';
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
import type { Producer } from '../harness/harness.js';
import { ProcessesHarness } from '../harness/processes-harness.js';
import { RabbitMqBrokers, type RabbitMqLink } from './rabbitmq-brokers.js';

// A full queue or a crashed process of one consumer must not cause lost, late or duplicate events for other consumers.

let virtualHost: VirtualHost;
let brokers: RabbitMqBrokers;
let harness: ProcessesHarness;
/** Connections of consumers that were started without the harness. */
const links: RabbitMqLink[] = [];

beforeAll(async () => (virtualHost = await VirtualHost.create()));
afterAll(() => virtualHost.stop());
beforeEach(() => {
  // Each message contains one event.
  brokers = new RabbitMqBrokers(virtualHost.url, 1);
  harness = new ProcessesHarness(brokers);
});
afterEach(async () => {
  for (const link of links.splice(0)) await link.close();
  await harness.close();
});

async function connect(service: string): Promise<RabbitMqLink> {
  const link = await brokers.connect(service, harness.messagingLog);
  links.push(link);
  return link;
}

/** A consumer without an inbox, which records every delivery of each message. */
async function startCountingConsumer(name: string): Promise<Map<string, number>> {
  const deliveries = new Map<string, number>();
  const { broker } = await connect(name);
  await broker.subscribe({
    name,
    types: new Set([NotedV1.name]),
    deliver: (events: readonly EventEnvelope[]) => {
      for (const { payload } of events)
        deliveries.set((payload as Note).text, (deliveries.get((payload as Note).text) ?? 0) + 1);
      return Promise.resolve();
    },
  });
  return deliveries;
}

/**
 * Appends events until the full queue rejects an event and the relay delivers to each consumer separately. Returns the
 * texts of the events.
 */
async function appendUntilSeparated(producer: Producer): Promise<string[]> {
  const texts: string[] = [];
  await waitUntil('the consumers to be separated', DEADLINE_MS, async () => {
    texts.push(`event ${texts.length}`);
    await appendNotes(producer, texts.at(-1)!);
    return harness.logLines.some(({ message }) => message.startsWith('relay: a consumer refuses events'));
  });
  return texts;
}

const countDuplicates = (deliveries: ReadonlyMap<string, number>): number =>
  [...deliveries.values()].reduce((sum, count) => sum + count - 1, 0);

test('a full queue does not delay the events of other consumers, and receives its own events when it has space', async () => {
  const history = await createEffectsTable(harness, 'history');
  const stopped = await harness.startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
  const webhooks = await startCountingConsumer('webhooks');
  const producer = await harness.startProducer('processor');
  await producer.relay.start();
  await appendNotes(producer, 'before');
  await expectEffects(history, ['before']);
  await stopped.stop();
  await virtualHost.limitQueueLength(brokers.topology.eventQueue('history'), 10);

  const texts = Array.from({ length: 1_000 }, (_, i) => `event ${i}`);
  for (let i = 0; i < texts.length; i += 20) await appendNotes(producer, ...texts.slice(i, i + 20));
  await waitUntil('the other consumer to receive all events', DEADLINE_MS, () =>
    Promise.resolve(webhooks.size === 1_001),
  );
  // At most four batches of 200 events are in flight when the queue rejects the first message. Only these events are
  // sent again.
  const separations = harness.logLines.filter(({ message }) => message.startsWith('relay: a consumer refuses events'));
  expect(separations).toHaveLength(1);
  expect(countDuplicates(webhooks)).toBeLessThanOrEqual(800);
  const duplicatesBefore = countDuplicates(webhooks);
  for (let i = 0; i < 5; i++) await appendNotes(producer, `meanwhile ${i}`);
  await waitUntil('the other consumer to receive the later events', DEADLINE_MS, () =>
    Promise.resolve(webhooks.size === 1_006),
  );
  const failures = (): number =>
    harness.logLines.filter(({ message }) => message.startsWith('relay: hand-over failed')).length;
  await waitUntil('several failed deliveries to the full queue', DEADLINE_MS, () => Promise.resolve(failures() >= 4));
  expect(countDuplicates(webhooks)).toBe(duplicatesBefore);

  await virtualHost.removeLengthLimit();
  const restartedConsumer = await harness.startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
  const all = ['before', ...texts, ...Array.from({ length: 5 }, (_, i) => `meanwhile ${i}`)];
  await expectEffects(history, all);
  await waitUntil('the consumers to share a cursor again', DEADLINE_MS, () =>
    Promise.resolve(harness.logLines.some(({ message }) => message.includes('share a cursor again'))),
  );
  await appendNotes(producer, 'after');
  await expectEffects(history, [...all, 'after']);
  await waitUntil('the other consumer to receive the last event', DEADLINE_MS, () =>
    Promise.resolve(webhooks.has('after')),
  );
  expect(countDuplicates(webhooks)).toBe(duplicatesBefore);
  expect((await restartedConsumer.deadLetters.list()).deadLetters).toEqual([]);
});

test('a relay that starts while each consumer has a separate cursor repeats no event to consumers whose queue is not full', async () => {
  await createEffectsTable(harness, 'history');
  const stopped = await harness.startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
  const webhooks = await startCountingConsumer('webhooks');
  await stopped.stop();
  await virtualHost.limitQueueLength(brokers.topology.eventQueue('history'), 1);
  const first = await harness.startProducer('processor');
  await first.relay.start();
  const texts = await appendUntilSeparated(first);
  await appendNotes(first, 'separately');
  await waitUntil('the other consumer to receive all events', DEADLINE_MS, () =>
    Promise.resolve(webhooks.has('separately')),
  );
  await first.stop();

  const duplicatesBefore = countDuplicates(webhooks);
  const next = await harness.startProducer('processor');
  await next.relay.start();
  await appendNotes(next, 'after');
  await waitUntil('the other consumer to receive the last event', DEADLINE_MS, () =>
    Promise.resolve(webhooks.has('after')),
  );
  expect(countDuplicates(webhooks)).toBe(duplicatesBefore);

  await virtualHost.removeLengthLimit();
  await harness.startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
  await expectEffects(await harness.database('history'), [...texts, 'separately', 'after']);
});

test('a consumer that starts while the relay delivers to each consumer separately receives all events', async () => {
  const early = await createEffectsTable(harness, 'early');
  const stopped = await harness.startConsumer('early', { events: { [NotedV1.name]: writeEffects } });
  await stopped.stop();
  await virtualHost.limitQueueLength(brokers.topology.eventQueue('early'), 1);
  const producer = await harness.startProducer('processor');
  await producer.relay.start();
  const texts = await appendUntilSeparated(producer);
  const late = await createEffectsTable(harness, 'late');
  await harness.startConsumer('late', { events: { [NotedV1.name]: writeEffects } });
  await appendNotes(producer, 'd');
  await expectEffects(late, [...texts, 'd']);
  await virtualHost.removeLengthLimit();
  await harness.startConsumer('early', { events: { [NotedV1.name]: writeEffects } });
  await expectEffects(early, [...texts, 'd']);
});

test('a replay to a service that no longer reads its queue does not delay other replays', async () => {
  await createEffectsTable(harness, 'early');
  await createEffectsTable(harness, 'crashed');
  const late = await createEffectsTable(harness, 'late');
  await harness.startConsumer('early', { events: { [NotedV1.name]: writeEffects } });
  const producer = await harness.startProducer('processor');
  await producer.relay.start();
  const texts = Array.from({ length: 50 }, (_, i) => `note ${i}`);
  await appendNotes(producer, ...texts);
  await expectEffects(await harness.database('early'), texts);

  await virtualHost.limitQueueLength(brokers.topology.replayedEventQueue('crashed'), 1);
  const { broker } = await connect('crashed');
  const subscription = await broker.subscribe({
    name: 'crashed',
    types: new Set(['other.v1']),
    deliver: () => Promise.resolve(),
  });
  await subscription.close();
  const id = '00000000-0000-7000-8000-00000000dead';
  expect(await broker.eventReplay.request({ id, service: 'crashed', type: NotedV1.name })).toBe(true);
  await waitUntil('the full queue to reject the replay', DEADLINE_MS, () =>
    Promise.resolve(harness.logLines.some(({ message }) => message.startsWith('relay: replay request not accepted'))),
  );

  const consumer = await harness.startConsumer('late', { events: { [NotedV1.name]: writeEffects } });
  await expectEffects(late, texts);
  await waitUntil('the replay to be complete', DEADLINE_MS, () => consumer.isBackfilled());
  await virtualHost.removeLengthLimit();
});

test('an event without a consumer does not delay later events, and a consumer that starts later receives it', async () => {
  const history = await createEffectsTable(harness, 'history');
  await harness.startConsumer('history', { events: { [NotedV1.name]: writeEffects } });
  const producer = await harness.startProducer('processor');
  await producer.relay.start();
  const unconsumed = { ...newNoteEvent('unconsumed'), type: { name: 'unconsumed.v1' } };
  await inTransaction(producer.dataSource, (tx) => producer.events.append(tx, unconsumed));
  await appendNotes(producer, 'later');
  await expectEffects(history, ['later']);
  expect(harness.logLines.filter(({ message }) => message === 'broker: event has no consumer yet')).toHaveLength(1);

  const late = await createEffectsTable(harness, 'late');
  await harness.startConsumer('late', { events: { 'unconsumed.v1': writeEffects } });
  await expectEffects(late, ['unconsumed']);
  expect(await readEffects(history)).toEqual(['later']);
});
