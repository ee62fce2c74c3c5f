import {
  Ctx,
  EventPattern as NestEventPattern,
  MessagePattern as NestMessagePattern,
  Payload,
} from '@nestjs/microservices';
import type { CommandType, EventEnvelope, EventType } from '@svc/contracts';
import type { ConsumerContext } from './consumer.js';

/** Also methods that need fewer of the parameters. */
type Method<F> = <Actual extends F>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Actual>,
) => void;

/**
 * Nest's @EventPattern, tied to the payload of the event: a method of another payload does not compile. The method
 * is given a run of events of the type and the transaction in which they are marked as done; its docstring says how
 * it survives a replay.
 */
export function EventPattern<T>(
  type: EventType<T>,
): Method<(events: EventEnvelope<T>[], context: ConsumerContext) => Promise<void>> {
  return (target, key, descriptor) => {
    (NestEventPattern(type.name) as MethodDecorator)(target, key, descriptor as never);
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
