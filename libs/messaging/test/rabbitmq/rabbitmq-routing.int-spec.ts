import { type EventEnvelope, eventType } from '@svc/contracts';
import { anEvent, waitUntil } from '@svc/testing';
import { type Channel, type ChannelModel, connect, type GetMessage } from 'amqplib';
import { DEADLINE_MS, effectsTable, expectEffects, type Note, NotedV1, writeEffects } from '../harness/effects.js';
import { ProcessesHarness } from '../harness/processes-harness.js';
import { RabbitMqBrokers } from './rabbitmq-brokers.js';
import { rabbitMqUrl } from './rabbitmq-url.js';

// Tests of the content of messages and their queues.

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };
let brokers: RabbitMqBrokers;
let harness: ProcessesHarness;
/** The test's own view of the broker. */
let connection: ChannelModel;
let channel: Channel;

beforeEach(async () => {
  brokers = new RabbitMqBrokers(rabbitMqUrl());
  harness = new ProcessesHarness(brokers);
  connection = await connect(rabbitMqUrl());
  channel = await connection.createChannel();
});
afterEach(async () => {
  await connection.close();
  await harness.close();
});

function publishDirectly(...events: EventEnvelope[]): Promise<void> {
  const [target] = brokers.linkOf('processor').broker.targets();
  return target!.deliver(events);
}

function textsOf(events: readonly EventEnvelope[]): string[] {
  return events.map(({ payload }) => (payload as Note).text);
}

function take(queue: string): Promise<GetMessage> {
  return waitUntil(`a message in ${queue}`, DEADLINE_MS, () => channel.get(queue, { noAck: true }));
}

describe('events that are published together', () => {
  test('share a message, and each is handled once; only the failing event becomes a dead letter', async () => {
    const history = await effectsTable(harness, 'history');
    const handler: typeof writeEffects = async (events, context) => {
      if (textsOf(events).includes('bad')) throw new Error('cannot be handled');
      await writeEffects(events, context);
    };
    const consumer = await harness.consumer('history', { events: { [NotedV1.name]: handler } });
    await harness.producer('processor');
    await brokers.topology.declareExchanges(connection);
    const { queue } = await channel.assertQueue('', { exclusive: true });
    await channel.bindQueue(queue, brokers.topology.events, NotedV1.name);
    const texts = ['a', 'b', 'bad', 'c'];
    const events = texts.map((text) => anEvent(NotedV1, text, 1, { text }));
    await publishDirectly(...events);
    await expectEffects(history, ['a', 'b', 'c']);
    const { deadLetters } = await waitUntil('the dead letter', DEADLINE_MS, async () => {
      const listed = await consumer.deadLetters.list();
      return listed.deadLetters.length > 0 && listed;
    });
    expect(deadLetters.map(({ messageId }) => messageId)).toEqual([events[2]!.id]);
    expect(JSON.parse((await take(queue)).content.toString())).toEqual(events);
    expect(await channel.get(queue)).toBe(false);
  });
});

describe('payments of one origin', () => {
  const session = { source: { kind: 'session' }, paymentReference: 'P1' };
  const partners = { source: { kind: 'invoice' }, paymentReference: 'P2', partner: {} };
  const PaidV1 = eventType<object>('paid.v1');
  const paid = (payload: object, text: string): EventEnvelope => anEvent(PaidV1, text, 1, { ...payload, text });

  test.each([
    [{ payer: 'partner' }, ['partner']],
    [{ source: 'session' }, ['session']],
    [{ source: 'invoice', payer: 'page' }, []],
  ] as const)(
    'are the only ones that a consumer of %j receives, even if it received all before',
    async (origin, wanted) => {
      const given: string[] = [];
      const subscribe = async (part: object): Promise<{ close: () => Promise<void> }> => {
        const link = await brokers.connect('history', SILENT);
        const deliver = (events: readonly EventEnvelope[]): Promise<void> =>
          Promise.resolve(void given.push(...textsOf([...events])));
        const types = new Set([PaidV1.name, NotedV1.name]);
        const subscription = await link.broker.subscribe({ name: 'history', types, deliver, ...part });
        return { close: () => subscription.close().then(() => link.close()) };
      };
      await (await subscribe({})).close();
      const subscription = await subscribe({ origins: new Map([[PaidV1.name, origin]]) });
      await harness.producer('processor');
      await publishDirectly(
        paid(session, 'session'),
        paid(partners, 'partner'),
        anEvent(NotedV1, 'x', 1, { text: 'last' }),
      );
      await waitUntil('the last', DEADLINE_MS, () => Promise.resolve(given.includes('last')));
      expect(given.sort()).toEqual([...wanted, 'last'].sort());
      await subscription.close();
    },
  );
});
