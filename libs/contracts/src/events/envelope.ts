/**
 * An event between services. It reports a change and contains the full state, so that a consumer need not query the
 * publisher. The name of a type contains its version: an incompatible change needs a new type (`payment.succeeded.v2`).
 */
export interface EventEnvelope<Payload = unknown> {
  /**
   * UUID v7; the same in every delivery of this event, so that a consumer can apply it once.
   * @schema uuid
   */
  readonly id: string;
  /** e.g. `payment.succeeded.v1`. */
  readonly type: string;
  readonly aggregateId: string;
  /**
   * Increases by one with each change of the aggregate. Events may arrive out of order, so a consumer ignores an event
   * whose version is lower than the stored one.
   */
  readonly aggregateVersion: number;
  /**
   * ISO 8601 UTC with milliseconds.
   * @schema date-time
   */
  readonly occurredAt: string;
  /** W3C trace context of the request that caused the event. */
  readonly traceparent?: string;
  readonly payload: Payload;
}

export interface EventType<Payload> {
  readonly name: string;
  /** Only for the compiler: connects the name with its payload type. */
  readonly payload?: Payload;
}

/**
 * The name of an event or command, which ends with its version. The versions are listed, because `${string}.v${number}`
 * would refuse a name with an earlier `.v`, such as `payment.verification-required.v1`.
 */
type VersionedName = `${string}.v${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}`;

export function eventType<Payload>(name: VersionedName): EventType<Payload> {
  return { name };
}

/**
 * A request to one service, sent while a person waits for the reply. Never stored; see Rule 5 in docs/architecture.md.
 */
export interface CommandType<Request, Reply> {
  readonly name: string;
  readonly request?: Request;
  readonly reply?: Reply;
}

export function commandType<Request, Reply>(name: VersionedName): CommandType<Request, Reply> {
  return { name };
}
