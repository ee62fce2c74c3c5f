import type { Tx } from '../store/store.js';
import type { Failure } from './failure.js';
import type { CallKind, OutgoingCall } from './outgoing-call.repository.js';

/** The result of a try. `write` is committed together with the end of the call. */
export type TryResult =
  | { readonly kind: 'done'; readonly write?: (tx: Tx) => void }
  | { readonly kind: 'refused'; readonly reason: Failure; readonly write?: (tx: Tx) => void }
  /** To be tried again. */
  | { readonly kind: 'failed'; readonly failure: Failure };

/** What makes the calls of one kind: of invoices in `sales`, of refunds in `refunds`. */
export interface CallHandler {
  /** Makes the call, outside any transaction. `hasWaiters` says, when it is asked, whether a till waits for the outcome. */
  send(call: OutgoingCall, isAwaited: () => boolean): Promise<TryResult>;
  /** Ends a call that has failed too often. */
  giveUp(tx: Tx, call: OutgoingCall, message: string): void;
}

export type CallHandlers = Readonly<Record<CallKind, CallHandler>>;
/** The Nest token of the {@link CallHandlers}. */
export const CALL_HANDLERS = Symbol('CallHandlers');
