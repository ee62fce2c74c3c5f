/**
 * RabbitMQ's definitions (JSON): a user for each service, with the permissions that follow from
 * `libs/contracts/src/service-messages.ts`, and the exchanges and queues that no service may create or delete. A
 * repeated import updates passwords and permissions.
 */
import {
  MESSAGING_SERVICES,
  type MessagingService,
  SERVICE_MESSAGES,
} from '../../../libs/contracts/src/service-messages.ts';
import {
  DEAD_LETTERS_ARGUMENTS,
  parseBrokerUrls,
  permissionsOf,
  RabbitMqNames,
} from '../../../libs/messaging/src/routing/rabbitmq-names.ts';

interface BrokerUsers {
  readonly vhost: string;
  /** Without passwords the definitions contain no users, because the operator of the broker creates the users. */
  readonly passwords?: Readonly<Record<MessagingService, string>>;
  /** Required when a new broker loads the definitions at its start, because it then creates no default user. */
  readonly administrator?: { readonly name: string; readonly password: string };
}

/** Users belong to the whole server, so each virtual host needs its own user names. */
export function brokerUserOf(service: MessagingService, vhost: string): string {
  return vhost === '/' ? `svc-${service}` : `svc-${service}@${vhost}`;
}

/** For `load_definitions`, `rabbitmqctl import_definitions` or `POST /api/definitions`. */
export function definitionsOf({ vhost, passwords, administrator }: BrokerUsers): object {
  const names = new RabbitMqNames();
  const permissions = MESSAGING_SERVICES.map((service) => ({
    user: brokerUserOf(service, vhost),
    ...permissionsOf(names, service, SERVICE_MESSAGES[service]),
  }));
  const deadLetters = MESSAGING_SERVICES.filter((service) => SERVICE_MESSAGES[service].consumes.length > 0);
  return {
    vhosts: [{ name: vhost }],
    ...(passwords === undefined ? {} : { users: createUsers(passwords, vhost, administrator) }),
    permissions: [
      ...(administrator === undefined
        ? []
        : [{ user: administrator.name, vhost, configure: '.*', write: '.*', read: '.*' }]),
      ...permissions.map(({ user, configure, write, read }) => ({ user, vhost, configure, write, read })),
    ],
    topic_permissions: permissions.flatMap(({ user, topics }) => topics.map((topic) => ({ user, vhost, ...topic }))),
    exchanges: [...names.exchanges].map(([name, type]) => {
      return { name, vhost, type, durable: true, auto_delete: false, internal: false, arguments: {} };
    }),
    queues: deadLetters.map((service) => {
      const name = names.deadLetterQueue(service);
      return { name, vhost, durable: true, auto_delete: false, arguments: DEAD_LETTERS_ARGUMENTS };
    }),
    bindings: deadLetters.map((service) => ({
      source: names.deadLetters,
      vhost,
      destination: names.deadLetterQueue(service),
      destination_type: 'queue',
      routing_key: service,
      arguments: {},
    })),
  };
}

/**
 * The URL for each service: `url` with the user and password of that service. For a cluster, `url` and the result are
 * lists with a URL for each node.
 */
export function urlsOfServices(
  url: string,
  passwords: Readonly<Record<MessagingService, string>>,
): Record<MessagingService, string> {
  const urls = MESSAGING_SERVICES.map((service) => {
    const ofNodes = parseBrokerUrls(url).map((ofNode) => {
      const serviceUrl = new URL(ofNode);
      serviceUrl.username = encodeURIComponent(brokerUserOf(service, vhostOf(url)));
      serviceUrl.password = encodeURIComponent(passwords[service]);
      return serviceUrl.href;
    });
    return [service, ofNodes.join()] as const;
  });
  return Object.fromEntries(urls) as Record<MessagingService, string>;
}

export function vhostOf(url: string): string {
  const path = new URL(parseBrokerUrls(url)[0]!).pathname;
  return path === '' || path === '/' ? '/' : decodeURIComponent(path.slice(1));
}

function createUsers(
  passwords: NonNullable<BrokerUsers['passwords']>,
  vhost: string,
  administrator: BrokerUsers['administrator'],
): object[] {
  const services = MESSAGING_SERVICES.map((service) => {
    return { name: brokerUserOf(service, vhost), password: passwords[service], tags: [] };
  });
  return administrator === undefined ? services : [{ ...administrator, tags: ['administrator'] }, ...services];
}
