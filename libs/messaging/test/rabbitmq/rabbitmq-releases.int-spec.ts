import { eventType } from '@svc/contracts';
import { inTransaction } from '@svc/persistence';
import { waitUntil } from '@svc/testing';
import { type ChannelModel, connect } from 'amqplib';
import type { EventHandler } from '../../src/index.js';
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
import type { ConsumingProcess, Producer } from '../harness/harness.js';
import { ProcessesHarness } from '../harness/processes-harness.js';
import { RabbitMqBrokers } from './rabbitmq-brokers.js';
import { rabbitMqUrl } from './rabbitmq-url.js';

// Two releases of a service run concurrently, as during each rollout. The newer release handles one more event type.

const AddedV1 = eventType<Note>('added.v1');
let brokers: RabbitMqBrokers;
let harness: ProcessesHarness;

beforeEach(() => {
  // Each message contains one event.
  brokers = new RabbitMqBrokers(rabbitMqUrl(), 1);
  harness = new ProcessesHarness(brokers);
});
afterEach(() => harness.close());

const startOlderRelease = (handler: EventHandler = writeEffects): Promise<ConsumingProcess> =>
  harness.startConsumer('history', { events: { [NotedV1.name]: handler } });
const startNewerRelease = (handler: EventHandler = writeEffects): Promise<ConsumingProcess> =>
  harness.startConsumer('history', { events: { [NotedV1.name]: handler, [AddedV1.name]: handler } });

async function appendAdded({ dataSource, events }: Producer, ...texts: string[]): Promise<void> {
  await inTransaction(dataSource, (tx) =>
    events.append(tx, ...texts.map((text) => ({ ...newNoteEvent(text), type: AddedV1 }))),
  );
}

const newTexts = (count: number, prefix: string): string[] => Array.from({ length: count }, (_, i) => `${prefix} ${i}`);
const countDeferrals = (): number =>
  harness.logLines.filter(({ message }) => message.includes('unknown events deferred')).length;

test('events of a type that only the newer release handles are handled once, even if the older release receives them', async () => {
  const history = await createEffectsTable(harness, 'history');
  await startOlderRelease();
  const newer = await startNewerRelease();
  const producer = await harness.startProducer('processor');
  await producer.relay.start();
  const [known, added] = [newTexts(100, 'known'), newTexts(100, 'added')];
  for (let i = 0; i < 100; i += 5) {
    await appendNotes(producer, ...known.slice(i, i + 5));
    await appendAdded(producer, ...added.slice(i, i + 5));
  }
  await expectEffects(history, [...known, ...added]);
  expect(countDeferrals()).toBeGreaterThan(0);
  await waitUntil('all deferred events to be handled', DEADLINE_MS, async () => (await countDeferredEvents()) === 0);
  expect((await newer.deadLetters.list()).deadLetters).toEqual([]);
});

const countDeferredEvents = async (): Promise<number> => {
  const rows = await (await harness.database('history')).query<unknown[]>(`SELECT 1 FROM deferred_events`);
  return rows.length;
};

test('the newer release handles all events of a replay, even if the older release receives the replay', async () => {
  const history = await createEffectsTable(harness, 'history');
  await createEffectsTable(harness, 'early');
  await harness.startConsumer('early', { events: { [AddedV1.name]: writeEffects } });
  // Only one replica consumes replays. It is the older release, because it starts first.
  const older = await startOlderRelease();
  const producer = await harness.startProducer('processor');
  await producer.relay.start();
  const added = newTexts(250, 'added');
  await appendAdded(producer, ...added);
  await expectEffects(await harness.database('early'), added);
  expect(await older.isBackfilled()).toBe(true);

  const newer = await startNewerRelease();
  await waitUntil('the newer release to be backfilled', DEADLINE_MS, () => newer.isBackfilled());
  expect((await readEffects(history)).sort()).toEqual([...added].sort());
  expect(countDeferrals()).toBeGreaterThan(0);
  // The older release does not handle the type AddedV1, so it is backfilled without the events of that type.
  expect(await older.isBackfilled()).toBe(true);
});

test('a replica of the older release that starts later does not unbind an event type of the newer release', async () => {
  const history = await createEffectsTable(harness, 'history');
  const newer = await startNewerRelease();
  const producer = await harness.startProducer('processor');
  await producer.relay.start();
  await appendAdded(producer, 'before');
  await expectEffects(history, ['before']);
  const older = await startOlderRelease();
  await appendAdded(producer, 'with both releases');
  await expectEffects(history, ['before', 'with both releases']);
  await older.stop();
  expect(await newer.isBackfilled()).toBe(true);
  await appendAdded(producer, 'after');
  await expectEffects(history, ['before', 'with both releases', 'after']);
  const replayRequests = await producer.dataSource.query<unknown[]>(`SELECT 1 FROM replays WHERE type = $1`, [
    AddedV1.name,
  ]);
  expect(replayRequests).toEqual([]);
});

test('after a rollback and a second rollout, the newer release handles each event that it has missed once', async () => {
  const history = await createEffectsTable(harness, 'history');
  const handled: string[] = [];
  const record: EventHandler = async (events, context) => {
    await writeEffects(events, context);
    handled.push(...events.map(({ payload }) => (payload as Note).text));
  };
  const first = await startNewerRelease(record);
  const producer = await harness.startProducer('processor');
  await producer.relay.start();
  await appendAdded(producer, 'with the newer');
  await expectEffects(history, ['with the newer']);
  await first.stop();

  const older = await startOlderRelease(record);
  const between = newTexts(120, 'in between');
  await appendAdded(producer, ...between);
  await appendNotes(producer, 'known');
  await expectEffects(history, ['with the newer', 'known']);
  await waitUntil('the events to be deferred', DEADLINE_MS, async () => (await countDeferredEvents()) === 120);
  await older.stop();

  await startNewerRelease(record);
  await expectEffects(history, ['with the newer', 'known', ...between]);
  expect(Math.max(...Object.values(countOccurrences(handled)))).toBe(1);
});

test('a type without a handler for a week is unbound, and is replayed from the beginning when it has a handler again', async () => {
  const history = await createEffectsTable(harness, 'history');
  const newer = await startNewerRelease();
  const producer = await harness.startProducer('processor');
  await producer.relay.start();
  await appendAdded(producer, 'a');
  await expectEffects(history, ['a']);
  await newer.stop();
  const older = await startOlderRelease();
  await appendAdded(producer, 'b');
  await waitUntil('the event to be deferred', DEADLINE_MS, async () => (await countDeferredEvents()) === 1);
  await older.stop();

  harness.clock.advance(8 * 24 * 3_600_000);
  await startOlderRelease();
  await appendAdded(producer, 'c');
  await waitUntil('the event to be published', DEADLINE_MS, () =>
    Promise.resolve(harness.logLines.some(({ message }) => message === 'broker: event has no consumer yet')),
  );
  expect(await countDeferredEvents()).toBe(0);

  await startNewerRelease();
  await expectEffects(history, ['a', 'b', 'c']);
});

describe('a queue that was deleted', () => {
  let connection: ChannelModel;
  beforeEach(async () => (connection = await connect(rabbitMqUrl())));
  afterEach(() => connection.close());

  test('is declared again, and events that were published without it are replayed', async () => {
    const history = await createEffectsTable(harness, 'history');
    const first = await startNewerRelease();
    const producer = await harness.startProducer('processor');
    await producer.relay.start();
    await appendAdded(producer, 'before');
    await expectEffects(history, ['before']);
    await first.stop();
    const channel = await connection.createChannel();
    await channel.deleteQueue(brokers.topology.eventQueue('history'));
    await appendAdded(producer, 'meanwhile');
    await waitUntil('the event to be published', DEADLINE_MS, () => producer.relay.isCaughtUp());

    const second = await startNewerRelease();
    await expectEffects(history, ['before', 'meanwhile']);
    await waitUntil('the replay to be complete', DEADLINE_MS, () => second.isBackfilled());
  });
});
