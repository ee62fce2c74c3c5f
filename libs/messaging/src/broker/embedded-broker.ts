import { DomainError } from '@svc/kernel';
import { matchesOrigin } from '../routing/event-origin.js';
import type { Broker, EventReplay, RelayTarget, ReplayRequest, Responder, Subscriber, Subscription } from './broker.js';

/**
 * For all services in one process: a relay passes its batches straight to the consumers, and a command is a call. Nothing works
 * here that would not work between processes: commands are copied through JSON, and events, which were read from JSON, are
 * frozen, since all consumers share them.
 */
export class EmbeddedBroker implements Broker {
  private readonly subscribed = new Map<string, RelayTarget>();
  private readonly responders = new Map<string, Responder>();
  private readonly watchers = new Set<() => void>();
  private readonly publishers = new Set<Publisher>();

  readonly eventReplay: EventReplay = {
    isRequired: false,
    request: async (request) => {
      let isRequested = false;
      for (const { accept, hasPublished } of this.publishers) {
        if (!(await hasPublished(request.type))) continue;
        await accept(copy(request));
        isRequested = true;
      }
      return isRequested;
    },
    serveRequests: (accept, hasPublished) => {
      const publisher = { accept, hasPublished };
      this.publishers.add(publisher);
      return Promise.resolve({ close: () => Promise.resolve(void this.publishers.delete(publisher)) });
    },
    deliver: async (service, events) => {
      const target = this.subscribed.get(service);
      // The service is stopping or has not started: the request is stored, and served later.
      if (!target) throw new Error(`${service} has no consumer in this process.`);
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
    if (this.subscribed.has(subscriber.name)) throw new Error(`${subscriber.name} has already subscribed.`);
    const underWay = new Set<Promise<void>>();
    let closed = false;
    this.subscribed.set(subscriber.name, {
      name: subscriber.name,
      types: subscriber.types,
      gatherMs: subscriber.gatherMs ?? 0,
      deliver: async (events) => {
        if (closed) throw new Error(`${subscriber.name} has stopped.`);
        const { origins } = subscriber;
        const wanted = origins ? events.filter((event) => matchesOrigin(event, origins)) : events;
        if (wanted.length === 0) return;
        const delivery = subscriber.deliver(wanted.map(frozen));
        underWay.add(delivery);
        await delivery.finally(() => underWay.delete(delivery));
      },
    });
    this.notifyWatchers();
    return Promise.resolve({
      close: async () => {
        closed = true;
        this.subscribed.delete(subscriber.name);
        this.notifyWatchers();
        await Promise.allSettled(underWay);
      },
    });
  }

  respond(command: string, answer: Responder): Promise<Subscription> {
    if (this.responders.has(command)) throw new Error(`${command} already has a responder.`);
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
        cause: new Error(`No service in this process answers ${command}.`),
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

  private notifyWatchers(): void {
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

/** Deep and only once: the next consumer finds the object frozen. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) frozen(part);
  return value;
}
