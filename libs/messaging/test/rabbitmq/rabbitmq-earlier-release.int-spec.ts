/**
 * Compatibility with the release before ADR 26, in which all services had the same RabbitMQ user. That release binds
 * queues to event types without origins, and publishes replays to the default exchange. The channel `earlierRelease`
 * simulates it.
 */
import type { EventEnvelope } from '@svc/contracts';
import { waitUntil } from '@svc/testing';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import type { MessagingLog } from '../../src/index.js';
import type { RabbitMqBroker } from '../../src/rabbitmq/rabbitmq-broker.js';
import { RabbitMqBrokers, type RabbitMqLink } from './rabbitmq-brokers.js';
import { rabbitMqUrl } from './rabbitmq-url.js';

const DEADLINE_MS = 60_000;
const silentLog = { info: () => undefined, warn: () => undefined, error: () => undefined } as unknown as MessagingLog;
const PAYMENT_SUCCEEDED = 'payment.succeeded.v1';
let brokers: RabbitMqBrokers;
const links: RabbitMqLink[] = [];
let connection: ChannelModel;
let earlierRelease: Channel;

beforeEach(async () => {
  brokers = new RabbitMqBrokers(rabbitMqUrl());
  connection = await connect(rabbitMqUrl());
  earlierRelease = await connection.createChannel();
});
afterEach(async () => {
  for (const link of links.splice(0)) await link.close();
  await connection.close();
  await brokers.close();
});

async function start(service: string): Promise<RabbitMqBroker> {
  const link = await brokers.connect(service, silentLog);
  links.push(link);
  await brokers.topology.declareExchanges(connection);
  return link.broker;
}

function newPaymentEvent(id: string, source: string, partner?: object): EventEnvelope {
  const payload = { paymentReference: id, source: { kind: source }, ...(partner ? { partner } : {}) };
  return {
    id,
    type: PAYMENT_SUCCEEDED,
    aggregateId: 'a',
    aggregateVersion: 1,
    occurredAt: new Date(0).toISOString(),
    payload,
  };
}
const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

async function takeMessage(queue: string): Promise<{ content: Buffer; fields: { routingKey: string } }> {
  return waitUntil(`a message in ${queue}`, DEADLINE_MS, () => earlierRelease.get(queue, { noAck: true }));
}

test.each([
  ['session', undefined, `${PAYMENT_SUCCEEDED}.from.session.page`],
  ['session', {}, `${PAYMENT_SUCCEEDED}.from.session.partner`],
  ['invoice', {}, `${PAYMENT_SUCCEEDED}.from.invoice.partner`],
])(
  'a consumer of the earlier release receives the event of a payment of a %s (partner: %j) once, with the routing key %s',
  async (source, partner, key) => {
    const publisher = await start('processor');
    const { queue } = await earlierRelease.assertQueue('', { exclusive: true });
    await earlierRelease.bindQueue(queue, brokers.topology.events, PAYMENT_SUCCEEDED);
    await earlierRelease.bindQueue(queue, brokers.topology.events, `${PAYMENT_SUCCEEDED}.from.#`);
    await publisher.targets()[0]!.deliver([newPaymentEvent(ID, source, partner)]);
    expect((await takeMessage(queue)).fields.routingKey).toBe(key);
    expect(await earlierRelease.get(queue)).toBe(false);
  },
);

test('a queue that is bound to the payments of sessions, or of partners, receives only these payments', async () => {
  const publisher = await start('processor');
  const bindQueueTo = async (pattern: string): Promise<string> => {
    const { queue } = await earlierRelease.assertQueue('', { exclusive: true });
    await earlierRelease.bindQueue(queue, brokers.topology.events, pattern);
    return queue;
  };
  const sessions = await bindQueueTo(`${PAYMENT_SUCCEEDED}.from.session.*`);
  const partners = await bindQueueTo(`${PAYMENT_SUCCEEDED}.from.*.partner`);
  await publisher.targets()[0]!.deliver([newPaymentEvent(ID, 'session'), newPaymentEvent(ID, 'invoice', {})]);
  const [session, partner] = [await takeMessage(sessions), await takeMessage(partners)];
  expect([session.fields.routingKey, partner.fields.routingKey]).toEqual([
    `${PAYMENT_SUCCEEDED}.from.session.page`,
    `${PAYMENT_SUCCEEDED}.from.invoice.partner`,
  ]);
  expect([await earlierRelease.get(sessions), await earlierRelease.get(partners)]).toEqual([false, false]);
});

test('a new consumer receives events and replays that publishers of the earlier release send', async () => {
  const consumer = await start('history');
  const received: string[] = [];
  const deliver = (events: readonly EventEnvelope[]): Promise<void> =>
    Promise.resolve(void received.push(...events.map(({ id }) => id)));
  const subscription = await consumer.subscribe({ name: 'history', types: new Set([PAYMENT_SUCCEEDED]), deliver });
  const ids = [ID, ID.replace('01', '02'), ID.replace('01', '03')];
  const [live, addressed, replayed] = ids.map((id) => Buffer.from(JSON.stringify(newPaymentEvent(id, 'session'))));
  const { topology } = brokers;
  earlierRelease.publish(topology.events, PAYMENT_SUCCEEDED, live!);
  earlierRelease.publish(topology.events, topology.slotKey(PAYMENT_SUCCEEDED, topology.slotOf('history')), addressed!);
  earlierRelease.sendToQueue(topology.replayedEventQueue('history'), replayed!);
  await waitUntil('all three events', DEADLINE_MS, () => Promise.resolve(ids.every((id) => received.includes(id))));
  expect(received.toSorted()).toEqual(ids.toSorted());
  await subscription.close();
});
