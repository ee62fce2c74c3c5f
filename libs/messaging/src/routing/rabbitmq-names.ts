import { createHash } from 'node:crypto';

/*
 * Names of everything on the broker, and the permissions that follow from them. Imports no other file: tools read it
 * without a build.
 */

/** Type of a message without an effect, by which a publisher finds the slots that have a queue. */
export const PROBE = 'relay.probe.v1';
const SLOTS = 256;
/** As regular expression, in permissions too. */
const SERVICE_NAME = '[a-z-]+';
const SERVICE_NAME_LENGTH_MAX = 64;
/** Beyond it the oldest are dropped. */
export const DEAD_LETTERS_MAX = 100_000;
export const DEAD_LETTERS_ARGUMENTS = {
  'x-queue-type': 'quorum',
  'x-max-length': DEAD_LETTERS_MAX,
  // RabbitMQ 4 would drop a dead letter after 20 replays that failed; before it no number means no limit.
  'x-delivery-limit': 1_000_000,
} as const;

/** What the routing key of a payment says beside its type, so that a consumer can bind to a part of the payments. */
export interface EventOrigin {
  /** Kind of what is paid: `session`, `invoice` or `code`. */
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

  /** One that publishers may send replays to, and answers: to another name the broker refuses it, and closes the channel. */
  isServiceName(name: string): boolean {
    return name.length <= SERVICE_NAME_LENGTH_MAX && new RegExp(`^${SERVICE_NAME}$`).test(name);
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
  /** Of one process, also the routing key of what is sent to it. */
  replyQueue(service: string, id: string): string {
    return `${this.namespace}.${service}.replies.${id}`;
  }
  /** A responder sends nothing to another address: the broker would close its channel. */
  isReplyQueue(name: string): boolean {
    return new RegExp(this.replyKeys(SERVICE_NAME)).test(name);
  }

  /**
   * A publisher does not know the names of its consumers, and a queue that refuses a message is not named either. So each
   * service has one of a fixed number of addresses, which a publisher can go through. Two services with the same one share
   * their trouble, and nothing else.
   */
  slotOf(service: string): number {
    return createHash('sha256').update(service).digest().readUInt32BE() % SLOTS;
  }
  get slots(): readonly number[] {
    return Array.from({ length: SLOTS }, (_, slot) => slot);
  }

  /** Routing key of an event for everybody. */
  eventKey(type: string, origin?: EventOrigin): string {
    return origin ? `${type}.from.${origin.source}.${origin.payer}` : type;
  }
  /** Routing key of an event for one slot alone. */
  addressed(type: string, slot: number, origin?: EventOrigin): string {
    return this.eventKey(`${type}.to.${slot}`, origin);
  }
  /** The keys a service binds its queue with to get all events of a type, or only those of an origin. */
  bindingKeys(type: string, slot: number, origin?: Partial<EventOrigin>): string[] {
    const { source = '*', payer = '*' } = origin ?? {};
    const [all, address] = [type, this.addressed(type, slot)];
    const keys = [all, address].map((key) => `${key}.from.${source}.${payer}`);
    // Every event has its plain type as a key, too.
    return origin ? keys : [...keys, all, address];
  }
  /** Routing key of an old event, or of the end of them, for the service that requested this type. */
  pastKey(service: string, type: string): string {
    return `${service}.${type}`;
  }
  /** The type that a routing key of the exchange of events stands for. */
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
 * What a service may do: its own queues, its own types and commands, and nothing else. Not the default exchange, which
 * reaches every queue. It configures no exchange and
 * no dead-letter queue either, since that includes deleting it: an administrator imports them.
 */
export function permissionsOf(names: RabbitMqNames, service: string, messages: Messages): Permissions {
  const { publishes, consumes, answers, requests } = messages;
  const some = (condition: readonly string[], ...values: string[]): string[] => (condition.length > 0 ? values : []);
  const replies = names.replyKeys(escape(service));
  const queues = [
    ...some(consumes, names.eventQueue(service), names.pastQueue(service)),
    // Also of a service that publishes nothing: every relay declares it.
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
        // Of a queue that has a dead-letter exchange, the broker requires it from the service that declares the queue.
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
    // A topic exchange without such a line would allow every key.
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
        // The id of a reply queue is known only to the process that reads it and to those it sent a request.
        write: answers.length > 0 ? names.replyKeys(SERVICE_NAME) : NONE,
        read: anyOf([], replyQueues),
      },
    ],
  };
}

/** Matches no name: those of resources and keys are never empty here. */
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
