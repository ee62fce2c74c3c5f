import {
  Ctx,
  EventPattern as NestEventPattern,
  MessagePattern as NestMessagePattern,
  Payload,
} from '@nestjs/microservices';
import type { CommandType, EventEnvelope, EventType } from '@svc/contracts';
import type { ConsumerContext, RepeatableContext } from '../consumer/consumer.js';
import type { EventOrigin } from '../routing/rabbitmq-names.js';

/** Also methods that need fewer of the parameters. */
type Method<F> = <Actual extends F>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Actual>,
) => void;

export interface HandlerExtras {
  /**
   * Handling an event again, or in another order, changes nothing: a key or a version of the effect's own rows sees to
   * it. Then the effect is its own mark, and none is kept in the inbox; the method is given a connection and no transaction, so
   * that an effect of one statement is one round trip. One of several begins its own.
   */
  readonly repeatable?: boolean;
  /**
   * Of a payment's events only those of this source (`session`, `invoice`, `code`), or of this payer. What comes all the same
   * (from a replay, or from before an upgrade) is for the method to leave out. Whoever widens it asks for a replay: what was
   * published before is not sent again by itself.
   */
  readonly origin?: Partial<EventOrigin>;
}

/**
 * Nest's @EventPattern, tied to the payload of the event: a method of another payload does not compile. The method
 * is given a run of events of the type and the transaction in which they are marked as done; its docstring says how
 * it survives a replay.
 */
export function EventPattern<T>(
  type: EventType<T>,
  extras: HandlerExtras & { readonly repeatable: true },
): Method<(events: EventEnvelope<T>[], context: RepeatableContext) => Promise<void>>;
export function EventPattern<T>(
  type: EventType<T>,
  extras?: HandlerExtras & { readonly repeatable?: false },
): Method<(events: EventEnvelope<T>[], context: ConsumerContext) => Promise<void>>;
export function EventPattern<T>(
  type: EventType<T>,
  extras: HandlerExtras = {},
): Method<(...given: never[]) => unknown> {
  return (target, key, descriptor) => {
    (NestEventPattern(type.name, { ...extras }) as MethodDecorator)(target, key, descriptor as never);
    // Nest hands over the payload alone unless each parameter says what it is.
    Payload()(target, key, 0);
    Ctx()(target, key, 1);
  };
}

/** Nest's @MessagePattern, tied to request and reply of the command. Refuses by throwing a DomainError. */
export function MessagePattern<Request, Reply>(
  type: CommandType<Request, Reply>,
): Method<(request: Request) => Promise<Reply>> {
  return NestMessagePattern(type.name);
}
