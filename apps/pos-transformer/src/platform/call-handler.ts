import type { Tx } from '../store/store.js';
import type { Failure } from './failure.js';
import type { CallKind, OutgoingCall } from './outgoing-call.repository.js';

/** The result of one attempt of a call. `write` is committed together with the end of the call. */
export type AttemptResult =
  | { readonly kind: 'done'; readonly write?: (tx: Tx) => void }
  | { readonly kind: 'refused'; readonly reason: Failure; readonly write?: (tx: Tx) => void }
  /** The call is retried. */
  | { readonly kind: 'failed'; readonly failure: Failure };

/** Makes the calls of one kind: invoices in `sales`, refunds in `refunds`. */
export interface CallHandler {
  /** Makes the call, outside any transaction. `isAwaited` returns whether a till waits for the outcome at that moment. */
  send(call: OutgoingCall, isAwaited: () => boolean): Promise<AttemptResult>;
  /** Ends a call that has failed too often. */
  giveUp(tx: Tx, call: OutgoingCall, message: string): void;
}

export type CallHandlers = Readonly<Record<CallKind, CallHandler>>;
/** Injection token of {@link CallHandlers}. */
export const CALL_HANDLERS = Symbol('CallHandlers');
