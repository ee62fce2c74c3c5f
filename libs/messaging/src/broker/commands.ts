import { type CommandType, ERROR_CATALOGUE, type ErrorCode } from '@svc/contracts';
import { DomainError, type FieldProblem } from '@svc/kernel';
import type { Broker } from './broker.js';

/** How an answer or a refusal travels: a DomainError arrives as the same DomainError. */
export type ReplyEnvelope =
  | { ok: true; reply: unknown }
  | { ok: false; code: ErrorCode; message: string; fields: readonly FieldProblem[]; retryAfterSeconds?: number };

/** Longest that a person is kept waiting for an answer (Rule 5 of the architecture). */
export const REQUEST_TIMEOUT_MS = 15_000;

/** Asks another service while a person waits. The outcome also comes as an event, for when the answer is lost. */
export class Commands {
  constructor(private readonly broker: Broker) {}

  /** Throws the DomainError the other side threw, or `service.not-ready` when nobody answered in time. */
  async request<Request, Reply>(
    type: CommandType<Request, Reply>,
    payload: Request,
    timeoutMs = REQUEST_TIMEOUT_MS,
  ): Promise<Reply> {
    const envelope = (await this.broker.request(type.name, payload, timeoutMs)) as ReplyEnvelope;
    if (envelope.ok) return envelope.reply as Reply;
    const { code, message, fields, retryAfterSeconds } = envelope;
    throw new DomainError(code, { message, fields, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) });
  }
}

export function refusal(error: unknown): ReplyEnvelope {
  if (error instanceof DomainError) {
    const { code, message, fields, retryAfterSeconds } = error;
    return { ok: false, code, message, fields, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
  }
  return { ok: false, code: 'internal', message: ERROR_CATALOGUE.internal.message, fields: [] };
}
