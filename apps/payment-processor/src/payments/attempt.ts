import type { AskedOutcome, ChargeOutcome, ReversalOutcome } from '../acquirers/acquirer.js';
import type { Settlement } from './payment.js';

/**
 * An attempt: one call to the acquirer inside a payment (P1). `started` has no answer yet, `unknown` may have
 * happened; both are asked about until they end. `reversing`: the decision to reverse is committed, so an approval
 * that arrives from then on never becomes a success. All three keep the payable reserved. `notAttempted` moved no money:
 * nothing was sent, or the bank asked for a verification, after which the charge is an attempt of its own. An attempt
 * that had ended without money is `reversed` when an approval arrives for it after all. A test compares the list with the table.
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

/** Only in these states may a charge be made and may an approval count, and only they can become `reversing`. */
export const CHARGEABLE_STATES: readonly AttemptState[] = ['started', 'unknown'];

/** When the recovery job asks the acquirer, counted from the call (P1). */
export const ASK_AFTER_MS: readonly number[] = [2_000, 10_000, 60_000, 300_000];
/** From then on the attempt is reversed instead of asked about, until the acquirer confirms it (P1). */
export const REVERSE_AFTER_MS = 900_000;
/** Before this age, "not found" at the acquirer can mean that the call is still on its way. */
export const NOT_FOUND_COUNTS_AFTER_MS = 10_000;
/** An unconfirmed reversal is repeated after this. */
export const REVERSE_AGAIN_AFTER_MS = 30_000;
/**
 * A call that begins later than this after the acceptance needs a claim of its own, from which its age counts. With the
 * longest time limit of a call (9 s) it is over before {@link NOT_FOUND_COUNTS_AFTER_MS}.
 */
export const CALL_BEGINS_WITHIN_MS = 1_000;

/** When to ask next, having asked `asked` times. */
export function nextAskAt(startedAt: Date, asked: number, now: Date): Date {
  const at = startedAt.getTime() + (ASK_AFTER_MS[asked] ?? REVERSE_AFTER_MS);
  return new Date(at > now.getTime() ? at : now.getTime() + (asked < ASK_AFTER_MS.length ? 0 : REVERSE_AGAIN_AFTER_MS));
}

/** Whether the call comes so late after `startedAt` that it needs a new claim: the process was frozen, or its database slow. */
export function needsClaimBeforeCall(startedAt: Date, now: Date): boolean {
  return !(now.getTime() - startedAt.getTime() < CALL_BEGINS_WITHIN_MS);
}

/** The next step for an attempt without an outcome: ask the acquirer, or reverse without asking. */
export function recoveryStep(state: AttemptState, ageMs: number): 'ask' | 'reverse' {
  return state === 'reversing' || ageMs >= REVERSE_AFTER_MS ? 'reverse' : 'ask';
}

/** Whether an answer, asked for at this age, means that the key has to be barred: the charge did not arrive. */
export function isMissing(answer: AcquirerAnswer, ageMs: number): boolean {
  return answer.kind === 'notFound' && ageMs >= NOT_FOUND_COUNTS_AFTER_MS;
}

/** Whatever the acquirer says of a key, asked by any of its calls. */
export type AcquirerAnswer = ChargeOutcome | AskedOutcome | ReversalOutcome;

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
  /** The acquirer is asked again later. */
  | { readonly kind: 'unknown' }
  /** The key was reversed at the acquirer by another than this row: the row has to follow. */
  | { readonly kind: 'reverse' }
  /** The answer adds nothing to what the row says. */
  | { readonly kind: 'none' }
  /** The answer contradicts the row. With `giveBack`, the acquirer holds money that must be given back. */
  | { readonly kind: 'incident'; readonly giveBack: boolean };

const NONE: Conclusion = { kind: 'none' };
const INCIDENT: Conclusion = { kind: 'incident', giveBack: false };
const GIVE_BACK: Conclusion = { kind: 'incident', giveBack: true };

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
      return state === 'approved' ? NONE : GIVE_BACK;
    case 'declined':
      if (CHARGEABLE_STATES.includes(state)) return { kind: 'end', end: endOf(answer) };
      // A reversal can overtake the answer to the charge: then no money moved, as the row says.
      return state === 'approved' || state === 'reversed' ? INCIDENT : NONE;
    case 'verificationRequired':
    case 'notAttempted':
      if (CHARGEABLE_STATES.includes(state)) return { kind: 'end', end: endOf(answer) };
      return state === 'reversing' || state === 'notAttempted' ? NONE : INCIDENT;
  }
}

/** The states that this answer ends; the statement that records the end changes no row in another one. */
export function statesEndedBy(answer: AcquirerAnswer): AttemptState[] {
  return ATTEMPT_STATES.filter((state) => conclude(state, answer).kind === 'end');
}

type FinalAnswer = Exclude<AcquirerAnswer, { kind: 'unknown' | 'unconfirmed' | 'notFound' }>;

/** Whether the answer says what happened under the key. */
export function isFinal(answer: AcquirerAnswer): answer is FinalAnswer {
  return answer.kind !== 'unknown' && answer.kind !== 'unconfirmed' && answer.kind !== 'notFound';
}

/** The end that a final answer means, where the attempt may take it. */
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
