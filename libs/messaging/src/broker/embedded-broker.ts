import { DomainError } from '@svc/kernel';
import { matchesOrigin } from '../routing/event-origin.js';
import type { Broker, EventReplay, RelayTarget, ReplayRequest, Responder, Subscriber, Subscription } from './broker.js';

/**
 * The broker for services that all run in one process: a relay passes its batches directly to the consumers, and a
 * command is a function call. Code that works with this broker must also work between processes. Therefore the broker
 * converts commands to JSON and back. It freezes events, because all consumers receive the same objects.
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
      // The service is stopping or has not started. The replay request is stored, so it is served later.
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
    const inProgress = new Set<Promise<void>>();
    let closed = false;
    this.subscribed.set(subscriber.name, {
      name: subscriber.name,
      types: subscriber.types,
      maxBatchWaitMs: subscriber.maxBatchWaitMs ?? 0,
      deliver: async (events) => {
        if (closed) throw new Error(`${subscriber.name} has stopped.`);
        const { origins } = subscriber;
        const matchingEvents = origins ? events.filter((event) => matchesOrigin(event, origins)) : events;
        if (matchingEvents.length === 0) return;
        const delivery = subscriber.deliver(matchingEvents.map(deepFreeze));
        inProgress.add(delivery);
        await delivery.finally(() => inProgress.delete(delivery));
      },
    });
    this.notifyWatchers();
    return Promise.resolve({
      close: async () => {
        closed = true;
        this.subscribed.delete(subscriber.name);
        this.notifyWatchers();
        await Promise.allSettled(inProgress);
      },
    });
  }

  respond(command: string, responder: Responder): Promise<Subscription> {
    if (this.responders.has(command)) throw new Error(`${command} already has a responder.`);
    const inProgress = new Set<Promise<unknown>>();
    this.responders.set(command, (payload) => {
      const reply = responder(payload);
      inProgress.add(reply);
      return reply.finally(() => inProgress.delete(reply));
    });
    return Promise.resolve({
      close: async () => {
        this.responders.delete(command);
        await Promise.allSettled(inProgress);
      },
    });
  }

  async request(command: string, payload: unknown, timeoutMs: number): Promise<unknown> {
    const responder = this.responders.get(command);
    if (!responder)
      throw new DomainError('service.not-ready', {
        cause: new Error(`No service in this process answers ${command}.`),
        retryAfterSeconds: 1,
      });
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
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
      return copy(await Promise.race([responder(copy(payload)), timeout]));
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

/** Freezes the value and its members. Skips a value that was frozen for another consumer. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}
