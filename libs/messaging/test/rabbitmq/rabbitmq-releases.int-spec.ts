import { eventType } from '@svc/contracts';
import { inTransaction } from '@svc/persistence';
import { waitUntil } from '@svc/testing';
import { type ChannelModel, connect } from 'amqplib';
import type { EventHandler } from '../../src/index.js';
import {
  appendNotes,
  countOccurrences,
  DEADLINE_MS,
  effectsTable,
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

// Two releases of a service run concurrently, as during each rollout. The newer one handles one more event type.

const AddedV1 = eventType<Note>('added.v1');
let brokers: RabbitMqBrokers;
let harness: ProcessesHarness;

beforeEach(() => {
  brokers = new RabbitMqBrokers(rabbitMqUrl(), 1);
  harness = new ProcessesHarness(brokers);
});
afterEach(() => harness.close());

const olderRelease = (handler: EventHandler = writeEffects): Promise<ConsumingProcess> =>
  harness.consumer('history', { events: { [NotedV1.name]: handler } });
const newerRelease = (handler: EventHandler = writeEffects): Promise<ConsumingProcess> =>
  harness.consumer('history', { events: { [NotedV1.name]: handler, [AddedV1.name]: handler } });

async function add({ dataSource, events }: Producer, ...texts: string[]): Promise<void> {
  await inTransaction(dataSource, (tx) =>
    events.append(tx, ...texts.map((text) => ({ ...newNoteEvent(text), type: AddedV1 }))),
  );
}

const textsOf = (count: number, what: string): string[] => Array.from({ length: count }, (_, i) => `${what} ${i}`);
const deferrals = (): number =>
  harness.logged.filter(({ message }) => message.includes('unknown events deferred')).length;

test('events of a type that only the newer release knows are all handled once, whichever replica receives them', async () => {
  const history = await effectsTable(harness, 'history');
  await olderRelease();
  const newer = await newerRelease();
  const producer = await harness.producer('processor');
  await producer.relay.start();
  const [known, added] = [textsOf(100, 'known'), textsOf(100, 'added')];
  for (let i = 0; i < 100; i += 5) {
    await appendNotes(producer, ...known.slice(i, i + 5));
    await add(producer, ...added.slice(i, i + 5));
  }
  await expectEffects(history, [...known, ...added]);
  expect(deferrals()).toBeGreaterThan(0);
  await waitUntil('nothing to be left', DEADLINE_MS, async () => (await deferredIn()) === 0);
  expect((await newer.deadLetters.list()).deadLetters).toEqual([]);
});

const deferredIn = async (): Promise<number> => {
  const rows = await (await harness.database('history')).query<unknown[]>(`SELECT 1 FROM deferred_events`);
  return rows.length;
};

test('a replay that the older release reads reaches the newer one, which is ready only after all its events are handled', async () => {
  const history = await effectsTable(harness, 'history');
  await effectsTable(harness, 'early');
  await harness.consumer('early', { events: { [AddedV1.name]: writeEffects } });
  // The older replica starts first: it reads replays until it stops.
  const older = await olderRelease();
  const producer = await harness.producer('processor');
  await producer.relay.start();
  const added = textsOf(250, 'added');
  await add(producer, ...added);
  await expectEffects(await harness.database('early'), added);
  expect(await older.isBackfilled()).toBe(true);

  const newer = await newerRelease();
  await waitUntil('the newer release to be ready', DEADLINE_MS, () => newer.isBackfilled());
  expect((await readEffects(history)).sort()).toEqual([...added].sort());
  expect(deferrals()).toBeGreaterThan(0);
  // The older replica does not need the events that the newer one waits for.
  expect(await older.isBackfilled()).toBe(true);
});

test('a replica of the older release that starts later removes no event type from the newer one', async () => {
  const history = await effectsTable(harness, 'history');
  const newer = await newerRelease();
  const producer = await harness.producer('processor');
  await producer.relay.start();
  await add(producer, 'before');
  await expectEffects(history, ['before']);
  const older = await olderRelease();
  await add(producer, 'beside it');
  await expectEffects(history, ['before', 'beside it']);
  await older.stop();
  expect(await newer.isBackfilled()).toBe(true);
  await add(producer, 'after');
  await expectEffects(history, ['before', 'beside it', 'after']);
  const asked = await producer.dataSource.query<unknown[]>(`SELECT 1 FROM replays WHERE type = $1`, [AddedV1.name]);
  expect(asked).toEqual([]);
});

test('after a rollback and a new rollout, the newer release handles the events in between, and none twice', async () => {
  const history = await effectsTable(harness, 'history');
  const handled: string[] = [];
  const record: EventHandler = async (events, context) => {
    await writeEffects(events, context);
    handled.push(...events.map(({ payload }) => (payload as Note).text));
  };
  const first = await newerRelease(record);
  const producer = await harness.producer('processor');
  await producer.relay.start();
  await add(producer, 'with the newer');
  await expectEffects(history, ['with the newer']);
  await first.stop();

  const older = await olderRelease(record);
  const between = textsOf(120, 'in between');
  await add(producer, ...between);
  await appendNotes(producer, 'known');
  await expectEffects(history, ['with the newer', 'known']);
  await waitUntil('them to be deferred', DEADLINE_MS, async () => (await deferredIn()) === 120);
  await older.stop();

  await newerRelease(record);
  await expectEffects(history, ['with the newer', 'known', ...between]);
  expect(Math.max(...Object.values(countOccurrences(handled)))).toBe(1);
});

test('a type without a handler for a week is unbound, and replayed from the beginning when it has one again', async () => {
  const history = await effectsTable(harness, 'history');
  const newer = await newerRelease();
  const producer = await harness.producer('processor');
  await producer.relay.start();
  await add(producer, 'a');
  await expectEffects(history, ['a']);
  await newer.stop();
  const older = await olderRelease();
  await add(producer, 'b');
  await waitUntil('it to be deferred', DEADLINE_MS, async () => (await deferredIn()) === 1);
  await older.stop();

  harness.clock.advance(8 * 24 * 3_600_000);
  await olderRelease();
  await add(producer, 'c');
  await waitUntil('it to be published', DEADLINE_MS, () =>
    Promise.resolve(harness.logged.some(({ message }) => message === 'broker: event has no consumer yet')),
  );
  expect(await deferredIn()).toBe(0);

  await newerRelease();
  await expectEffects(history, ['a', 'b', 'c']);
});

describe('a queue that was deleted', () => {
  let connection: ChannelModel;
  beforeEach(async () => (connection = await connect(rabbitMqUrl())));
  afterEach(() => connection.close());

  test('is declared again, and events that were published without it are replayed', async () => {
    const history = await effectsTable(harness, 'history');
    const first = await newerRelease();
    const producer = await harness.producer('processor');
    await producer.relay.start();
    await add(producer, 'before');
    await expectEffects(history, ['before']);
    await first.stop();
    const channel = await connection.createChannel();
    await channel.deleteQueue(brokers.topology.eventQueue('history'));
    await add(producer, 'meanwhile');
    await waitUntil('it to be published', DEADLINE_MS, () => producer.relay.isCaughtUp());

    const second = await newerRelease();
    await expectEffects(history, ['before', 'meanwhile']);
    await waitUntil('the replay to be complete', DEADLINE_MS, () => second.isBackfilled());
  });
});
