import type { Broker, RelayTarget } from '../../src/index.js';
import { type Gate, newGate } from './gate.js';

/** Lets a test stop relays after a batch was delivered and before its cursor is moved. */
export class DeliveryHold {
  private current: Gate | undefined;

  hold(): Gate {
    return (this.current = newGate());
  }

  /**
   * Returns a broker that behaves as `broker` does, but after each delivered batch it waits at the gate of {@link
   * hold}.
   */
  wrap(broker: Broker): Broker {
    const wrapped = new WeakMap<RelayTarget, RelayTarget>();
    const wrapTarget = (target: RelayTarget): RelayTarget => {
      const existing = wrapped.get(target);
      if (existing) return existing;
      const consumerTargets = target.consumerTargets?.bind(target);
      const wrappedTarget: RelayTarget = {
        name: target.name,
        deliver: async (events) => {
          await target.deliver(events);
          await this.current?.pass();
        },
        ...(consumerTargets ? { consumerTargets: async () => (await consumerTargets()).map(wrapTarget) } : {}),
      };
      wrapped.set(target, wrappedTarget);
      return wrappedTarget;
    };
    return {
      targets: () => broker.targets().map(wrapTarget),
      watchTargets: (changed) => broker.watchTargets(changed),
      subscribe: (subscriber) => broker.subscribe(subscriber),
      respond: (command, responder) => broker.respond(command, responder),
      request: (command, payload, timeoutMs) => broker.request(command, payload, timeoutMs),
      ...(broker.connection ? { connection: broker.connection } : {}),
      ...(broker.eventReplay ? { eventReplay: broker.eventReplay } : {}),
    };
  }
}
