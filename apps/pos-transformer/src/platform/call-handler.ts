import type { Tx } from '../store/store.js';
import type { Failure } from './failure.js';
import type { CallKind, OutgoingCall } from './outgoing-call.repository.js';

/** The result of one attempt of a call. `write` runs in the transaction that stores the end of the call. */
export type AttemptResult =
  | { readonly kind: 'done'; readonly write?: (tx: Tx) => void }
  | { readonly kind: 'refused'; readonly reason: Failure; readonly write?: (tx: Tx) => void }
  /** The attempt failed; the queue retries the call. `isUnsent`: the request has certainly not reached the platform. */
  | { readonly kind: 'failed'; readonly failure: Failure; readonly isUnsent?: boolean };

/**
 * Sends the calls of one kind to the platform. The folder `sales` implements this interface for invoices, and the
 * folder `refunds` implements it for refunds.
 */
export interface CallHandler {
  /** Sends the call, outside any transaction. `isAwaited` returns whether a till is waiting for the outcome now. */
  send(call: OutgoingCall, isAwaited: () => boolean): Promise<AttemptResult>;
  /** Writes the consequences of a call that the queue gives up because it has failed too often. */
  giveUp(tx: Tx, call: OutgoingCall, message: string): void;
}

export type CallHandlers = Readonly<Record<CallKind, CallHandler>>;
/** Injection token of {@link CallHandlers}. */
export const CALL_HANDLERS = Symbol('CallHandlers');
