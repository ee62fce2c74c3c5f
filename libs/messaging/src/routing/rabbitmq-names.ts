import { createHash } from 'node:crypto';

/*
 * Names of all exchanges, queues and routing keys on the broker, and the permissions of each service. This file imports
 * no other file, because tools use it without a build.
 */

/** Type of a message without effect. A publisher sends it to find the routing partitions that have a queue. */
export const PROBE = 'relay.probe.v1';
/** The last word of a routing key to all replicas that answer a command. */
const ALL_REPLICAS = 'all';
/** Regular expression for the ids of queues that belong to one connection, also used in permissions. */
const UUID = '[0-9a-f-]{36}';
/** Number of routing partitions: see {@link RabbitMqNames.partitionOf}. */
const ROUTING_PARTITIONS = 256;
/** Regular expression for service names, also used in permissions. */
const SERVICE_NAME = '[a-z-]+';
const MAX_SERVICE_NAME_LENGTH = 64;
/** Matches {@link SERVICE_NAME}, and is the name of no service. */
const NO_SERVICE = '-';
/** Matches {@link UUID}, and is the id of no replica. */
const NO_REPLICA = '00000000-0000-0000-0000-000000000000';
/** Length of a dead-letter queue. When it is full, the broker drops the oldest message. */
export const MAX_BROKER_DEAD_LETTERS = 100_000;
export const DEAD_LETTERS_ARGUMENTS = {
  'x-queue-type': 'quorum',
  'x-max-length': MAX_BROKER_DEAD_LETTERS,
  // Without this limit, RabbitMQ 4 would drop a dead letter after 20 failed replays. RabbitMQ 3 has no default
  // limit.
  'x-delivery-limit': 1_000_000,
} as const;

/**
 * The origin of a payment, which is a part of the event's routing key, so that a consumer can bind to the payments of
 * one origin.
 */
export interface EventOrigin {
  /** Kind of the payable: `session`, `invoice` or `code`. */
  readonly source: string;
  /** `page`: an anonymous payer on a hosted page. `partner`: an organisation. */
  readonly payer: 'page' | 'partner';
}

export class RabbitMqNames {
  readonly events: string;
  readonly replayedEvents: string;
  readonly deadLetters: string;
  readonly replayRequests: string;
  readonly commands: string;
  readonly replies: string;
  protected readonly namespace: string;

  /** The namespace lets several platforms (or tests) share a broker. */
  constructor(namespace = 'svc') {
    this.namespace = namespace;
    this.events = `${namespace}.events`;
    this.replayedEvents = `${namespace}.replayed-events`;
    this.deadLetters = `${namespace}.dead-letters`;
    this.replayRequests = `${namespace}.replays`;
    this.commands = `${namespace}.commands`;
    this.replies = `${namespace}.replies`;
  }

  /** Type of each exchange, by name. */
  get exchanges(): ReadonlyMap<string, 'topic' | 'direct'> {
    return new Map([
      [this.events, 'topic'],
      [this.replayedEvents, 'topic'],
      [this.deadLetters, 'direct'],
      [this.replayRequests, 'direct'],
      [this.commands, 'topic'],
      [this.replies, 'topic'],
    ]);
  }

  /**
   * Whether the name is a valid service name. If a routing key contained an invalid name, the broker would reject the
   * message and close the channel.
   */
  isServiceName(name: string): boolean {
    return name.length <= MAX_SERVICE_NAME_LENGTH && new RegExp(`^${SERVICE_NAME}$`).test(name);
  }
  eventQueue(service: string): string {
    return `${this.namespace}.${service}.events`;
  }
  replayedEventQueue(service: string): string {
    return `${this.namespace}.${service}.replayed-events`;
  }
  deadLetterQueue(service: string): string {
    return `${this.namespace}.${service}.dead-letters`;
  }
  replayRequestQueue(service: string): string {
    return `${this.namespace}.${service}.replays`;
  }
  /** The queue of one replica for the requests of one command. No other replica reads it (ADR 68). */
  commandQueue(command: string, replica: string): string {
    return `${this.commands}.${this.commandKey(command, replica)}`;
  }
  /** Routing key of a command to one replica, by the id of its queue, or to all replicas. */
  commandKey(command: string, replica = ALL_REPLICAS): string {
    return `${command}.${replica}`;
  }
  /** The queue for the replies to one process. Its name is also the routing key of the replies. */
  replyQueue(service: string, id: string): string {
    return `${this.namespace}.${service}.replies.${id}`;
  }
  /**
   * Whether the name is that of a reply queue. If a responder sent a reply to another address, the broker would close
   * the responder's channel.
   */
  isReplyQueue(name: string): boolean {
    return new RegExp(this.replyKeys(SERVICE_NAME)).test(name);
  }

  /**
   * A publisher does not know the names of its consumers, and the broker does not report which queue rejected a
   * message. Therefore each service has one of a fixed number of routing partitions, and a publisher can send messages
   * to each partition separately. If two services have the same partition, a full queue of one service delays the other
   * service.
   */
  partitionOf(service: string): number {
    return createHash('sha256').update(service).digest().readUInt32BE() % ROUTING_PARTITIONS;
  }
  get partitions(): readonly number[] {
    return Array.from({ length: ROUTING_PARTITIONS }, (_, partition) => partition);
  }

  /** Routing key of an event for all consumers. */
  eventKey(type: string, origin?: EventOrigin): string {
    return origin ? `${type}.from.${origin.source}.${origin.payer}` : type;
  }
  /** Routing key of an event that is only for the consumers of one routing partition. */
  partitionKey(type: string, partition: number, origin?: EventOrigin): string {
    return this.eventKey(`${type}.to.${partition}`, origin);
  }
  /** The binding keys for all events of a type, or only for the events of an origin. */
  bindingKeys(type: string, partition: number, origin?: Partial<EventOrigin>): string[] {
    const { source = '*', payer = '*' } = origin ?? {};
    const keys = [type, this.partitionKey(type, partition)];
    const keysWithOrigin = keys.map((key) => `${key}.from.${source}.${payer}`);
    return origin ? keysWithOrigin : [...keys, ...keysWithOrigin];
  }
  /** Routing key of a replayed event, or of the end of a replay, for the service that requested this type. */
  replayedEventKey(service: string, type: string): string {
    return `${service}.${type}`;
  }
  /** A routing key that needs the permission to publish the type, and that no queue is bound to. */
  unboundEventKey(type: string): string {
    return this.partitionKey(type, ROUTING_PARTITIONS);
  }
  /** A routing key that needs the permission to replay the type, and that no queue is bound to. */
  unboundReplayKey(type: string): string {
    return this.replayedEventKey(NO_SERVICE, type);
  }
  /** A routing key that needs the permission to send the command, and that no queue is bound to. */
  unboundCommandKey(command: string): string {
    return this.commandKey(command, NO_REPLICA);
  }
  /** The type in a routing key of the exchange of events. */
  typeOf(key: string): string | undefined {
    return /^.+?\.v\d+(?=\.|$)/.exec(key)?.[0];
  }

  /** @internal Regular expression for the names of the reply queues of a service. */
  replyKeys(service: string): string {
    return `^${escape(this.namespace)}\\.${service}\\.replies\\.${UUID}$`;
  }
  /** @internal Regular expressions for the names of the queues for these commands. */
  commandQueues(commands: readonly string[]): string[] {
    return commands.length > 0 ? [`^${escape(this.commands)}\\.${group(commands)}\\.${UUID}$`] : [];
  }
}

/**
 * The URLs in a list that is separated by commas: one for each node of a cluster. A comma in a password separates
 * nothing, because no `amqp://` follows it.
 */
export function parseBrokerUrls(list: string): string[] {
  return list.split(/,(?=\s*amqps?:\/\/)/).map((url) => url.trim());
}

/** The same fields as in `libs/contracts/src/service-messages.ts`, which this file must not import. */
interface Messages {
  readonly publishes: readonly string[];
  readonly consumes: readonly string[];
  readonly answers: readonly string[];
  readonly requests: readonly string[];
}

/**
 * Regular expressions. RabbitMQ matches them against the names of exchanges and queues and, for topic exchanges,
 * against routing keys.
 */
export interface Permissions {
  readonly configure: string;
  readonly write: string;
  readonly read: string;
  readonly topics: readonly { readonly exchange: string; readonly write: string; readonly read: string }[];
}

/**
 * The permissions of a service: only for its own queues, event types and commands. They exclude the default exchange,
 * because it can route to every queue. They also exclude the configuration of exchanges and dead-letter queues, because
 * a service could then delete them. An administrator imports their definitions.
 */
export function permissionsOf(names: RabbitMqNames, service: string, messages: Messages): Permissions {
  const { publishes, consumes, answers, requests } = messages;
  const valuesIfAny = (list: readonly string[], ...values: string[]): string[] => (list.length > 0 ? values : []);
  const replies = names.replyKeys(escape(service));
  const queues = [
    ...valuesIfAny(consumes, names.eventQueue(service), names.replayedEventQueue(service)),
    // Every relay declares this queue, even the relay of a service that publishes no events.
    ...valuesIfAny([...publishes, ...consumes, ...answers, ...requests], names.replayRequestQueue(service)),
  ];
  /** The queues whose names contain a random id. */
  const ownQueues = [...names.commandQueues(answers), ...valuesIfAny(requests, replies)];
  return {
    configure: anyOf(queues, ownQueues),
    write: anyOf(
      [
        ...queues,
        ...valuesIfAny(publishes, names.events, names.replayedEvents),
        // A service that declares a queue with a dead-letter exchange needs the write permission for that exchange.
        ...valuesIfAny(consumes, names.deadLetters, names.replayRequests),
        ...valuesIfAny(requests, names.commands),
        ...valuesIfAny(answers, names.replies),
      ],
      ownQueues,
    ),
    read: anyOf(
      [
        ...queues,
        ...valuesIfAny(consumes, names.events, names.replayedEvents, names.deadLetterQueue(service)),
        ...valuesIfAny(publishes, names.replayRequests),
        ...valuesIfAny(answers, names.commands),
        ...valuesIfAny(requests, names.replies),
      ],
      ownQueues,
    ),
    // A topic exchange without an entry here would allow every routing key.
    topics: [
      {
        exchange: names.events,
        write: publishedKeys(publishes),
        read: boundKeys(consumes, names.partitionOf(service)),
      },
      {
        exchange: names.replayedEvents,
        write: publishes.length > 0 ? `^${SERVICE_NAME}\\.${group(publishes)}$` : NONE,
        read: consumes.length > 0 ? `^${escape(service)}\\.#$` : NONE,
      },
      { exchange: names.commands, write: commandKeys(requests), read: commandKeys(answers) },
      {
        exchange: names.replies,
        // This allows the reply queues of all services. Their ids are random, and only services that received a request
        // know them.
        write: answers.length > 0 ? names.replyKeys(SERVICE_NAME) : NONE,
        read: anyOf([], valuesIfAny(requests, replies)),
      },
    ],
  };
}

/** Matches only the empty name, which no exchange, queue or routing key has here. */
const NONE = '^$';

function publishedKeys(types: readonly string[]): string {
  if (types.length === 0) return NONE;
  return `^(${group(types)}(\\.to\\.\\d+)?(\\.from\\.[a-z]+\\.[a-z]+)?|${escape(PROBE)}\\.to\\.\\d+)$`;
}

function boundKeys(types: readonly string[], partition: number): string {
  if (types.length === 0) return NONE;
  const word = '(\\*|[a-z]+)';
  return `^(${group(types)}(\\.to\\.${partition})?(\\.from\\.${word}\\.${word})?|${escape(PROBE)}\\.to\\.${partition})$`;
}

function commandKeys(commands: readonly string[]): string {
  return commands.length > 0 ? `^${group(commands)}\\.(${ALL_REPLICAS}|${UUID})$` : NONE;
}

function anyOf(names: readonly string[], patterns: readonly string[] = []): string {
  const alternatives = [...(names.length > 0 ? [`^${group(names)}$`] : []), ...patterns];
  return alternatives.length > 0 ? alternatives.join('|') : NONE;
}

function group(names: readonly string[]): string {
  return `(${names.map(escape).join('|')})`;
}

function escape(text: string): string {
  return text.replaceAll('.', '\\.');
}
