import { type CommandType, ERROR_CATALOGUE, type ErrorCode } from '@svc/contracts';
import { DomainError, type FieldProblem } from '@svc/kernel';
import { type InvalidMessageError, messageValidator } from '../validation/message-validator.js';
import type { Broker } from './broker.js';

/**
 * The wire format of a reply or an error. A DomainError of the responder becomes the same DomainError in the requesting
 * service.
 */
export type ReplyEnvelope =
  | { ok: true; reply: unknown }
  | { ok: false; code: ErrorCode; message: string; fields: readonly FieldProblem[]; retryAfterSeconds?: number };

/** Longest time that a person waits for a reply (rule 6 in docs/architecture.md). */
export const REQUEST_TIMEOUT_MS = 15_000;

/**
 * Sends requests to another service while a person waits. The responder also publishes an event with the outcome, in
 * case the reply is lost.
 */
export class Commands {
  constructor(private readonly broker: Broker) {}

  /** Throws the DomainError that the responder threw, or `service.not-ready` when no valid reply arrived in time. */
  async request<Request, Reply>(
    type: CommandType<Request, Reply>,
    payload: Request,
    timeoutMs = REQUEST_TIMEOUT_MS,
  ): Promise<Reply> {
    const envelope = (await this.broker.request(type.name, payload, timeoutMs)) as ReplyEnvelope;
    if (envelope.ok) {
      const invalid = messageValidator.findViolation('reply', type.name, envelope.reply);
      // The outcome is unknown, as it is when a reply is lost.
      if (invalid) throw new DomainError('service.not-ready', { cause: invalid, retryAfterSeconds: 1 });
      return envelope.reply as Reply;
    }
    const { code, message, fields, retryAfterSeconds } = envelope;
    throw new DomainError(code, { message, fields, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) });
  }
}

/** The error for a request that violates its schema. The command has had no effect. */
export function newInvalidRequestError(invalid: InvalidMessageError): DomainError {
  const fields = [{ field: invalid.path.slice(1).replaceAll('/', '.'), message: invalid.problem }];
  return new DomainError('request.invalid', { message: invalid.message, fields, cause: invalid });
}

export function toErrorReply(error: unknown): ReplyEnvelope {
  if (error instanceof DomainError) {
    const { code, message, fields, retryAfterSeconds } = error;
    return { ok: false, code, message, fields, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
  }
  return { ok: false, code: 'internal', message: ERROR_CATALOGUE.internal.message, fields: [] };
}
