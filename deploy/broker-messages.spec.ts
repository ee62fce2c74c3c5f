/** The permissions of the services' RabbitMQ users come from one table, which must match the code exactly. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICE_MESSAGES, type ServiceMessages } from '@svc/contracts';
import { parse } from 'yaml';
import { makeSecrets, withMissingSecrets } from '../docker/secrets.ts';
import { MESSAGING_SERVICES } from '../libs/contracts/src/service-messages.ts';
import { permissionsOf, RabbitMqNames } from '../libs/messaging/src/routing/rabbitmq-names.js';
import { brokerUserOf, definitionsOf, urlsOfServices } from '../tools/svc/rabbitmq/rabbitmq-users.ts';
import { messagesInCode, messagesInContracts } from './checks/messages.ts';

const code = messagesInCode();
const table: Readonly<Record<string, ServiceMessages>> = SERVICE_MESSAGES;
const all = (of: keyof ServiceMessages): string[] => Object.values(table).flatMap((messages) => messages[of]);

test('the table lists exactly the messages that the code sends and handles', () => {
  expect(Object.keys(table).toSorted()).toEqual([...code.keys()].toSorted());
  for (const [service, messages] of code) expect({ service, ...table[service] }).toEqual({ service, ...messages });
});

test('every event type has one publisher, every command one service that answers it', () => {
  const owned = [...all('publishes'), ...all('answers')];
  expect(owned.toSorted()).toEqual(messagesInContracts());
  expect(owned).toEqual(expect.arrayContaining([...all('consumes'), ...all('requests')]));
});

describe('permissions from the table', () => {
  const names = new RabbitMqNames();
  const topicOf = (messages: ServiceMessages, exchange: string) =>
    permissionsOf(names, 'identity', messages).topics.find((topic) => topic.exchange === exchange)!;
  const nothing: ServiceMessages = { publishes: [], consumes: [], answers: [], requests: [] };
  const origin = { source: 'session', payer: 'partner' } as const;
  const slot = names.slotOf('identity');

  test('a service without messages has no permission', () => {
    const { configure, write, read, topics } = permissionsOf(names, 'identity', nothing);
    const patterns = [configure, write, read, ...topics.flatMap((topic) => [topic.write, topic.read])];
    for (const pattern of patterns) expect(pattern).toBe('^$');
  });

  test('every topic exchange has its permission: without one the broker allows every key', () => {
    const topics = [...names.exchanges].flatMap(([name, type]) => (type === 'topic' ? [name] : []));
    expect(permissionsOf(names, 'identity', nothing).topics.map(({ exchange }) => exchange)).toEqual(topics);
  });

  test.each([
    ['thing.made.v1', true],
    [names.eventKey('thing.made.v1', origin), true],
    [names.slotKey('thing.made.v1', 17), true],
    [names.slotKey('thing.made.v1', 17, origin), true],
    ['thing.made.v10', false],
    ['thing-made.v1', false],
    ['other.made.v1', false],
    ['other.thing.made.v1', false],
    ['thing.made.v1.other', false],
  ])('a publisher of one type may use the key %s: %s', (key, expected) => {
    const { write } = topicOf({ ...nothing, publishes: ['thing.made.v1'] }, names.events);
    expect(new RegExp(write).test(key)).toBe(expected);
  });

  test.each<readonly [string, boolean]>([
    ...names.bindingKeys('thing.made.v1', slot).map((key) => [key, true] as const),
    ['thing.made.v1.from.session.*', true],
    ['thing.made.v1.from.*.partner', true],
    [names.slotKey('thing.made.v1', slot + 1), false],
    ['thing.made.v1.#', false],
    ['thing.*.v1', false],
    ['#', false],
  ])('a consumer of one type may bind to %s: %s', (key, expected) => {
    const { read } = topicOf({ ...nothing, consumes: ['thing.made.v1'] }, names.events);
    expect(new RegExp(read).test(key)).toBe(expected);
  });
});

describe('the deployed definitions', () => {
  test('compose and ./svc give RabbitMQ the same definitions, with the secrets of docker/.env', () => {
    const secrets: Record<string, string> = makeSecrets();
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

  test('docker/.env of an earlier release keeps its secrets and gets the missing ones', () => {
    const all = withMissingSecrets('');
    const earlier = all.replace(/^\w+_RABBITMQ_PASSWORD=.*\n/gm, '');
    expect(earlier).not.toBe(all);
    const now = withMissingSecrets(earlier);
    expect(now.startsWith(earlier)).toBe(true);
    expect(now.split('\n')).toHaveLength(all.split('\n').length);
    expect(withMissingSecrets(now)).toBe(now);
  });

  test('a user belongs to one virtual host, which is in its URL', () => {
    const passwords = Object.fromEntries(MESSAGING_SERVICES.map((service) => [service, 'a/b'])) as Parameters<
      typeof urlsOfServices
    >[1];
    const { identity } = urlsOfServices('amqps://admin:secret@broker:5671/test', passwords);
    expect(brokerUserOf('identity', 'test')).toBe('svc-identity@test');
    expect(identity).toBe('amqps://svc-identity%40test:a%2Fb@broker:5671/test');
    expect(JSON.stringify(definitionsOf({ vhost: 'test', passwords }))).not.toContain('"/"');
  });
});
