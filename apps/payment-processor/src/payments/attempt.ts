import type { ChargeOutcome, ReversalOutcome } from '../acquirers/acquirer.js';
import type { Settlement } from './payment.js';

/**
 * An attempt: one call to the acquirer inside a payment (P1). `started` has no answer yet, `unknown` may have
 * happened; both keep the payable reserved and are asked about until they end. `notAttempted` moved no money: nothing was
 * sent, or the bank asked for a verification instead, after which the charge is an attempt of its own. One that had ended
 * without money is `reversed` when an approval arrives for it after all. Compared with the table by a test.
 */
export type AttemptState = 'started' | 'approved' | 'declined' | 'notAttempted' | 'unknown' | 'reversed';

export const ATTEMPT_TRANSITIONS = {
  started: ['approved', 'declined', 'notAttempted', 'unknown', 'reversed'],
  unknown: ['approved', 'declined', 'notAttempted', 'reversed'],
  approved: [],
  declined: ['reversed'],
  notAttempted: ['reversed'],
  reversed: [],
} as const satisfies Record<AttemptState, readonly AttemptState[]>;

/** When the recovery job asks the acquirer, counted from the start of the attempt (P1). */
export const ASK_AFTER_MS: readonly number[] = [2_000, 10_000, 60_000, 300_000];
/** From then on it is not asked about but reversed, until that is confirmed (P1). */
export const REVERSE_AFTER_MS = 900_000;
/** Before this, "not found" at the acquirer can mean that the call is still on its way. */
export const NOT_FOUND_COUNTS_AFTER_MS = 10_000;
/** A reversal that was not confirmed is repeated after this. */
export const REVERSE_AGAIN_AFTER_MS = 30_000;

/** When to ask next, having asked `asked` times. */
export function nextAskAt(startedAt: Date, asked: number, now: Date): Date {
  const at = startedAt.getTime() + (ASK_AFTER_MS[asked] ?? REVERSE_AFTER_MS);
  return new Date(at > now.getTime() ? at : now.getTime() + (asked < ASK_AFTER_MS.length ? 0 : REVERSE_AGAIN_AFTER_MS));
}

/** How an attempt ends, and with it its payment. */
export interface AttemptEnd {
  readonly state: Exclude<AttemptState, 'started' | 'unknown'>;
  readonly acquirerReference?: string;
  readonly settlement: Settlement;
}

/** What an answer of the acquirer means; undefined while nothing can be concluded. */
export function endOf(outcome: ChargeOutcome | ReversalOutcome): AttemptEnd | undefined {
  switch (outcome.kind) {
    case 'approved':
      return { state: 'approved', acquirerReference: outcome.acquirerReference, settlement: { state: 'success' } };
    case 'declined':
      return {
        state: 'declined',
        acquirerReference: outcome.acquirerReference,
        settlement: { state: 'failed', error: outcome.reason },
      };
    case 'verificationRequired':
      return {
        state: 'notAttempted',
        acquirerReference: outcome.challenge.reference,
        settlement: { state: 'verificationRequired', challenge: outcome.challenge },
      };
    case 'notAttempted':
    case 'neverCharged':
      return { state: 'notAttempted', settlement: { state: 'failed', error: 'acquirer.unavailable' } };
    case 'reversed':
      return { state: 'reversed', settlement: { state: 'failed', error: 'acquirer.outcome-unknown' } };
    case 'unknown':
    case 'unconfirmed':
      return undefined;
  }
}
