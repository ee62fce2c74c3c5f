/**
 * The permissions of the services' RabbitMQ users are derived from the table SERVICE_MESSAGES, which must match the
 * code exactly.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICE_MESSAGES, type ServiceMessages } from '@svc/contracts';
import { parse } from 'yaml';
import { addMissingSecrets, createSecrets } from '../docker/secrets.ts';
import { MESSAGING_SERVICES } from '../libs/contracts/src/service-messages.ts';
import { permissionsOf, RabbitMqNames } from '../libs/messaging/src/routing/rabbitmq-names.js';
import { brokerUserOf, definitionsOf, urlsOfServices } from '../tools/svc/rabbitmq/rabbitmq-users.ts';
import { listAllMessages, readMessages } from './checks/messages.ts';

const messagesInCode = readMessages();
const table: Readonly<Record<string, ServiceMessages>> = SERVICE_MESSAGES;
const allMessages = (kind: keyof ServiceMessages): string[] =>
  Object.values(table).flatMap((messages) => messages[kind]);

test('SERVICE_MESSAGES lists exactly the messages that the code of each service sends and handles', () => {
  expect(Object.keys(table).toSorted()).toEqual([...messagesInCode.keys()].toSorted());
  for (const [service, messages] of messagesInCode)
    expect({ service, ...table[service] }).toEqual({ service, ...messages });
});

test('every event type has one publisher, and every command has one service that handles it', () => {
  const ownedMessages = [...allMessages('publishes'), ...allMessages('answers')];
  expect(ownedMessages.toSorted()).toEqual(listAllMessages());
  expect(ownedMessages).toEqual(expect.arrayContaining([...allMessages('consumes'), ...allMessages('requests')]));
});

describe('permissionsOf', () => {
  const names = new RabbitMqNames();
  const topicPermission = (messages: ServiceMessages, exchange: string) =>
    permissionsOf(names, 'identity', messages).topics.find((topic) => topic.exchange === exchange)!;
  const noMessages: ServiceMessages = { publishes: [], consumes: [], answers: [], requests: [] };
  const origin = { source: 'session', payer: 'partner' } as const;
  /** One of 256 numbers. A publisher adds it to a routing key to reach only the services with this number. */
  const partition = names.partitionOf('identity');
  const ANY_PARTITION = 17;

  test('returns no permission for a service without messages', () => {
    const { configure, write, read, topics } = permissionsOf(names, 'identity', noMessages);
    const patterns = [configure, write, read, ...topics.flatMap((topic) => [topic.write, topic.read])];
    for (const pattern of patterns) expect(pattern).toBe('^$');
  });

  test('restricts every topic exchange, because RabbitMQ otherwise allows every routing key', () => {
    const topics = [...names.exchanges].flatMap(([name, type]) => (type === 'topic' ? [name] : []));
    expect(permissionsOf(names, 'identity', noMessages).topics.map(({ exchange }) => exchange)).toEqual(topics);
  });

  test.each([
    ['order.created.v1', 'allowed'],
    [names.eventKey('order.created.v1', origin), 'allowed'],
    [names.partitionKey('order.created.v1', ANY_PARTITION), 'allowed'],
    [names.partitionKey('order.created.v1', ANY_PARTITION, origin), 'allowed'],
    ['order.created.v10', 'refused'],
    ['order-created.v1', 'refused'],
    ['invoice.created.v1', 'refused'],
    ['shop.order.created.v1', 'refused'],
    ['order.created.v1.copy', 'refused'],
  ])('for a publisher of order.created.v1: the routing key %s is %s', (key, expected) => {
    const { write } = topicPermission({ ...noMessages, publishes: ['order.created.v1'] }, names.events);
    expect(new RegExp(write).test(key) ? 'allowed' : 'refused').toBe(expected);
  });

  test('allows the keys with which a service checks its permissions, for its own messages only', () => {
    const messages = { ...noMessages, publishes: ['order.created.v1'], requests: ['charge.v1'] };
    const allowed = (exchange: string, key: string): boolean =>
      new RegExp(topicPermission(messages, exchange).write).test(key);
    expect(allowed(names.events, names.unboundEventKey('order.created.v1'))).toBe(true);
    expect(allowed(names.events, names.unboundEventKey('invoice.created.v1'))).toBe(false);
    expect(allowed(names.replayedEvents, names.unboundReplayKey('order.created.v1'))).toBe(true);
    expect(allowed(names.replayedEvents, names.unboundReplayKey('invoice.created.v1'))).toBe(false);
    expect(allowed(names.commands, names.commandKey('charge.v1'))).toBe(true);
    expect(allowed(names.commands, names.unboundCommandKey('charge.v1'))).toBe(true);
    expect(allowed(names.commands, names.unboundCommandKey('refund.v1'))).toBe(false);
    // No queue is bound to the keys, so that no service receives the empty messages.
    expect(names.partitions.map((partition) => names.partitionKey('order.created.v1', partition))).not.toContain(
      names.unboundEventKey('order.created.v1'),
    );
  });

  test.each<readonly [string, 'allowed' | 'refused']>([
    ...names.bindingKeys('order.created.v1', partition).map((key) => [key, 'allowed'] as const),
    ['order.created.v1.from.session.*', 'allowed'],
    ['order.created.v1.from.*.partner', 'allowed'],
    [names.partitionKey('order.created.v1', partition + 1), 'refused'],
    ['order.created.v1.#', 'refused'],
    ['order.*.v1', 'refused'],
    ['#', 'refused'],
  ])('for a consumer of order.created.v1: the binding %s is %s', (key, expected) => {
    const { read } = topicPermission({ ...noMessages, consumes: ['order.created.v1'] }, names.events);
    expect(new RegExp(read).test(key) ? 'allowed' : 'refused').toBe(expected);
  });
});

describe('the definitions of RabbitMQ users', () => {
  test('are the same in compose, with the secrets of docker/.env, and in ./svc', () => {
    const secrets: Record<string, string> = createSecrets();
    const text = readFileSync(join(import.meta.dirname, '../docker/rabbitmq-users.yaml'), 'utf8');
    const { configs } = parse(text) as { configs: Record<string, { content: string }> };
    const content = configs['rabbitmq-definitions']!.content.replaceAll(
      /(?<!\$)\$\{(\w+):[^}]+\}/g,
      (_, name: string) => secrets[name]!,
    ).replaceAll('$$', '$');
    const passwords = Object.fromEntries(
      MESSAGING_SERVICES.map((service) => [
        service,
        secrets[`${service.toUpperCase().replaceAll('-', '_')}_RABBITMQ_PASSWORD`]!,
      ]),
    ) as Parameters<typeof urlsOfServices>[1];
    const administrator = { name: 'svc', password: secrets['RABBITMQ_PASSWORD']! };
    expect(JSON.parse(content)).toEqual(
      JSON.parse(JSON.stringify(definitionsOf({ vhost: '/', passwords, administrator }))),
    );
  });

  test('contain passwords that addMissingSecrets also adds to the docker/.env of an earlier release', () => {
    const completeFile = addMissingSecrets('');
    const earlierFile = completeFile.replace(/^\w+_RABBITMQ_PASSWORD=.*\n/gm, '');
    expect(earlierFile).not.toBe(completeFile);
    const updatedFile = addMissingSecrets(earlierFile);
    expect(updatedFile.startsWith(earlierFile)).toBe(true);
    expect(updatedFile.split('\n')).toHaveLength(completeFile.split('\n').length);
    expect(addMissingSecrets(updatedFile)).toBe(updatedFile);
  });

  test('name each user after its service and virtual host', () => {
    const passwords = Object.fromEntries(MESSAGING_SERVICES.map((service) => [service, 'a/b'])) as Parameters<
      typeof urlsOfServices
    >[1];
    const { identity } = urlsOfServices('amqps://admin:secret@broker:5671/test', passwords);
    expect(brokerUserOf('identity', 'test')).toBe('svc-identity@test');
    expect(identity).toBe('amqps://svc-identity%40test:a%2Fb@broker:5671/test');
    expect(JSON.stringify(definitionsOf({ vhost: 'test', passwords }))).not.toContain('"/"');
  });
});
