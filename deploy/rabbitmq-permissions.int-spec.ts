/** Tests the permissions of each service's RabbitMQ user, on a RabbitMQ with the permissions of a deployment. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import {
  type EventEnvelope,
  MESSAGING_SERVICES,
  type MessagingService,
  SERVICE_MESSAGES,
  type ServiceMessages,
  SessionCreatedV1,
} from '@svc/contracts';
import { type MessagingLog, RabbitMqBroker } from '@svc/messaging';
import { PrivateRabbitMq, waitUntil } from '@svc/testing';
import { type Channel, type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { PROBE, RabbitMqNames } from '../libs/messaging/src/routing/rabbitmq-names.js';
import { tryLogin } from '../tools/svc/rabbitmq/amqp-login.ts';
import { startBroker as startOrFindBroker } from '../tools/svc/rabbitmq/broker.ts';
import { definitionsOf, urlsOfServices } from '../tools/svc/rabbitmq/rabbitmq-users.ts';

const DEADLINE_MS = 60_000;
const names = new RabbitMqNames();
const passwords = Object.fromEntries(MESSAGING_SERVICES.map((name) => [name, randomUUID()])) as Record<
  MessagingService,
  string
>;
const messagesOf = (service: MessagingService): ServiceMessages => SERVICE_MESSAGES[service];
const publishers = MESSAGING_SERVICES.filter((service) => messagesOf(service).publishes.length > 0);
const consumers = MESSAGING_SERVICES.filter((service) => messagesOf(service).consumes.length > 0);

let rabbitMq: PrivateRabbitMq;
let urls: Record<MessagingService, string>;
let administrator: ChannelModel;
const brokers = new Map<MessagingService, RabbitMqBroker>();
const receivedEvents = new Map<MessagingService, EventEnvelope[]>();
const warnings: unknown[] = [];
/** Command and payload of each request that a service has received. */
const handledRequests: [command: string, payload: unknown][] = [];

beforeAll(async () => {
  const guest = { name: 'guest', password: 'guest' };
  rabbitMq = await PrivateRabbitMq.start(definitionsOf({ vhost: '/', passwords, administrator: guest }));
  urls = urlsOfServices(rabbitMq.url, passwords);
  administrator = await connect(rabbitMq.url);
  await Promise.all(MESSAGING_SERVICES.map((service) => startBroker(service)));
});
afterAll(async () => {
  for (const broker of brokers.values()) await broker.close();
  await administrator.close();
  await rabbitMq.stop();
});

/** Connects the broker of a service as its code does: it subscribes to all its types and handles all its commands. */
async function startBroker(service: MessagingService): Promise<void> {
  const warn = (details: unknown, message: string): void => void warnings.push({ service, details, message });
  const log = { info: () => undefined, warn, error: warn } as unknown as MessagingLog;
  const broker = new RabbitMqBroker({ url: urls[service], service, log });
  brokers.set(service, broker);
  receivedEvents.set(service, []);
  const { consumes, publishes, answers } = messagesOf(service);
  const deliver = async (events: readonly EventEnvelope[]): Promise<void> => {
    receivedEvents.get(service)!.push(...events);
  };
  if (consumes.length > 0) {
    const formerTypes = new Set(['no-longer.handled.v1']);
    await broker.subscribe({ name: service, types: new Set(consumes), formerTypes, deliver });
  }
  for (const command of answers)
    await broker.respond(command, (payload) => {
      handledRequests.push([command, payload]);
      return Promise.resolve({ service, payload });
    });
  // Every relay serves replay requests, also in a service that publishes nothing.
  await broker.eventReplay.serveRequests(
    async () => undefined,
    () => Promise.resolve(publishes.length > 0),
  );
}

function newEvent(type: string, payload: object = {}, occurredAt = new Date(0).toISOString()): EventEnvelope {
  return { id: randomUUID(), type, aggregateId: randomUUID(), aggregateVersion: 1, occurredAt, payload };
}

async function expectReceived(service: MessagingService, events: readonly { readonly id: string }[]): Promise<void> {
  const receivedIds = (): string[] => receivedEvents.get(service)!.map(({ id }) => id);
  await waitUntil(`${service} to receive its events`, DEADLINE_MS, () =>
    Promise.resolve(events.every(({ id }) => receivedIds().includes(id))),
  );
}

/** Runs an attempt as the user of a service. Returns 200, or RabbitMQ's error code: 403 if it refuses the attempt. */
async function attemptAs(
  service: MessagingService,
  attempt: (channel: ConfirmChannel) => Promise<unknown>,
): Promise<number> {
  const connection = await connect(urls[service]);
  try {
    const channel = await connection.createConfirmChannel();
    const closed = once(channel, 'error').then(([error]) => (error as { code?: number }).code ?? 0);
    const result = attempt(channel).then(
      () => 200,
      (error: Error & { code?: number }) => error.code ?? closed,
    );
    return await Promise.race([closed, result]);
  } finally {
    await connection.close();
  }
}

const publish =
  (exchange: string, key: string, content: object, headers?: { CC?: string[]; userId?: string }) =>
  async (channel: ConfirmChannel) => {
    channel.publish(exchange, key, Buffer.from(JSON.stringify(content)), headers ?? {});
    await channel.waitForConfirms();
  };

/**
 * Publishes a probe, which every service may do, to a queue of the service. RabbitMQ forwards the expired message to
 * any dead-letter exchange, with any routing key and without a check of permissions.
 */
const publishByDeadLettering =
  (service: MessagingService, exchange: string, key: string, content: object) => async (channel: ConfirmChannel) => {
    const { queue } = await channel.assertQueue(names.replyQueue(service, randomUUID()), {
      expires: DEADLINE_MS,
      messageTtl: 0,
      deadLetterExchange: exchange,
      deadLetterRoutingKey: key,
    });
    const probe = names.partitionKey(PROBE, names.partitionOf(service));
    await channel.bindQueue(queue, names.events, probe);
    channel.publish(names.events, probe, Buffer.from(JSON.stringify(content)));
    await channel.waitForConfirms();
  };

async function asAdministrator<T>(use: (channel: Channel) => Promise<T>): Promise<T> {
  const channel = await administrator.createChannel();
  try {
    return await use(channel);
  } finally {
    await channel.close();
  }
}

async function expectDeadLetter(service: MessagingService, { id }: EventEnvelope): Promise<void> {
  const message = await asAdministrator((channel) =>
    waitUntil('a dead letter', DEADLINE_MS, () => channel.get(names.deadLetterQueue(service), { noAck: true })),
  );
  expect(JSON.parse(message.content.toString())).toMatchObject([{ id }]);
}

/** Sends a further event and waits for it, so that all earlier events in the same queues have been delivered. */
async function expectNotDelivered(event: EventEnvelope): Promise<void> {
  const { id, type } = newEvent(SessionCreatedV1.name);
  const broker = brokers.get('hosted-gateway')!;
  await broker.targets()[0]!.deliver([{ ...newEvent(type), id }]);
  await expectReceived('payment-processor', [{ id }]);
  await expectReceived('code-decoder', [{ id }]);
  for (const events of receivedEvents.values())
    expect(events.map(({ id: receivedId }) => receivedId)).not.toContain(event.id);
}

describe('required permissions', () => {
  test('every service connects, declares its queues and binds them without a refusal', () => {
    expect(warnings).toEqual([]);
    for (const broker of brokers.values()) expect(broker.connection.state).toBe('up');
  });

  test.each(publishers)('%s publishes its events to all consumers, and to single consumers', async (service) => {
    const source = { source: { kind: 'invoice' }, partner: {}, paymentReference: 'p' };
    const payloadOf = (type: string): object => (type.startsWith('payment.') ? source : {});
    const [target] = brokers.get(service)!.targets();
    const events = messagesOf(service).publishes.map((type) => newEvent(type, payloadOf(type)));
    await target!.deliver(events);
    const consumerTargets = await target!.consumerTargets!();
    expect(consumerTargets).toHaveLength(new Set(consumers.map((name) => names.partitionOf(name))).size);
    const eventsForSingleConsumers = events.map((event) => ({ ...event, id: randomUUID() }));
    for (const consumer of consumerTargets) await consumer.deliver(eventsForSingleConsumers);
    for (const consumer of consumers) {
      const types: readonly string[] = messagesOf(consumer).consumes;
      const expected = [...events, ...eventsForSingleConsumers].filter(({ type }) => types.includes(type));
      await expectReceived(consumer, expected);
    }
    const deliveries = [...receivedEvents.values()].flat().filter(({ id }) => events.some((event) => event.id === id));
    expect(deliveries).toHaveLength(
      events.flatMap(({ type }) => consumers.filter((consumer) => messagesOf(consumer).consumes.includes(type))).length,
    );
  });

  test.each(MESSAGING_SERVICES)('%s requests its commands and gets replies', async (service) => {
    const findHandler = (command: string) =>
      MESSAGING_SERVICES.find((name) => messagesOf(name).answers.includes(command));
    for (const command of messagesOf(service).requests)
      expect(await brokers.get(service)!.request(command, { requestedBy: service }, 10_000)).toEqual({
        service: findHandler(command),
        payload: { requestedBy: service },
      });
    expect(brokers.get(service)!.connection.state).toBe('up');
  });

  test.each(consumers)('%s requests event replays, and receives them from the publishers', async (service) => {
    for (const type of messagesOf(service).consumes) {
      const request = { id: randomUUID(), service, type };
      expect(await brokers.get(service)!.eventReplay.request(request)).toBe(true);
      const publisher = MESSAGING_SERVICES.find((name) => messagesOf(name).publishes.includes(type))!;
      const replayedEvent = newEvent(type);
      const replayEnd = { ...newEvent('replay.served.v1', { type }), id: request.id };
      expect(await brokers.get(publisher)!.eventReplay.deliver(service, [replayedEvent, replayEnd])).toBe(true);
      await expectReceived(service, [replayedEvent, replayEnd]);
    }
  });

  test.each(consumers)('%s can read its own dead-letter queue', async (service) => {
    await asAdministrator((channel) =>
      Promise.resolve(channel.sendToQueue(names.eventQueue(service), Buffer.from('unreadable'))),
    );
    const connection = await connect(urls[service]);
    const channel = await connection.createChannel();
    const message = await waitUntil('the dead letter', DEADLINE_MS, () =>
      channel.get(names.deadLetterQueue(service), { noAck: true }),
    );
    expect(message.content.toString()).toBe('unreadable');
    await connection.close();
  });
});

test('permissions.json can be imported again without a change of users and passwords', async () => {
  await rabbitMq.control('import_definitions', join(import.meta.dirname, 'rabbitmq/permissions.json'));
  const { type } = newEvent(SessionCreatedV1.name);
  expect(await attemptAs('hosted-gateway', publish(names.events, type, [newEvent(type)]))).toBe(200);
  expect(await attemptAs('identity', publish(names.events, type, [newEvent(type)]))).toBe(403);
});

describe('permissions for messages of other services', () => {
  test('a token-key.changed that hosted-gateway forges is refused and not delivered', async () => {
    const forged = newEvent('token-key.changed.v1');
    for (const key of [forged.type, names.partitionKey(forged.type, names.partitionOf('payment-processor'))])
      expect(await attemptAs('hosted-gateway', publish(names.events, key, [forged]))).toBe(403);
    const replayedEventKey = names.replayedEventKey('payment-processor', forged.type);
    expect(await attemptAs('hosted-gateway', publish(names.replayedEvents, replayedEventKey, [forged]))).toBe(403);
    const queue = names.eventQueue('payment-processor');
    expect(await attemptAs('hosted-gateway', publish('', queue, [forged]))).toBe(403);
    await expectNotDelivered(forged);
  });

  test('a payment.succeeded from a service other than payment-processor is refused and not delivered', async () => {
    const forged = newEvent('payment.succeeded.v1');
    const others = MESSAGING_SERVICES.filter((service) => service !== 'payment-processor');
    for (const service of others) {
      for (const key of [forged.type, names.eventKey(forged.type, { source: 'session', payer: 'page' })])
        expect([service, await attemptAs(service, publish(names.events, key, [forged]))]).toEqual([service, 403]);
      const queue = names.eventQueue('webhook-dispatcher');
      expect([service, await attemptAs(service, publish('', queue, [forged]))]).toEqual([service, 403]);
    }
    await expectNotDelivered(forged);
  });

  test('an event whose routing key and content have different types becomes a dead letter', async () => {
    const forged = newEvent('token-key.changed.v1');
    expect(await attemptAs('hosted-gateway', publish(names.events, SessionCreatedV1.name, [forged]))).toBe(200);
    // RabbitMQ before 3.13 checks only the first routing key, and not those in the CC header.
    const ccHeader = { CC: [forged.type] };
    await attemptAs('hosted-gateway', publish(names.events, SessionCreatedV1.name, [forged], ccHeader));
    const replayEnd = { ...newEvent('replay.served.v1', { type: forged.type }), id: forged.id };
    const replayedEventKey = names.replayedEventKey('payment-processor', SessionCreatedV1.name);
    expect(await attemptAs('hosted-gateway', publish(names.replayedEvents, replayedEventKey, [replayEnd]))).toBe(200);
    await expectDeadLetter('payment-processor', forged);
    await expectNotDelivered(forged);
  });

  test('a replay delivers a dead letter whose sender owns the type, and refuses a forged dead letter', async () => {
    await asAdministrator((channel) => channel.purgeQueue(names.deadLetterQueue('payment-processor')));
    const [genuine, forged] = [newEvent('token-key.changed.v1'), newEvent('token-key.changed.v1')];
    const sendAs = (service: MessagingService, event: EventEnvelope, userId?: string) =>
      attemptAs(service, publish(names.deadLetters, 'payment-processor', [event], userId ? { userId } : {}));
    expect(await sendAs('hosted-gateway', forged)).toBe(200);
    expect(await sendAs('hosted-gateway', forged, 'svc-hosted-gateway')).toBe(200);
    expect(await sendAs('hosted-gateway', forged, 'svc-identity')).toBe(406);
    expect(await sendAs('identity', genuine, 'svc-identity')).toBe(200);
    expect(await brokers.get('payment-processor')!.deadLetters.replay()).toEqual({ replayed: 1, refused: 2 });
    await expectReceived('payment-processor', [genuine]);
    await expectNotDelivered(forged);
  });

  test.each(['hosted-gateway', 'code-decoder'] as const)(
    'a forged event that %s publishes through dead-lettering of its own queue is refused by the consumer',
    async (service) => {
      const forged = newEvent('payment.succeeded.v1');
      expect(await attemptAs(service, publishByDeadLettering(service, names.events, forged.type, [forged]))).toBe(200);
      await expectDeadLetter('webhook-dispatcher', forged);
      await expectNotDelivered(forged);
    },
  );

  test('a command of another service is not handled if it is sent with a CC header or by dead-lettering', async () => {
    const command = 'charge-card.v1';
    const [inCcHeader, deadLettered] = [newEvent(command), newEvent(command)];
    // RabbitMQ before 3.13 checks only the first routing key, and not those in the CC header.
    const [key, openKey] = [names.commandKey(command), names.commandKey('open-payable.v1')];
    const isAccepted =
      (await attemptAs('code-decoder', publish(names.commands, openKey, inCcHeader, { CC: [key] }))) === 200;
    expect(
      await attemptAs('code-decoder', publishByDeadLettering('code-decoder', names.commands, key, deadLettered)),
    ).toBe(200);
    const countRefusals = (): number => JSON.stringify(warnings).split(`"command":"${command}"`).length - 1;
    const expected = isAccepted ? 2 : 1;
    await waitUntil('the refusals', DEADLINE_MS, () => Promise.resolve(countRefusals() >= expected));
    for (const { id } of [inCcHeader, deadLettered])
      expect(handledRequests).not.toContainEqual([command, expect.objectContaining({ id })]);
  });

  test.each(MESSAGING_SERVICES)(
    '%s cannot read, fill, purge, bind or delete a queue of another service, and cannot delete an exchange',
    async (service) => {
      const others = consumers.filter((name) => name !== service);
      const queues = others.flatMap((name) => [
        names.eventQueue(name),
        names.replayedEventQueue(name),
        names.deadLetterQueue(name),
      ]);
      const attempts: ((channel: ConfirmChannel) => Promise<unknown>)[] = [
        ...queues.flatMap((queue) => [
          (channel: ConfirmChannel) => channel.get(queue),
          (channel: ConfirmChannel) => channel.consume(queue, () => undefined),
          (channel: ConfirmChannel) => channel.purgeQueue(queue),
          (channel: ConfirmChannel) => channel.deleteQueue(queue),
          (channel: ConfirmChannel) => channel.bindQueue(queue, names.events, SessionCreatedV1.name),
          publish('', queue, [newEvent('payment.succeeded.v1')]),
        ]),
        (channel) => channel.deleteExchange(names.events),
        (channel) => channel.deleteQueue(names.deadLetterQueue(service)),
        (channel) => channel.assertQueue('undeclared-queue'),
      ];
      for (const attempt of attempts)
        expect([attempt.toString(), await attemptAs(service, attempt)]).toEqual([attempt.toString(), 403]);
    },
  );

  test.each(consumers)(
    '%s cannot bind its queue to event types, partition keys, commands or replies of another service',
    async (service) => {
      const ownQueue = names.eventQueue(service);
      const otherTypes = MESSAGING_SERVICES.flatMap((name) => messagesOf(name).publishes).filter(
        (type) => !messagesOf(service).consumes.includes(type),
      );
      const bindings: [string, string][] = [
        ...['#', '*.*.*', 'payment.*.v1.#', ...otherTypes].map((key): [string, string] => [names.events, key]),
        [names.events, names.partitionKey(messagesOf(service).consumes[0]!, (names.partitionOf(service) + 1) % 256)],
        ...consumers
          .filter((name) => name !== service)
          .map((name): [string, string] => [names.replayedEvents, `${name}.#`]),
        ...['#', 'charge-card.v1.*'].map((key): [string, string] => [names.commands, key]),
        [names.replies, '#'],
        [names.deadLetters, 'payment-processor'],
      ];
      for (const [exchange, key] of bindings)
        expect([key, await attemptAs(service, (channel) => channel.bindQueue(ownQueue, exchange, key))]).toEqual([
          key,
          403,
        ]);
    },
  );

  test('a service can send only its own commands', async () => {
    const event = newEvent('charge-card.v1');
    const replica = randomUUID();
    const key = names.commandKey(event.type, replica);
    expect(await attemptAs('webhook-dispatcher', publish(names.commands, key, event))).toBe(403);
    expect(await attemptAs('code-decoder', publish(names.commands, key, event))).toBe(403);
    const queue = names.commandQueue('charge-card.v1', replica);
    expect(await attemptAs('code-decoder', (channel) => channel.assertQueue(queue, { exclusive: true }))).toBe(403);
    expect(await attemptAs('code-decoder', publish('', queue, [event]))).toBe(403);
  });
});

describe('./svc with a RabbitMQ that the user runs', () => {
  const options = { root: '/', directory: '/', port: 0, password: '', logFile: '', aptLog: '' };
  const newPasswords = Object.fromEntries(MESSAGING_SERVICES.map((name) => [name, randomUUID()])) as typeof passwords;

  test('uses one login for all services if it cannot create users, and reports it', async () => {
    const broker = await startOrFindBroker({ ...options, externalUrl: rabbitMq.url, passwords: newPasswords });
    expect(new Set(Object.values(broker.urls))).toEqual(new Set([rabbitMq.url]));
    expect(broker.description).toContain('all services share its login');
  });

  test('creates the users through the management API, and updates changed passwords', async () => {
    const { managementUrl: externalManagementUrl, url: externalUrl } = rabbitMq;
    const broker = await startOrFindBroker({ ...options, externalUrl, externalManagementUrl, passwords: newPasswords });
    expect(broker.urls).toEqual(urlsOfServices(externalUrl, newPasswords));
    expect(await tryLogin(broker.urls.identity!)).toBe('accepted');
    expect(await tryLogin(urls.identity)).toBe('refused');
  });

  test('does not start if the management API refuses the login', async () => {
    const externalManagementUrl = rabbitMq.managementUrl.replace('guest:guest', 'guest:wrong');
    const urlsOfTest = { externalUrl: rabbitMq.url, externalManagementUrl };
    const started = startOrFindBroker({ ...options, ...urlsOfTest, passwords: newPasswords });
    await expect(started).rejects.toThrow(/ 401 /);
  });
});
