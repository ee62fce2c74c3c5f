import { DomainError } from '@svc/kernel';
import { isWanted } from '../routing/event-origin.js';
import type { Broker, Past, RelayTarget, ReplayRequest, Responder, Subscriber, Subscription } from './broker.js';

/**
 * All services in one process: a relay hands its batches straight to the consumers and a command is a call. Nothing works
 * here that would not work between processes: a command is copied through JSON, and events, which were read from JSON,
 * are frozen, since all consumers are given the same ones.
 */
export class EmbeddedBroker implements Broker {
  private readonly subscribed = new Map<string, RelayTarget>();
  private readonly responders = new Map<string, Responder>();
  private readonly watchers = new Set<() => void>();
  private readonly publishers = new Set<Publisher>();

  readonly past: Past = {
    isMissed: false,
    ask: async (request) => {
      let asked = false;
      for (const { accept, hasPublished } of this.publishers) {
        if (!(await hasPublished(request.type))) continue;
        await accept(copy(request));
        asked = true;
      }
      return asked;
    },
    answer: (accept, hasPublished) => {
      const publisher = { accept, hasPublished };
      this.publishers.add(publisher);
      return Promise.resolve({ close: () => Promise.resolve(void this.publishers.delete(publisher)) });
    },
    deliver: async (service, events) => {
      const target = this.subscribed.get(service);
      // It is being stopped, or not there yet: the request is kept, and served when it is.
      if (!target) throw new Error(`${service} is not there.`);
      await target.deliver(events);
      return true;
    },
  };

  targets(): readonly RelayTarget[] {
    return [...this.subscribed.values()];
  }

  watchTargets(changed: () => void): () => void {
    this.watchers.add(changed);
    return () => this.watchers.delete(changed);
  }

  subscribe(subscriber: Subscriber): Promise<Subscription> {
    if (this.subscribed.has(subscriber.name)) throw new Error(`${subscriber.name} is subscribed already.`);
    const underWay = new Set<Promise<void>>();
    let closed = false;
    this.subscribed.set(subscriber.name, {
      name: subscriber.name,
      types: subscriber.types,
      gatherMs: subscriber.gatherMs ?? 0,
      deliver: async (events) => {
        if (closed) throw new Error(`${subscriber.name} has stopped.`);
        const { origins } = subscriber;
        const wanted = origins ? events.filter((event) => isWanted(event, origins)) : events;
        if (wanted.length === 0) return;
        const delivery = subscriber.deliver(wanted.map(frozen));
        underWay.add(delivery);
        await delivery.finally(() => underWay.delete(delivery));
      },
    });
    this.tellWatchers();
    return Promise.resolve({
      close: async () => {
        closed = true;
        this.subscribed.delete(subscriber.name);
        this.tellWatchers();
        await Promise.allSettled(underWay);
      },
    });
  }

  respond(command: string, answer: Responder): Promise<Subscription> {
    if (this.responders.has(command)) throw new Error(`${command} is answered already.`);
    const underWay = new Set<Promise<unknown>>();
    this.responders.set(command, (payload) => {
      const reply = answer(payload);
      underWay.add(reply);
      return reply.finally(() => underWay.delete(reply));
    });
    return Promise.resolve({
      close: async () => {
        this.responders.delete(command);
        await Promise.allSettled(underWay);
      },
    });
  }

  async request(command: string, payload: unknown, timeoutMs: number): Promise<unknown> {
    const answer = this.responders.get(command);
    if (!answer)
      throw new DomainError('service.not-ready', {
        cause: new Error(`Nobody here answers ${command}.`),
        retryAfterSeconds: 1,
      });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () =>
          reject(
            new DomainError('service.not-ready', {
              cause: new Error(`${command} was not answered in ${timeoutMs} ms.`),
            }),
          ),
        timeoutMs,
      );
    });
    try {
      return copy(await Promise.race([answer(copy(payload)), late]));
    } finally {
      clearTimeout(timer);
    }
  }

  private tellWatchers(): void {
    for (const changed of this.watchers) changed();
  }
}

interface Publisher {
  readonly accept: (request: ReplayRequest) => Promise<void>;
  readonly hasPublished: (type: string) => Promise<boolean>;
}

function copy<T>(value: T): T {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T);
}

/** To its depth, once: whoever is given it next finds it frozen. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) frozen(part);
  return value;
}
