import { type EventEnvelope, eventType } from '@svc/contracts';
import { anEvent, waitUntil } from '@svc/testing';
import { type Channel, type ChannelModel, connect, type GetMessage } from 'amqplib';
import {
  createEffectsTable,
  DEADLINE_MS,
  expectEffects,
  type Note,
  NotedV1,
  writeEffects,
} from '../harness/effects.js';
import { ProcessesHarness } from '../harness/processes-harness.js';
import { RabbitMqBrokers } from './rabbitmq-brokers.js';
import { rabbitMqUrl } from './rabbitmq-url.js';

// These tests check which events share a message, and which events a queue receives.

const SILENT_LOG = { info: () => undefined, warn: () => undefined, error: () => undefined };
let brokers: RabbitMqBrokers;
let harness: ProcessesHarness;
/** The test's connection to the broker. */
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

function readTexts(events: readonly EventEnvelope[]): string[] {
  return events.map(({ payload }) => (payload as Note).text);
}

function takeMessage(queue: string): Promise<GetMessage> {
  return waitUntil(`a message in ${queue}`, DEADLINE_MS, () => channel.get(queue, { noAck: true }));
}

describe('events that are published together', () => {
  test('share a message, each event is handled once, and only the failing event becomes a dead letter', async () => {
    const history = await createEffectsTable(harness, 'history');
    const handler: typeof writeEffects = async (events, context) => {
      if (readTexts(events).includes('bad')) throw new Error('cannot be handled');
      await writeEffects(events, context);
    };
    const consumer = await harness.startConsumer('history', { events: { [NotedV1.name]: handler } });
    await harness.startProducer('processor');
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
    expect(JSON.parse((await takeMessage(queue)).content.toString())).toEqual(events);
    expect(await channel.get(queue)).toBe(false);
  });
});

describe('a consumer that subscribes to payments of one origin', () => {
  const sessionPayment = { source: { kind: 'session' }, paymentReference: 'P1' };
  const partnerPayment = { source: { kind: 'invoice' }, paymentReference: 'P2', partner: {} };
  const PaidV1 = eventType<object>('paid.v1');
  const newPaidEvent = (payload: object, text: string): EventEnvelope => anEvent(PaidV1, text, 1, { ...payload, text });

  test.each([
    [{ payer: 'partner' }, ['partner']],
    [{ source: 'session' }, ['session']],
    [{ source: 'invoice', payer: 'page' }, []],
  ] as const)('(%j) receives no other payments', async (origin, expectedTexts) => {
    const receivedTexts: string[] = [];
    const link = await brokers.connect('history', SILENT_LOG);
    const deliver = (events: readonly EventEnvelope[]): Promise<void> =>
      Promise.resolve(void receivedTexts.push(...readTexts(events)));
    const types = new Set([PaidV1.name, NotedV1.name]);
    const origins = new Map([[PaidV1.name, origin]]);
    const subscription = await link.broker.subscribe({ name: 'history', types, origins, deliver });
    await harness.startProducer('processor');
    await publishDirectly(
      newPaidEvent(sessionPayment, 'session'),
      newPaidEvent(partnerPayment, 'partner'),
      anEvent(NotedV1, 'x', 1, { text: 'last' }),
    );
    await waitUntil('the last event', DEADLINE_MS, () => Promise.resolve(receivedTexts.includes('last')));
    expect(receivedTexts.sort()).toEqual([...expectedTexts, 'last'].sort());
    await subscription.close();
    await link.close();
  });
});
