import type { EventEnvelope } from '@svc/contracts';
import { inTransaction } from '@svc/persistence';
import { PrivateRabbitMq, waitUntil } from '@svc/testing';
import {
  appendNotes,
  DEADLINE_MS,
  effectsTable,
  expectEffects,
  type Note,
  NotedV1,
  readEffects,
  writeEffects,
} from '../harness/effects.js';
import type { Producer } from '../harness/harness.js';
import { ProcessesHarness } from '../harness/processes-harness.js';
import { RabbitMqBrokers, type RabbitMqLink } from './rabbitmq-brokers.js';

// The problems of one consumer do not affect the others: no lost events, no delay and no duplicates.

let server: PrivateRabbitMq;
let brokers: RabbitMqBrokers;
let harness: ProcessesHarness;
/** For consumers that the harness does not know. */
const links: RabbitMqLink[] = [];

beforeAll(async () => (server = await PrivateRabbitMq.start()), 90_000);
afterAll(() => server.stop());
beforeEach(() => {
  brokers = new RabbitMqBrokers(server.url, 1);
  harness = new ProcessesHarness(brokers);
});
afterEach(async () => {
  for (const link of links.splice(0)) await link.close();
  await harness.close();
});

/** Simulates a queue that has reached its maximum length. */
const bound = (queue: string, length: number): Promise<void> =>
  server.control('set_policy', 'bound', `^${queue}$`, JSON.stringify({ 'max-length': length }));
const unbound = (): Promise<void> => server.control('clear_policy', 'bound');

async function connect(service: string): Promise<RabbitMqLink> {
  const link = await brokers.connect(service, harness.messagingLog);
  links.push(link);
  return link;
}

/** A consumer without an inbox, which records every delivery of each message. */
async function countingConsumer(name: string): Promise<Map<string, number>> {
  const seen = new Map<string, number>();
  const { broker } = await connect(name);
  await broker.subscribe({
    name,
    types: new Set([NotedV1.name]),
    deliver: (events: readonly EventEnvelope[]) => {
      for (const { payload } of events) seen.set((payload as Note).text, (seen.get((payload as Note).text) ?? 0) + 1);
      return Promise.resolve();
    },
  });
  return seen;
}

/** A queue accepts a few messages beyond its limit before it refuses. Returns the events recorded until then. */
async function noteUntilSeparated(producer: Producer): Promise<string[]> {
  const texts: string[] = [];
  await waitUntil('the consumers to be separated', DEADLINE_MS, async () => {
    texts.push(`event ${texts.length}`);
    await appendNotes(producer, texts.at(-1)!);
    return harness.logged.some(({ message }) => message.startsWith('relay: a consumer refuses events'));
  });
  return texts;
}

const duplicatesIn = (seen: ReadonlyMap<string, number>): number =>
  [...seen.values()].reduce((sum, count) => sum + count - 1, 0);

test('a full queue does not delay other consumers or send them duplicates, and gets its events when it has space', async () => {
  const history = await effectsTable(harness, 'history');
  const stopped = await harness.consumer('history', { events: { [NotedV1.name]: writeEffects } });
  const webhooks = await countingConsumer('webhooks');
  const producer = await harness.producer('processor');
  await producer.relay.start();
  await appendNotes(producer, 'before');
  await expectEffects(history, ['before']);
  await stopped.stop();
  await bound(brokers.topology.eventQueue('history'), 10);

  const texts = Array.from({ length: 1_000 }, (_, i) => `event ${i}`);
  for (let i = 0; i < texts.length; i += 20) await appendNotes(producer, ...texts.slice(i, i + 20));
  await waitUntil('the healthy consumer to have all', DEADLINE_MS, () => Promise.resolve(webhooks.size === 1_001));
  // The batches in flight at the first refusal, at most four, are sent once more, and no later ones.
  const refused = harness.logged.filter(({ message }) => message.startsWith('relay: a consumer refuses events'));
  expect(refused).toHaveLength(1);
  expect(duplicatesIn(webhooks)).toBeLessThanOrEqual(800);
  const atFirst = duplicatesIn(webhooks);
  for (let i = 0; i < 5; i++) await appendNotes(producer, `meanwhile ${i}`);
  await waitUntil('what happens meanwhile', DEADLINE_MS, () => Promise.resolve(webhooks.size === 1_006));
  const failures = (): number =>
    harness.logged.filter(({ message }) => message.startsWith('relay: hand-over failed')).length;
  await waitUntil('its pauses to grow', DEADLINE_MS, () => Promise.resolve(failures() >= 4));
  expect(duplicatesIn(webhooks)).toBe(atFirst);

  await unbound();
  const back = await harness.consumer('history', { events: { [NotedV1.name]: writeEffects } });
  const all = ['before', ...texts, ...Array.from({ length: 5 }, (_, i) => `meanwhile ${i}`)];
  await expectEffects(history, all);
  await waitUntil('the consumers to be together again', DEADLINE_MS, () =>
    Promise.resolve(harness.logged.some(({ message }) => message.includes('share a cursor again'))),
  );
  await appendNotes(producer, 'after');
  await expectEffects(history, [...all, 'after']);
  await waitUntil('the healthy consumer to have it', DEADLINE_MS, () => Promise.resolve(webhooks.has('after')));
  expect(duplicatesIn(webhooks)).toBe(atFirst);
  expect((await back.deadLetters.list()).deadLetters).toEqual([]);
});

test('a relay that starts while consumers are separated repeats nothing to the healthy ones', async () => {
  await effectsTable(harness, 'history');
  const stopped = await harness.consumer('history', { events: { [NotedV1.name]: writeEffects } });
  const webhooks = await countingConsumer('webhooks');
  await stopped.stop();
  await bound(brokers.topology.eventQueue('history'), 1);
  const first = await harness.producer('processor');
  await first.relay.start();
  const texts = await noteUntilSeparated(first);
  await appendNotes(first, 'separately');
  await waitUntil('the healthy consumer to have all', DEADLINE_MS, () => Promise.resolve(webhooks.has('separately')));
  await first.stop();

  const atFirst = duplicatesIn(webhooks);
  const next = await harness.producer('processor');
  await next.relay.start();
  await appendNotes(next, 'after');
  await waitUntil('the healthy consumer to have it', DEADLINE_MS, () => Promise.resolve(webhooks.has('after')));
  expect(duplicatesIn(webhooks)).toBe(atFirst);

  await unbound();
  await harness.consumer('history', { events: { [NotedV1.name]: writeEffects } });
  await expectEffects(await harness.database('history'), [...texts, 'separately', 'after']);
});

test('a consumer that starts while others are separated misses no event', async () => {
  const early = await effectsTable(harness, 'early');
  const stopped = await harness.consumer('early', { events: { [NotedV1.name]: writeEffects } });
  await stopped.stop();
  await bound(brokers.topology.eventQueue('early'), 1);
  const producer = await harness.producer('processor');
  await producer.relay.start();
  const texts = await noteUntilSeparated(producer);
  const late = await effectsTable(harness, 'late');
  await harness.consumer('late', { events: { [NotedV1.name]: writeEffects } });
  await appendNotes(producer, 'd');
  await expectEffects(late, [...texts, 'd']);
  await unbound();
  await harness.consumer('early', { events: { [NotedV1.name]: writeEffects } });
  await expectEffects(early, [...texts, 'd']);
});

test('a replay that a crashed service requested does not delay other replays', async () => {
  await effectsTable(harness, 'early');
  await effectsTable(harness, 'dead');
  const late = await effectsTable(harness, 'late');
  await harness.consumer('early', { events: { [NotedV1.name]: writeEffects } });
  const producer = await harness.producer('processor');
  await producer.relay.start();
  const texts = Array.from({ length: 50 }, (_, i) => `note ${i}`);
  await appendNotes(producer, ...texts);
  await expectEffects(await harness.database('early'), texts);

  await bound(brokers.topology.pastQueue('dead'), 1);
  const { broker } = await connect('dead');
  const subscription = await broker.subscribe({
    name: 'dead',
    types: new Set(['other.v1']),
    deliver: () => Promise.resolve(),
  });
  await subscription.close();
  const id = '00000000-0000-7000-8000-00000000dead';
  expect(await broker.eventReplay.request({ id, service: 'dead', type: NotedV1.name })).toBe(true);
  await waitUntil('it not to be taken', DEADLINE_MS, () =>
    Promise.resolve(harness.logged.some(({ message }) => message.startsWith('relay: replay request not accepted'))),
  );

  const consumer = await harness.consumer('late', { events: { [NotedV1.name]: writeEffects } });
  await expectEffects(late, texts);
  await waitUntil('the replay to be complete', DEADLINE_MS, () => consumer.isBackfilled());
  await unbound();
});

test('an event without a consumer does not delay later events, and a consumer that starts later receives it', async () => {
  const history = await effectsTable(harness, 'history');
  await harness.consumer('history', { events: { [NotedV1.name]: writeEffects } });
  const producer = await harness.producer('processor');
  await producer.relay.start();
  const unheard = { type: { name: 'unheard.v1' }, aggregateId: 'u', aggregateVersion: 1, payload: { text: 'unheard' } };
  await inTransaction(producer.dataSource, (tx) => producer.events.append(tx, unheard));
  await appendNotes(producer, 'behind');
  await expectEffects(history, ['behind']);
  expect(harness.logged.filter(({ message }) => message === 'broker: event has no consumer yet')).toHaveLength(1);

  const late = await effectsTable(harness, 'late');
  await harness.consumer('late', { events: { 'unheard.v1': writeEffects } });
  await expectEffects(late, ['unheard']);
  expect(await readEffects(history)).toEqual(['behind']);
});
