import { createHash } from 'node:crypto';

/*
 * Names of everything on the broker, and the permissions that follow from them. Imports no other file: tools read it
 * without a build.
 */

/** Type of a message without an effect, with which a publisher finds the slots that have a queue. */
export const PROBE = 'relay.probe.v1';
const SLOTS = 256;
/** A regular expression, also used in permissions. */
const SERVICE_NAME = '[a-z-]+';
const MAX_SERVICE_NAME_LENGTH = 64;
/** Beyond it the broker drops the oldest. */
export const MAX_BROKER_DEAD_LETTERS = 100_000;
export const DEAD_LETTERS_ARGUMENTS = {
  'x-queue-type': 'quorum',
  'x-max-length': MAX_BROKER_DEAD_LETTERS,
  // RabbitMQ 4 would drop a dead letter after 20 failed replays; earlier releases have no limit unless one is set.
  'x-delivery-limit': 1_000_000,
} as const;

/** The part of a payment's routing key after the type, so that a consumer can bind to some of the payments. */
export interface EventOrigin {
  /** Kind of the payable: `session`, `invoice` or `code`. */
  readonly source: string;
  /** `page`: an anonymous payer on a hosted page; `partner`: an organisation. */
  readonly payer: 'page' | 'partner';
}

export class RabbitMqNames {
  readonly events: string;
  readonly past: string;
  readonly deadLetters: string;
  readonly replays: string;
  readonly commands: string;
  readonly replies: string;
  protected readonly namespace: string;

  /** The namespace lets several platforms (or tests) share a broker. */
  constructor(namespace = 'svc') {
    this.namespace = namespace;
    this.events = `${namespace}.events`;
    this.past = `${namespace}.past`;
    this.deadLetters = `${namespace}.dead-letters`;
    this.replays = `${namespace}.replays`;
    this.commands = `${namespace}.commands`;
    this.replies = `${namespace}.replies`;
  }

  /** Type of each exchange, by name. */
  get exchanges(): ReadonlyMap<string, 'topic' | 'direct'> {
    return new Map([
      [this.events, 'topic'],
      [this.past, 'topic'],
      [this.deadLetters, 'direct'],
      [this.replays, 'direct'],
      [this.commands, 'topic'],
      [this.replies, 'topic'],
    ]);
  }

  /** Whether publishers may send replays to it: for any other name the broker rejects the message and closes the channel. */
  isServiceName(name: string): boolean {
    return name.length <= MAX_SERVICE_NAME_LENGTH && new RegExp(`^${SERVICE_NAME}$`).test(name);
  }
  eventQueue(service: string): string {
    return `${this.namespace}.${service}.events`;
  }
  pastQueue(service: string): string {
    return `${this.namespace}.${service}.past`;
  }
  deadLetterQueue(service: string): string {
    return `${this.namespace}.${service}.dead-letters`;
  }
  replayQueue(service: string): string {
    return `${this.namespace}.${service}.replays`;
  }
  commandQueue(command: string): string {
    return `${this.namespace}.commands.${command}`;
  }
  /** Queue of one process, and also the routing key of its replies. */
  replyQueue(service: string, id: string): string {
    return `${this.namespace}.${service}.replies.${id}`;
  }
  /** A responder replies to no other address: the broker would close its channel. */
  isReplyQueue(name: string): boolean {
    return new RegExp(this.replyKeys(SERVICE_NAME)).test(name);
  }

  /**
   * A publisher does not know the names of its consumers, and the broker does not name a queue that rejects a message. So each
   * service has one of a fixed number of slots, and a publisher can iterate over all slots. If two services share a slot, a full
   * queue of one only delays the other.
   */
  slotOf(service: string): number {
    return createHash('sha256').update(service).digest().readUInt32BE() % SLOTS;
  }
  get slots(): readonly number[] {
    return Array.from({ length: SLOTS }, (_, slot) => slot);
  }

  /** Routing key of an event for all consumers. */
  eventKey(type: string, origin?: EventOrigin): string {
    return origin ? `${type}.from.${origin.source}.${origin.payer}` : type;
  }
  /** Routing key of an event for one slot alone. */
  addressed(type: string, slot: number, origin?: EventOrigin): string {
    return this.eventKey(`${type}.to.${slot}`, origin);
  }
  /** The binding keys for all events of a type, or only for those of an origin. */
  bindingKeys(type: string, slot: number, origin?: Partial<EventOrigin>): string[] {
    const { source = '*', payer = '*' } = origin ?? {};
    const [all, address] = [type, this.addressed(type, slot)];
    const keys = [all, address].map((key) => `${key}.from.${source}.${payer}`);
    // Every event also has its plain type as a key.
    return origin ? keys : [...keys, all, address];
  }
  /** Routing key of a replayed event, or of the end of a replay, for the service that requested this type. */
  pastKey(service: string, type: string): string {
    return `${service}.${type}`;
  }
  /** The type in a routing key of the exchange of events. */
  typeOf(key: string): string | undefined {
    return /^.+?\.v\d+(?=\.|$)/.exec(key)?.[0];
  }

  /** @internal */
  replyKeys(service: string): string {
    return `^${escape(this.namespace)}\\.${service}\\.replies\\.[0-9a-f-]{36}$`;
  }
}

/** As in `libs/contracts/src/service-messages.ts`. */
interface Messages {
  readonly publishes: readonly string[];
  readonly consumes: readonly string[];
  readonly answers: readonly string[];
  readonly requests: readonly string[];
}

/** Regular expressions, as RabbitMQ matches them against names of resources and, of topic exchanges, against routing keys. */
export interface Permissions {
  readonly configure: string;
  readonly write: string;
  readonly read: string;
  readonly topics: readonly { readonly exchange: string; readonly write: string; readonly read: string }[];
}

/**
 * The permissions of a service: its own queues, its own types and commands, and nothing else. Not the default exchange, which
 * reaches every queue. It may not configure exchanges and dead-letter queues either, since that includes deleting them: an
 * administrator imports them.
 */
export function permissionsOf(names: RabbitMqNames, service: string, messages: Messages): Permissions {
  const { publishes, consumes, answers, requests } = messages;
  const some = (condition: readonly string[], ...values: string[]): string[] => (condition.length > 0 ? values : []);
  const replies = names.replyKeys(escape(service));
  const queues = [
    ...some(consumes, names.eventQueue(service), names.pastQueue(service)),
    // Also for a service that publishes nothing: every relay declares it.
    ...some([...publishes, ...consumes, ...answers, ...requests], names.replayQueue(service)),
    ...answers.map((command) => names.commandQueue(command)),
  ];
  const replyQueues = some(requests, replies);
  return {
    configure: anyOf(queues, replyQueues),
    write: anyOf(
      [
        ...queues,
        ...some(publishes, names.events, names.past),
        // The broker requires it from the service that declares a queue with a dead-letter exchange.
        ...some(consumes, names.deadLetters, names.replays),
        ...some(requests, names.commands),
        ...some(answers, names.replies),
      ],
      replyQueues,
    ),
    read: anyOf(
      [
        ...queues,
        ...some(consumes, names.events, names.past, names.deadLetterQueue(service)),
        ...some(publishes, names.replays),
        ...some(answers, names.commands),
        ...some(requests, names.replies),
      ],
      replyQueues,
    ),
    // A topic exchange without such an entry would allow every key.
    topics: [
      { exchange: names.events, write: publishedKeys(publishes), read: boundKeys(consumes, names.slotOf(service)) },
      {
        exchange: names.past,
        write: publishes.length > 0 ? `^${SERVICE_NAME}\\.${group(publishes)}$` : NONE,
        read: consumes.length > 0 ? `^${escape(service)}\\.#$` : NONE,
      },
      { exchange: names.commands, write: anyOf(requests), read: anyOf(answers) },
      {
        exchange: names.replies,
        // Only the process that reads a reply queue, and the services it sent a request to, know its id.
        write: answers.length > 0 ? names.replyKeys(SERVICE_NAME) : NONE,
        read: anyOf([], replyQueues),
      },
    ],
  };
}

/** Matches no name: names of resources and keys are never empty here. */
const NONE = '^$';

function publishedKeys(types: readonly string[]): string {
  if (types.length === 0) return NONE;
  return `^(${group(types)}(\\.to\\.\\d+)?(\\.from\\.[a-z]+\\.[a-z]+)?|${escape(PROBE)}\\.to\\.\\d+)$`;
}

function boundKeys(types: readonly string[], slot: number): string {
  if (types.length === 0) return NONE;
  const word = '(\\*|[a-z]+)';
  return `^(${group(types)}(\\.to\\.${slot})?(\\.from\\.${word}\\.${word})?|${escape(PROBE)}\\.to\\.${slot})$`;
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
