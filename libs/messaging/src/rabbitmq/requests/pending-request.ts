import { DomainError } from '@svc/kernel';
import type { ChannelModel, ConfirmChannel } from 'amqplib';
import type { Replica } from './replicas.js';

/** Why a request must be sent again. `unsent`: no replica has received the request. `unknown`: one may have handled it. */
export type Retry = 'unsent' | 'unknown';

export interface PendingRequest {
  /** The replica to which the request was sent last. */
  readonly replica: Replica;
  readonly sentAt: number;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: DomainError) => void;
  readonly retry: (reason: Retry) => void;
}

export interface OutgoingRequest {
  readonly command: string;
  /** The same for all copies of a request, so that a late reply to the first copy is accepted too. */
  readonly correlationId: string;
  readonly content: Buffer;
  readonly headers: Record<string, string>;
  readonly deadline: number;
}

/** The channel and the reply queue of the current connection. */
export interface Link {
  readonly model: ChannelModel;
  readonly channel: ConfirmChannel;
  readonly replyTo: string;
}

/** The request cannot be answered now: the caller may repeat it. */
export function notReady(reason: string): DomainError {
  return new DomainError('service.not-ready', { cause: new Error(reason), retryAfterSeconds: 1 });
}
