/** Permissions of each service's RabbitMQ user, on a RabbitMQ with the deployed users. */
import { randomUUID } from 'node:crypto';
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
import { startBroker as startOrFind } from '../tools/svc/rabbitmq/broker.ts';
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
const received = new Map<MessagingService, EventEnvelope[]>();
const warnings: unknown[] = [];
/** Command and payload of the answered requests. */
const answered: [command: string, payload: unknown][] = [];

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

/** Each service uses the broker like its code: it consumes all its types and answers all its commands. */
async function startBroker(service: MessagingService): Promise<void> {
  const warn = (details: unknown, message: string): void => void warnings.push({ service, details, message });
  const log = { info: () => undefined, warn, error: warn } as unknown as MessagingLog;
  const broker = new RabbitMqBroker({ url: urls[service], service, log });
  brokers.set(service, broker);
  received.set(service, []);
  const { consumes, publishes, answers } = messagesOf(service);
  const deliver = (events: readonly EventEnvelope[]): Promise<void> => {
    received.get(service)!.push(...events);
    return Promise.resolve();
  };
  if (consumes.length > 0) {
    const formerTypes = new Set(['no-longer.handled.v1']);
    await broker.subscribe({ name: service, types: new Set(consumes), formerTypes, deliver });
  }
  for (const command of answers)
    await broker.respond(command, (payload) => {
      answered.push([command, payload]);
      return Promise.resolve({ service, payload });
    });
  const accept = (): Promise<void> => Promise.resolve();
  // Like every relay, also in a service that publishes nothing.
  await broker.eventReplay.serveRequests(accept, () => Promise.resolve(publishes.length > 0));
}

function anEvent(type: string, payload: object = {}): EventEnvelope {
  const occurredAt = new Date(0).toISOString();
  return { id: randomUUID(), type, aggregateId: randomUUID(), aggregateVersion: 1, occurredAt, payload };
}

async function expectReceived(service: MessagingService, ids: readonly string[]): Promise<void> {
  const got = (): string[] => received.get(service)!.map(({ id }) => id);
  await waitUntil(`${service} to get its events`, DEADLINE_MS, () =>
    Promise.resolve(ids.every((id) => got().includes(id))),
  );
}

/** The broker's reply code: 403 if it refuses. */
async function replyCode(
  service: MessagingService,
  attempt: (channel: ConfirmChannel) => Promise<unknown>,
): Promise<number> {
  const connection = await connect(urls[service]);
  try {
    const channel = await connection.createConfirmChannel();
    const closed = new Promise<number>((resolve) =>
      channel.on('error', (error: Error & { code?: number }) => resolve(error.code ?? 0)),
    );
    const done = attempt(channel).then(
      () => 200,
      (error: Error & { code?: number }) => error.code ?? closed,
    );
    return await Promise.race([closed, done]);
  } finally {
    await connection.close();
  }
}

const publish =
  (exchange: string, key: string, event: EventEnvelope, headers?: { CC?: string[]; userId?: string }) =>
  async (channel: ConfirmChannel) => {
    channel.publish(exchange, key, Buffer.from(JSON.stringify(event)), headers ?? {});
    await channel.waitForConfirms();
  };

/**
 * Like {@link publish}, but through a queue of the service: its dead-letter exchange sends the message on with any key,
 * and the broker checks no permission. A service may both publish probes and bind to them.
 */
const deadLetter =
  (service: MessagingService, exchange: string, key: string, content: object) => async (channel: ConfirmChannel) => {
    const { queue } = await channel.assertQueue(names.replyQueue(service, randomUUID()), {
      expires: DEADLINE_MS,
      messageTtl: 0,
      deadLetterExchange: exchange,
      deadLetterRoutingKey: key,
    });
    const probe = names.slotKey(PROBE, names.slotOf(service));
    await channel.bindQueue(queue, names.events, probe);
    channel.publish(names.events, probe, Buffer.from(JSON.stringify(content)));
    await channel.waitForConfirms();
  };

async function asAdministrator<T>(work: (channel: Channel) => Promise<T>): Promise<T> {
  const channel = await administrator.createChannel();
  try {
    return await work(channel);
  } finally {
    await channel.close();
  }
}

/** When this event arrives, all earlier ones in these queues have been handled. */
async function expectNothingOf(event: EventEnvelope): Promise<void> {
  const { id, type } = anEvent(SessionCreatedV1.name);
  const broker = brokers.get('hosted-gateway')!;
  await broker.targets()[0]!.deliver([{ ...anEvent(type), id }]);
  await expectReceived('payment-processor', [id]);
  await expectReceived('code-decoder', [id]);
  for (const events of received.values()) expect(events.map((one) => one.id)).not.toContain(event.id);
}

describe('the permissions suffice', () => {
  test('every service declares, binds and connects without a refusal', () => {
    expect(warnings).toEqual([]);
    for (const broker of brokers.values()) expect(broker.connection.state).toBe('up');
  });

  test.each(publishers)('%s publishes its types to their consumers, in batches and separately', async (service) => {
    const source = { source: { kind: 'invoice' }, partner: {}, paymentReference: 'p' };
    const payloadOf = (type: string): object => (type.startsWith('payment.') ? source : {});
    const [target] = brokers.get(service)!.targets();
    const events = messagesOf(service).publishes.map((type) => anEvent(type, payloadOf(type)));
    await target!.deliver(events);
    const separate = await target!.consumerTargets!();
    expect(separate).toHaveLength(new Set(consumers.map((name) => names.slotOf(name))).size);
    const more = events.map((event) => ({ ...event, id: randomUUID() }));
    for (const consumer of separate) await consumer.deliver(more);
    for (const consumer of consumers) {
      const types: readonly string[] = messagesOf(consumer).consumes;
      const expected = [...events, ...more].filter(({ type }) => types.includes(type));
      await expectReceived(
        consumer,
        expected.map(({ id }) => id),
      );
    }
    const deliveries = [...received.values()].flat().filter(({ id }) => events.some((event) => event.id === id));
    expect(deliveries).toHaveLength(
      events.flatMap(({ type }) => consumers.filter((one) => messagesOf(one).consumes.includes(type))).length,
    );
  });

  test.each(MESSAGING_SERVICES)('%s requests its commands and gets an answer', async (service) => {
    const answering = (command: string) => MESSAGING_SERVICES.find((one) => messagesOf(one).answers.includes(command));
    for (const command of messagesOf(service).requests)
      expect(await brokers.get(service)!.request(command, { of: service }, 10_000)).toEqual({
        service: answering(command),
        payload: { of: service },
      });
    expect(brokers.get(service)!.connection.state).toBe('up');
  });

  test.each(consumers)('%s requests event replays, and gets them from the publishers', async (service) => {
    for (const type of messagesOf(service).consumes) {
      const request = { id: randomUUID(), service, type };
      expect(await brokers.get(service)!.eventReplay.request(request)).toBe(true);
      const publisher = MESSAGING_SERVICES.find((one) => messagesOf(one).publishes.includes(type))!;
      const old = anEvent(type);
      const served = { ...anEvent('replay.served.v1', { type }), id: request.id };
      expect(await brokers.get(publisher)!.eventReplay.deliver(service, [old, served])).toBe(true);
      await expectReceived(service, [old.id, served.id]);
    }
  });

  test.each(consumers)('%s gets its dead letters in a queue that it reads', async (service) => {
    await asAdministrator((channel) =>
      Promise.resolve(channel.sendToQueue(names.eventQueue(service), Buffer.from('unreadable'))),
    );
    const own = await connect(urls[service]);
    const channel = await own.createChannel();
    const message = await waitUntil('the dead letter', DEADLINE_MS, () =>
      channel.get(names.deadLetterQueue(service), { noAck: true }),
    );
    expect(message.content.toString()).toBe('unreadable');
    await own.close();
  });
});

test('permissions.json can be imported repeatedly, and keeps the users and their passwords', async () => {
  await rabbitMq.control('import_definitions', join(import.meta.dirname, 'rabbitmq/permissions.json'));
  const { type } = anEvent(SessionCreatedV1.name);
  expect(await replyCode('hosted-gateway', publish(names.events, type, anEvent(type)))).toBe(200);
  expect(await replyCode('identity', publish(names.events, type, anEvent(type)))).toBe(403);
});

describe('a service has no permission for messages of others', () => {
  test('a forged token-key.changed of the hosted-gateway is refused, and nothing arrives', async () => {
    const forged = anEvent('token-key.changed.v1');
    for (const key of [forged.type, names.slotKey(forged.type, names.slotOf('payment-processor'))])
      expect(await replyCode('hosted-gateway', publish(names.events, key, forged))).toBe(403);
    const replayedEventKey = names.replayedEventKey('payment-processor', forged.type);
    expect(await replyCode('hosted-gateway', publish(names.replayedEvents, replayedEventKey, forged))).toBe(403);
    const queue = names.eventQueue('payment-processor');
    expect(await replyCode('hosted-gateway', publish('', queue, forged))).toBe(403);
    await expectNothingOf(forged);
  });

  test('a forged payment.succeeded of any service except payment-processor is refused, and nothing arrives', async () => {
    const forged = anEvent('payment.succeeded.v1');
    const others = MESSAGING_SERVICES.filter((service) => service !== 'payment-processor');
    for (const service of others) {
      for (const key of [forged.type, names.eventKey(forged.type, { source: 'session', payer: 'page' })])
        expect([service, await replyCode(service, publish(names.events, key, forged))]).toEqual([service, 403]);
      const queue = names.eventQueue('webhook-dispatcher');
      expect([service, await replyCode(service, publish('', queue, forged))]).toEqual([service, 403]);
    }
    await expectNothingOf(forged);
  });

  test('an event whose routing key and content have different types is a dead letter', async () => {
    const forged = anEvent('token-key.changed.v1');
    expect(await replyCode('hosted-gateway', publish(names.events, SessionCreatedV1.name, forged))).toBe(200);
    // RabbitMQ before 3.13 checks the first routing key only.
    const alsoAs = { CC: [forged.type] };
    await replyCode('hosted-gateway', publish(names.events, SessionCreatedV1.name, forged, alsoAs));
    const served = { ...anEvent('replay.served.v1', { type: forged.type }), id: forged.id };
    const replayedEventKey = names.replayedEventKey('payment-processor', SessionCreatedV1.name);
    expect(await replyCode('hosted-gateway', publish(names.replayedEvents, replayedEventKey, served))).toBe(200);
    const dead = await asAdministrator((channel) =>
      waitUntil('a dead letter', DEADLINE_MS, () =>
        channel.get(names.deadLetterQueue('payment-processor'), { noAck: true }),
      ),
    );
    expect(JSON.parse(dead.content.toString())).toMatchObject({ id: forged.id });
    await expectNothingOf(forged);
  });

  test('a dead letter is replayed if its sender owns its type, and a forged one is refused', async () => {
    await asAdministrator((channel) => channel.purgeQueue(names.deadLetterQueue('payment-processor')));
    const [own, forged] = [anEvent('token-key.changed.v1'), anEvent('token-key.changed.v1')];
    const sendAs = (service: MessagingService, event: EventEnvelope, userId?: string) =>
      replyCode(service, publish(names.deadLetters, 'payment-processor', event, userId ? { userId } : {}));
    expect(await sendAs('hosted-gateway', forged)).toBe(200);
    expect(await sendAs('hosted-gateway', forged, 'svc-hosted-gateway')).toBe(200);
    expect(await sendAs('hosted-gateway', forged, 'svc-identity')).toBe(406);
    expect(await sendAs('identity', own, 'svc-identity')).toBe(200);
    expect(await brokers.get('payment-processor')!.deadLetters.replay()).toEqual({ replayed: 1, refused: 2 });
    await expectReceived('payment-processor', [own.id]);
    await expectNothingOf(forged);
  });

  test.each(['hosted-gateway', 'code-decoder'] as const)(
    'an event that a queue of the %s dead-letters to the events exchange is a dead letter',
    async (service) => {
      const forged = anEvent('payment.succeeded.v1');
      expect(await replyCode(service, deadLetter(service, names.events, forged.type, forged))).toBe(200);
      const dead = await asAdministrator((channel) =>
        waitUntil('a dead letter', DEADLINE_MS, () =>
          channel.get(names.deadLetterQueue('webhook-dispatcher'), { noAck: true }),
        ),
      );
      expect(JSON.parse(dead.content.toString())).toMatchObject({ id: forged.id });
      await expectNothingOf(forged);
    },
  );

  test('a foreign command that is sent with a CC header, or dead-lettered, is not answered', async () => {
    const command = 'charge-card.v1';
    const [beside, deadLettered] = [anEvent(command), anEvent(command)];
    // RabbitMQ before 3.13 checks the first routing key only.
    const alsoAs = { CC: [command] };
    const isTaken =
      (await replyCode('code-decoder', publish(names.commands, 'open-payable.v1', beside, alsoAs))) === 200;
    expect(await replyCode('code-decoder', deadLetter('code-decoder', names.commands, command, deadLettered))).toBe(
      200,
    );
    const isRefusal = (warning: unknown): boolean => JSON.stringify(warning).includes(`"command":"${command}"`);
    await waitUntil('the refusals', DEADLINE_MS, () =>
      Promise.resolve(warnings.filter(isRefusal).length >= (isTaken ? 2 : 1)),
    );
    expect(answered).not.toContainEqual([command, expect.objectContaining({ id: beside.id })]);
    expect(answered).not.toContainEqual([command, expect.objectContaining({ id: deadLettered.id })]);
  });

  test.each(MESSAGING_SERVICES)(
    '%s cannot read, fill, purge, bind or delete a queue of another, or an exchange',
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
          publish('', queue, anEvent('payment.succeeded.v1')),
        ]),
        (channel) => channel.deleteExchange(names.events),
        (channel) => channel.deleteQueue(names.deadLetterQueue(service)),
        (channel) => channel.assertQueue('queue-of-its-own'),
      ];
      for (const attempt of attempts)
        expect([attempt.toString(), await replyCode(service, attempt)]).toEqual([attempt.toString(), 403]);
    },
  );

  test.each(consumers)('%s cannot bind its queue to a type, address, command or answer of another', async (service) => {
    const own = names.eventQueue(service);
    const foreign = MESSAGING_SERVICES.flatMap((name) => messagesOf(name).publishes).filter(
      (type) => !messagesOf(service).consumes.includes(type),
    );
    const bindings: [string, string][] = [
      ...['#', '*.*.*', 'payment.*.v1.#', ...foreign].map((key): [string, string] => [names.events, key]),
      [names.events, names.slotKey(messagesOf(service).consumes[0]!, (names.slotOf(service) + 1) % 256)],
      ...consumers
        .filter((name) => name !== service)
        .map((name): [string, string] => [names.replayedEvents, `${name}.#`]),
      [names.commands, '#'],
      [names.replies, '#'],
      [names.deadLetters, 'payment-processor'],
    ];
    for (const [exchange, key] of bindings)
      expect([key, await replyCode(service, (channel) => channel.bindQueue(own, exchange, key))]).toEqual([key, 403]);
  });

  test('a service can send only its own commands, and answers only if it handles commands', async () => {
    const event = anEvent('charge-card.v1');
    expect(await replyCode('webhook-dispatcher', publish(names.commands, 'charge-card.v1', event))).toBe(403);
    expect(await replyCode('code-decoder', publish(names.commands, 'charge-card.v1', event))).toBe(403);
    const queue = names.commandQueue('charge-card.v1');
    expect(await replyCode('code-decoder', publish('', queue, event))).toBe(403);
    const replies = names.replyQueue('hosted-gateway', randomUUID());
    expect(await replyCode('identity', publish(names.replies, replies, event))).toBe(403);
  });
});

describe('./svc, on a RabbitMQ that the caller runs', () => {
  const wish = { root: '/', directory: '/', port: 0, password: '', logFile: '', aptLog: '' };
  const renewed = Object.fromEntries(MESSAGING_SERVICES.map((name) => [name, randomUUID()])) as typeof passwords;

  test('uses one login for all services if it cannot create users, and says so', async () => {
    const given = await startOrFind({ ...wish, externalUrl: rabbitMq.url, passwords: renewed });
    expect(new Set(Object.values(given.urls))).toEqual(new Set([rabbitMq.url]));
    expect(given.description).toContain('all services share its login');
  });

  test('creates the users over its management API, and updates changed passwords', async () => {
    const { managementUrl: externalManagementUrl, url: externalUrl } = rabbitMq;
    const given = await startOrFind({ ...wish, externalUrl, externalManagementUrl, passwords: renewed });
    expect(given.urls).toEqual(urlsOfServices(externalUrl, renewed));
    expect(await tryLogin(given.urls.identity!)).toBe('accepted');
    expect(await tryLogin(urls.identity)).toBe('refused');
  });

  test('does not start if the management API refuses it', async () => {
    const { managementUrl, url: externalUrl } = rabbitMq;
    const externalManagementUrl = managementUrl.replace('guest:guest', 'guest:wrong');
    await expect(startOrFind({ ...wish, externalUrl, externalManagementUrl, passwords: renewed })).rejects.toThrow(
      / 401 /,
    );
  });
});
