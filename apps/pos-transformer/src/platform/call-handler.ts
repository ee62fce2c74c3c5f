import type { Tx } from '../store/store.js';
import type { Failure } from './failure.js';
import type { OutgoingCall } from './outgoing-call.repository.js';

/** The result of a try. `write` is committed together with the end of the call. */
export type TryResult =
  | { readonly kind: 'done'; readonly write?: (tx: Tx) => void }
  | { readonly kind: 'refused'; readonly reason: Failure; readonly write?: (tx: Tx) => void }
  /** To be tried again. */
  | { readonly kind: 'failed'; readonly failure: Failure };

export interface CallHandler {
  /** Makes the call, outside any transaction. `isAwaited` says, when it is asked, whether a till waits for the outcome. */
  send(call: OutgoingCall, isAwaited: () => boolean): Promise<TryResult>;
  /** Ends a call that has failed too often. */
  giveUp(tx: Tx, call: OutgoingCall, message: string): void;
}
