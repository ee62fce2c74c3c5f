/**
 * An event between services. It reports a change and carries the full state, so that a consumer need not query the publisher.
 * Types are versioned by name: an incompatible change is a new type (`payment.succeeded.v2`).
 */
export interface EventEnvelope<Payload = unknown> {
  /** UUID v7; the same in every delivery of this event, so that a consumer can apply it once. */
  readonly id: string;
  /** e.g. `payment.succeeded.v1`. */
  readonly type: string;
  readonly aggregateId: string;
  /** Increases by one with each change of the aggregate. Delivery order is not guaranteed, so consumers keep the highest. */
  readonly aggregateVersion: number;
  /** ISO 8601 UTC with milliseconds. */
  readonly occurredAt: string;
  /** W3C trace context of the request that caused it. */
  readonly traceparent?: string;
  readonly payload: Payload;
}

export interface EventType<Payload> {
  readonly name: string;
  /** Only for the compiler: connects the name with its payload type. */
  readonly payload?: Payload;
}

export function eventType<Payload>(name: `${string}.v${number}`): EventType<Payload> {
  return { name };
}

/** A request that one service answers while a person waits. Never stored; see Rule 5 in docs/architecture.md. */
export interface CommandType<Request, Reply> {
  readonly name: string;
  readonly request?: Request;
  readonly reply?: Reply;
}

export function commandType<Request, Reply>(name: `${string}.v${number}`): CommandType<Request, Reply> {
  return { name };
}
