import type { ChargeOutcome, ChargeQueryResult, ReversalOutcome } from '../acquirers/acquirer.js';
import type { Settlement } from './payment.js';

/**
 * An attempt: one call to the acquirer inside a payment (P1). `started` has no answer yet, `unknown` may have happened; the
 * acquirer is queried about both until they end. `reversing`: the decision to reverse is committed, so a later approval never
 * becomes a success. All three keep the payable reserved. `notAttempted` moved no money: nothing was sent, or the bank required
 * a verification, after which another attempt charges. An attempt that had ended without money becomes `reversed` when a late
 * approval arrives for it. A test compares the list with the table.
 */
export type AttemptState = 'started' | 'unknown' | 'reversing' | 'approved' | 'declined' | 'notAttempted' | 'reversed';

export const ATTEMPT_TRANSITIONS = {
  started: ['approved', 'declined', 'notAttempted', 'unknown', 'reversing'],
  unknown: ['approved', 'declined', 'notAttempted', 'reversing'],
  reversing: ['notAttempted', 'reversed'],
  approved: [],
  declined: ['reversed'],
  notAttempted: ['reversed'],
  reversed: [],
} as const satisfies Record<AttemptState, readonly AttemptState[]>;

const ATTEMPT_STATES = Object.keys(ATTEMPT_TRANSITIONS) as AttemptState[];

/** States in which a charge may start, an approval counts, and the attempt can become `reversing`. */
export const CHARGEABLE_STATES: readonly AttemptState[] = ['started', 'unknown'];

/** Ages at which the recovery job queries the acquirer, counted from the call (P1). */
export const QUERY_AFTER_MS: readonly number[] = [2_000, 10_000, 60_000, 300_000];
/** From this age on the job reverses the attempt instead of a query, until the acquirer confirms it (P1). */
export const REVERSE_AFTER_MS = 900_000;
/** Before this age, "not found" at the acquirer can mean that it has not received the call yet. */
export const NOT_FOUND_COUNTS_AFTER_MS = 10_000;
/** An unconfirmed reversal is retried after this. */
export const REVERSAL_RETRY_MS = 30_000;
/**
 * A call that begins later than this after the acceptance needs a new lease, from which its age counts. With the longest
 * timeout of a call (9 s) it ends before {@link NOT_FOUND_COUNTS_AFTER_MS}.
 */
export const MAX_CALL_DELAY_MS = 1_000;

/** Time of the next query, after this number of queries. */
export function nextQueryAt(startedAt: Date, queries: number, now: Date): Date {
  const at = startedAt.getTime() + (QUERY_AFTER_MS[queries] ?? REVERSE_AFTER_MS);
  return new Date(at > now.getTime() ? at : now.getTime() + (queries < QUERY_AFTER_MS.length ? 0 : REVERSAL_RETRY_MS));
}

/** True when the call is so late after `startedAt` that it needs a new lease: the process was frozen, or its database slow. */
export function needsLeaseBeforeCall(startedAt: Date, now: Date): boolean {
  return !(now.getTime() - startedAt.getTime() < MAX_CALL_DELAY_MS);
}

/** The next step for an attempt without an outcome: query the acquirer, or reverse without a query. */
export function recoveryStep(state: AttemptState, ageMs: number): 'query' | 'reverse' {
  return state === 'reversing' || ageMs >= REVERSE_AFTER_MS ? 'reverse' : 'query';
}

/** True when an answer at this age means that the charge did not arrive: its key must be blocked by a reversal. */
export function isMissing(answer: AcquirerAnswer, ageMs: number): boolean {
  return answer.kind === 'notFound' && ageMs >= NOT_FOUND_COUNTS_AFTER_MS;
}

/** Any answer of the acquirer about a key: to a charge, a query or a reversal. */
export type AcquirerAnswer = ChargeOutcome | ChargeQueryResult | ReversalOutcome;

/** How an attempt ends, and with it its payment. */
export interface AttemptEnd {
  readonly state: Exclude<AttemptState, 'started' | 'unknown' | 'reversing'>;
  readonly acquirerReference?: string;
  readonly settlement: Settlement;
}

/** The effect of an answer on an attempt. */
export type Conclusion =
  /** The attempt and its payment end. */
  | { readonly kind: 'end'; readonly end: AttemptEnd }
  /** The acquirer is queried again later. */
  | { readonly kind: 'unknown' }
  /** The key was reversed at the acquirer without a decision in this row: the row has to follow. */
  | { readonly kind: 'reverse' }
  /** The answer adds nothing to the row. */
  | { readonly kind: 'none' }
  /** The answer contradicts the row. With `needsReversal`, the acquirer holds money that must be returned. */
  | { readonly kind: 'incident'; readonly needsReversal: boolean };

const NONE: Conclusion = { kind: 'none' };
const INCIDENT: Conclusion = { kind: 'incident', needsReversal: false };
const INCIDENT_WITH_REVERSAL: Conclusion = { kind: 'incident', needsReversal: true };

/** Decides the effect of an answer on an attempt in this state. The test has a row for every pair. */
export function conclude(state: AttemptState, answer: AcquirerAnswer): Conclusion {
  switch (answer.kind) {
    case 'unknown':
    case 'unconfirmed':
    case 'notFound':
      return CHARGEABLE_STATES.includes(state) ? { kind: 'unknown' } : NONE;
    case 'reversed':
      if (CHARGEABLE_STATES.includes(state)) return { kind: 'reverse' };
      if (state === 'reversing') return { kind: 'end', end: endOf(answer) };
      return state === 'reversed' ? NONE : INCIDENT;
    case 'neverCharged':
      if (CHARGEABLE_STATES.includes(state) || state === 'reversing') return { kind: 'end', end: endOf(answer) };
      return state === 'approved' || state === 'reversed' ? INCIDENT : NONE;
    case 'approved':
      if (CHARGEABLE_STATES.includes(state)) return { kind: 'end', end: endOf(answer) };
      return state === 'approved' ? NONE : INCIDENT_WITH_REVERSAL;
    case 'declined':
      if (CHARGEABLE_STATES.includes(state)) return { kind: 'end', end: endOf(answer) };
      // A reversal can overtake the answer to the charge: then no money moved, as in the row.
      return state === 'approved' || state === 'reversed' ? INCIDENT : NONE;
    case 'verificationRequired':
    case 'notAttempted':
      if (CHARGEABLE_STATES.includes(state)) return { kind: 'end', end: endOf(answer) };
      return state === 'reversing' || state === 'notAttempted' ? NONE : INCIDENT;
  }
}

/** The states that this answer ends; the statement that records the end changes only rows in these states. */
export function statesEndedBy(answer: AcquirerAnswer): AttemptState[] {
  return ATTEMPT_STATES.filter((state) => conclude(state, answer).kind === 'end');
}

type FinalAnswer = Exclude<AcquirerAnswer, { kind: 'unknown' | 'unconfirmed' | 'notFound' }>;

/** True when the answer gives the outcome of the key. */
export function isFinal(answer: AcquirerAnswer): answer is FinalAnswer {
  return answer.kind !== 'unknown' && answer.kind !== 'unconfirmed' && answer.kind !== 'notFound';
}

/** The end of the attempt for a final answer, if its state allows it. */
export function endOf(answer: FinalAnswer): AttemptEnd {
  switch (answer.kind) {
    case 'approved':
      return { state: 'approved', acquirerReference: answer.acquirerReference, settlement: { state: 'success' } };
    case 'declined':
      return {
        state: 'declined',
        acquirerReference: answer.acquirerReference,
        settlement: { state: 'failed', error: answer.reason },
      };
    case 'verificationRequired':
      return {
        state: 'notAttempted',
        acquirerReference: answer.challenge.reference,
        settlement: { state: 'verificationRequired', challenge: answer.challenge },
      };
    case 'notAttempted':
    case 'neverCharged':
      return { state: 'notAttempted', settlement: { state: 'failed', error: 'acquirer.unavailable' } };
    case 'reversed':
      return { state: 'reversed', settlement: { state: 'failed', error: 'acquirer.outcome-unknown' } };
  }
}
