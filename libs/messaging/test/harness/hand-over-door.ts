import type { Broker, RelayTarget } from '../../src/index.js';
import { type Gate, gate } from './gate.js';

/** Lets a test stop relays at the moment when the target has a batch and the cursor has not moved yet. */
export class HandOverDoor {
  private current: Gate | undefined;

  hold(): Gate {
    return (this.current = gate());
  }

  open(): void {
    this.current?.open();
  }

  /** The same broker, but its targets wait at the door after each batch. */
  before(broker: Broker): Broker {
    const held = new WeakMap<RelayTarget, RelayTarget>();
    const hold = (target: RelayTarget): RelayTarget => {
      const known = held.get(target);
      if (known) return known;
      const separately = target.consumerTargets?.bind(target);
      const made: RelayTarget = {
        name: target.name,
        deliver: async (events) => {
          await target.deliver(events);
          await this.current?.pass();
        },
        ...(separately ? { consumerTargets: async () => (await separately()).map(hold) } : {}),
      };
      held.set(target, made);
      return made;
    };
    return {
      targets: () => broker.targets().map(hold),
      watchTargets: (changed) => broker.watchTargets(changed),
      subscribe: (subscriber) => broker.subscribe(subscriber),
      respond: (command, answer) => broker.respond(command, answer),
      request: (command, payload, timeoutMs) => broker.request(command, payload, timeoutMs),
      ...(broker.eventReplay ? { eventReplay: broker.eventReplay } : {}),
    };
  }
}
