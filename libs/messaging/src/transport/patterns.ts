import {
  Ctx,
  EventPattern as NestEventPattern,
  MessagePattern as NestMessagePattern,
  Payload,
} from '@nestjs/microservices';
import type { CommandType, EventEnvelope, EventType } from '@svc/contracts';
import type { ConsumerContext, RepeatableContext } from '../consumer/consumer.js';
import type { EventOrigin } from '../routing/rabbitmq-names.js';

/** Includes methods that take fewer parameters. */
type Method<F> = <Actual extends F>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Actual>,
) => void;

export interface HandlerExtras {
  /**
   * Handling an event again, or in another order, changes nothing, because a key or a version in the effect's own rows prevents it.
   * Then the inbox gets no entry. The method gets a connection and no transaction, so that an effect of one statement is one round
   * trip; an effect of several statements begins its own transaction.
   */
  readonly repeatable?: boolean;
  /**
   * Only events of payments with this source (`session`, `invoice`, `code`) or this payer. The method must ignore other events,
   * which a replay or an earlier release's binding may still deliver. To widen it, request a replay: earlier events are not sent
   * again otherwise.
   */
  readonly origin?: Partial<EventOrigin>;
}

/**
 * Nest's @EventPattern, tied to the payload of the event: a method of another payload does not compile. The method
 * gets a run of events of the type and the transaction that marks them as done; its docstring says how it survives a
 * replay.
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
    // Without parameter decorators Nest passes the payload alone.
    Payload()(target, key, 0);
    Ctx()(target, key, 1);
  };
}

/** Nest's @MessagePattern, tied to request and reply of the command. To reject a command, throw a DomainError. */
export function MessagePattern<Request, Reply>(
  type: CommandType<Request, Reply>,
): Method<(request: Request) => Promise<Reply>> {
  return NestMessagePattern(type.name);
}
