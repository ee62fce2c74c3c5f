/**
 * The release before each service had a user of its own (ADR 26), all with one login: it binds to plain types, sends
 * requests, answers and replays through the default exchange, and takes answers at `amq.rabbitmq.reply-to`.
 */
import type { EventEnvelope } from '@svc/contracts';
import { waitUntil } from '@svc/testing';
import { type Channel, type ChannelModel, connect, type ConsumeMessage } from 'amqplib';
import type { MessagingLog } from '../../src/index.js';
import type { RabbitMqBroker } from '../../src/rabbitmq/rabbitmq-broker.js';
import { RabbitMqBrokers, type RabbitMqLink } from './rabbitmq-brokers.js';
import { rabbitMqUrl } from './rabbitmq-url.js';

const DEADLINE_MS = 60_000;
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined } as unknown as MessagingLog;
const paid = 'payment.succeeded.v1';
let brokers: RabbitMqBrokers;
const links: RabbitMqLink[] = [];
let connection: ChannelModel;
let earlier: Channel;

beforeEach(async () => {
  brokers = new RabbitMqBrokers(rabbitMqUrl());
  connection = await connect(rabbitMqUrl());
  earlier = await connection.createChannel();
});
afterEach(async () => {
  for (const link of links.splice(0)) await link.close();
  await connection.close();
  await brokers.close();
});

async function start(service: string): Promise<RabbitMqBroker> {
  const link = await brokers.connect(service, silent);
  links.push(link);
  await brokers.topology.declareExchanges(connection);
  return link.broker;
}

function aPayment(id: string, source: string, partner?: object): EventEnvelope {
  const payload = { paymentReference: id, source: { kind: source }, ...(partner ? { partner } : {}) };
  return { id, type: paid, aggregateId: 'a', aggregateVersion: 1, occurredAt: new Date(0).toISOString(), payload };
}
const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

async function take(queue: string): Promise<{ content: Buffer; fields: { routingKey: string } }> {
  return waitUntil(`a message in ${queue}`, DEADLINE_MS, () => earlier.get(queue, { noAck: true }));
}

test.each([
  ['session', undefined, `${paid}.from.session.page`],
  ['session', {}, `${paid}.from.session.partner`],
  ['invoice', {}, `${paid}.from.invoice.partner`],
])(
  'the consumer of the earlier release gets a payment of a %s (partner: %j) once, published as %s',
  async (source, partner, key) => {
    const publisher = await start('processor');
    const { queue } = await earlier.assertQueue('', { exclusive: true });
    await earlier.bindQueue(queue, brokers.topology.events, paid);
    await earlier.bindQueue(queue, brokers.topology.events, `${paid}.from.#`);
    await publisher.targets()[0]!.deliver([aPayment(ID, source, partner)]);
    expect((await take(queue)).fields.routingKey).toBe(key);
    expect(await earlier.get(queue)).toBe(false);
  },
);

test('a consumer binds either to payments of hosted sessions or to those of partners', async () => {
  const publisher = await start('processor');
  const bound = async (pattern: string): Promise<string> => {
    const { queue } = await earlier.assertQueue('', { exclusive: true });
    await earlier.bindQueue(queue, brokers.topology.events, pattern);
    return queue;
  };
  const sessions = await bound(`${paid}.from.session.*`);
  const partners = await bound(`${paid}.from.*.partner`);
  await publisher.targets()[0]!.deliver([aPayment(ID, 'session'), aPayment(ID, 'invoice', {})]);
  const [session, partner] = [await take(sessions), await take(partners)];
  expect([session.fields.routingKey, partner.fields.routingKey]).toEqual([
    `${paid}.from.session.page`,
    `${paid}.from.invoice.partner`,
  ]);
  expect([await earlier.get(sessions), await earlier.get(partners)]).toEqual([false, false]);
});

test('the publishers of the earlier release reach a new consumer, with events and with replays', async () => {
  const consumer = await start('history');
  const received: string[] = [];
  const deliver = (events: readonly EventEnvelope[]): Promise<void> =>
    Promise.resolve(void received.push(...events.map(({ id }) => id)));
  const subscription = await consumer.subscribe({ name: 'history', types: new Set([paid]), deliver });
  const ids = [ID, ID.replace('01', '02'), ID.replace('01', '03')];
  const [live, addressed, replayed] = ids.map((id) => Buffer.from(JSON.stringify(aPayment(id, 'session'))));
  const { topology } = brokers;
  earlier.publish(topology.events, paid, live!);
  earlier.publish(topology.events, topology.addressed(paid, topology.slotOf('history')), addressed!);
  earlier.sendToQueue(topology.pastQueue('history'), replayed!);
  await waitUntil('all three', DEADLINE_MS, () => Promise.resolve(ids.every((id) => received.includes(id))));
  expect(received.toSorted()).toEqual(ids.toSorted());
  await subscription.close();
});

test('a new responder handles requests of the earlier release, and its responder handles new requests', async () => {
  const responder = await start('processor');
  const double = ({ n }: { n: number }): Promise<number> => Promise.resolve(2 * n);
  const subscription = await responder.respond('double.v1', (payload) => double(payload as { n: number }));
  const answered = new Promise<ConsumeMessage>((resolve) => {
    void earlier
      .consume('amq.rabbitmq.reply-to', (message) => message && resolve(message), { noAck: true })
      .then(() =>
        earlier.sendToQueue(brokers.topology.commandQueue('double.v1'), Buffer.from('{"n":21}'), {
          replyTo: 'amq.rabbitmq.reply-to',
          correlationId: 'c',
        }),
      );
  });
  expect(JSON.parse((await answered).content.toString())).toBe(42);
  await subscription.close();

  // A new responder has bound the queue that both releases read; the earlier release handles the remaining requests.
  const queue = await brokers.topology.declareCommand(earlier, 'double.v1');
  await earlier.consume(queue, (message) => {
    const { replyTo, correlationId } = message!.properties as { replyTo: string; correlationId: string };
    earlier.sendToQueue(replyTo, Buffer.from('44'), { correlationId });
    earlier.ack(message!);
  });
  expect(await (await start('gateway')).request('double.v1', { n: 22 }, 10_000)).toBe(44);
});
