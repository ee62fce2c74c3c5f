import {
  Ctx,
  EventPattern as NestEventPattern,
  MessagePattern as NestMessagePattern,
  Payload,
} from '@nestjs/microservices';
import type { CommandType, EventEnvelope, EventType } from '@svc/contracts';
import type { ConsumerContext, IdempotentContext } from '../consumer/consumer.js';
import type { EventOrigin } from '../routing/rabbitmq-names.js';

/** A decorator of methods that have the parameters of `F`, or fewer. */
type Method<F> = <Actual extends F>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Actual>,
) => void;

/** Options of {@link EventPattern}. */
export interface HandlerOptions {
  /**
   * True if the result does not change when an event is handled again or in another order, because the rows that the
   * method writes have a unique key or a version. Then no inbox entry is written. The method receives a connection
   * instead of a transaction, so that a single statement needs only one round trip. A method with several statements
   * begins its own transaction.
   */
  readonly idempotent?: boolean;
  /**
   * Restricts the events to payments with this source (`session`, `invoice`, `code`) or this payer. The method must
   * still ignore other events, because a replay may deliver them, and the queue keeps the bindings that it had before a
   * release added the restriction. A release that removes the restriction must request a replay of the earlier events.
   */
  readonly origin?: Partial<EventOrigin>;
}

/**
 * Nest's @EventPattern with a type check: a method with another type of payload does not compile. The method receives
 * consecutive events of one of the types and the transaction that writes their inbox entries. The docstring of each method
 * states why it is harmless to handle an event a second time.
 */
export function EventPattern<T>(
  types: EventType<T> | readonly EventType<T>[],
  options: HandlerOptions & { readonly idempotent: true },
): Method<(events: EventEnvelope<T>[], context: IdempotentContext) => Promise<void>>;
export function EventPattern<T>(
  types: EventType<T> | readonly EventType<T>[],
  options?: HandlerOptions & { readonly idempotent?: false },
): Method<(events: EventEnvelope<T>[], context: ConsumerContext) => Promise<void>>;
export function EventPattern<T>(
  types: EventType<T> | readonly EventType<T>[],
  options: HandlerOptions = {},
): Method<(...parameters: never[]) => unknown> {
  const names = [types].flat().map(({ name }) => name);
  return (target, key, descriptor) => {
    NestEventPattern<string[]>(names, { ...options })(target, key, descriptor as never);
    // Without parameter decorators Nest would pass only the payload.
    Payload()(target, key, 0);
    Ctx()(target, key, 1);
  };
}

/**
 * Nest's @MessagePattern with a type check of the request and the reply. The method rejects a command by throwing a
 * DomainError.
 */
export function MessagePattern<Request, Reply>(
  type: CommandType<Request, Reply>,
): Method<(request: Request) => Promise<Reply>> {
  return NestMessagePattern(type.name);
}
