import type { EventEnvelope } from '@svc/contracts';

/**
 * The last step between services: the only thing that differs between one process and many. The event log, the
 * relay's cursors, the inbox and the handlers are the same code on both sides of it.
 */
export interface Broker {
  /** To whom a relay hands its log; each has a durable cursor of its own. */
  targets(): readonly RelayTarget[];
  /** Calls `changed` whenever the targets are others than before, until the returned function is called. */
  watchTargets(changed: () => void): () => void;
  /** From now on `subscriber` is given the events of its types. Ends when {@link Subscription.close} is called. */
  subscribe(subscriber: Subscriber): Promise<Subscription>;
  /** Answers commands of this name until closed. */
  respond(command: string, answer: Responder): Promise<Subscription>;
  /** Asks and waits for the answer: transient, with a deadline, never stored. */
  request(command: string, payload: unknown, timeoutMs: number): Promise<unknown>;
}

export interface RelayTarget {
  /** Key of the cursor. */
  readonly name: string;
  /** Resolves when the batch is safe with the target; the relay then moves its cursor. */
  deliver(events: readonly EventEnvelope[]): Promise<void>;
}

export interface Subscriber {
  /** The consuming service. */
  readonly name: string;
  readonly types: ReadonlySet<string>;
  /** Resolves when every effect is committed or its message is a dead letter. */
  deliver(events: readonly EventEnvelope[]): Promise<void>;
}

export interface Subscription {
  /** No new work is given; resolves when what was given is done. */
  close(): Promise<void>;
}

export type Responder = (payload: unknown) => Promise<unknown>;
