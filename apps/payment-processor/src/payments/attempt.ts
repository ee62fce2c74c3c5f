import type { ChargeOutcome, ChargeQueryResult, ReversalOutcome } from '../acquirers/acquirer.js';
import type { Settlement } from './payment.js';

/**
 * State of an attempt. An attempt is one call to the acquirer within a payment (P1). `started`: no response yet.
 * `unknown`: the charge may have happened. In these two states the acquirer is queried until the attempt ends.
 * `reversing`: the decision to reverse is committed, so a later approval never becomes a success. In these three states
 * the payable stays reserved. `notAttempted`: no money moved, because nothing was sent, or because the bank required a
 * verification. After the verification another attempt charges. An attempt that ended without a charge becomes
 * `reversed` when a late approval for it was reversed. A test compares the transitions with the trigger of the table.
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
/**
 * From this age on, the recovery job no longer queries the acquirer. The job requests the reversal until the acquirer
 * confirms the reversal (P1).
 */
export const REVERSE_AFTER_MS = 900_000;
/** Before this age, the response `notFound` can mean that the acquirer has not received the call yet. */
export const NOT_FOUND_FINAL_AFTER_MS = 10_000;
/** Delay before an unconfirmed reversal is retried. */
export const REVERSAL_RETRY_MS = 30_000;
/**
 * A call that starts more than this time after the acceptance needs a new lease, which restarts the age of the attempt.
 * Even with the longest timeout (9 s), a call that starts in time ends before {@link NOT_FOUND_FINAL_AFTER_MS}.
 */
const MAX_CALL_DELAY_MS = 1_000;

/**
 * Returns the time of the next query, if `queries` queries were sent. After the last query, returns the time of the
 * next request for the reversal.
 */
export function nextQueryAt(startedAt: Date, queries: number, now: Date): Date {
  const dueAt = startedAt.getTime() + (QUERY_AFTER_MS[queries] ?? REVERSE_AFTER_MS);
  return new Date(
    dueAt > now.getTime() ? dueAt : now.getTime() + (queries < QUERY_AFTER_MS.length ? 0 : REVERSAL_RETRY_MS),
  );
}

/**
 * True when the call starts so late after `startedAt` that it needs a new lease. This happens when the process was
 * frozen or the database was slow.
 */
export function needsLeaseBeforeCall(startedAt: Date, now: Date): boolean {
  return !(now.getTime() - startedAt.getTime() < MAX_CALL_DELAY_MS);
}

/**
 * The next step for an attempt without an outcome: query the acquirer, or reverse without a query. A charge that is
 * captured separately is abandoned instead of reversed.
 */
export function recoveryStep(
  state: AttemptState,
  ageMs: number,
  capturesSeparately = false,
): 'query' | 'reverse' | 'abandon' {
  if (state !== 'reversing' && ageMs < REVERSE_AFTER_MS) return 'query';
  return capturesSeparately ? 'abandon' : 'reverse';
}

/**
 * True when a response at this age means that the acquirer never received the charge. In this case a reversal must
 * block the charge's key, so that the charge cannot arrive later.
 */
export function isChargeMissing(response: AcquirerResponse, ageMs: number): boolean {
  return response.kind === 'notFound' && ageMs >= NOT_FOUND_FINAL_AFTER_MS;
}

/**
 * Any response of the acquirer about an idempotency key: to a charge, a query or a reversal, or its own report. Also the
 * decision `abandoned` of this service: the charge is never captured, so no money can move, whatever the acquirer does
 * ({@link Acquirer.capturesSeparately}).
 */
export type AcquirerResponse = ChargeOutcome | ChargeQueryResult | ReversalOutcome | { readonly kind: 'abandoned' };

/** The end of an attempt, and the settlement of its payment. */
export interface AttemptEnd {
  readonly state: Exclude<AttemptState, 'started' | 'unknown' | 'reversing'>;
  readonly acquirerReference?: string;
  /** The acquirer's own code of a refusal. */
  readonly acquirerCode?: string;
  readonly settlement: Settlement;
  /**
   * `capture`: the acquirer has only reserved the money. `release`: the acquirer may hold a reservation that is never
   * captured.
   */
  readonly followUp?: 'capture' | 'release';
}

/** The effect of a response on an attempt. */
export type Conclusion =
  /** The attempt and its payment end. */
  | { readonly kind: 'end'; readonly end: AttemptEnd }
  /** The acquirer is queried again later. */
  | { readonly kind: 'unknown' }
  /**
   * The acquirer has reversed the charge although the row contains no decision to reverse. The row must become
   * `reversing`.
   */
  | { readonly kind: 'reverse' }
  /** The response changes nothing. */
  | { readonly kind: 'none' }
  /** The response contradicts the row. With `needsReversal`, the acquirer holds money that must be returned. */
  | { readonly kind: 'incident'; readonly needsReversal: boolean };

const NO_EFFECT: Conclusion = { kind: 'none' };
const INCIDENT: Conclusion = { kind: 'incident', needsReversal: false };
const INCIDENT_WITH_REVERSAL: Conclusion = { kind: 'incident', needsReversal: true };

/**
 * Decides the effect of a response on an attempt in this state. The unit test lists the result of every pair. A second
 * approval with another reference is a second charge of the payment.
 *
 * @param approvedReference the acquirer's reference that is stored with an approved attempt
 */
export function conclude(state: AttemptState, response: AcquirerResponse, approvedReference?: string): Conclusion {
  switch (response.kind) {
    case 'unknown':
    case 'unconfirmed':
    case 'notFound':
      return CHARGEABLE_STATES.includes(state) ? { kind: 'unknown' } : NO_EFFECT;
    case 'reversed':
      if (CHARGEABLE_STATES.includes(state)) return { kind: 'reverse' };
      if (state === 'reversing') return { kind: 'end', end: attemptEndFor(response) };
      return state === 'reversed' ? NO_EFFECT : INCIDENT;
    case 'neverCharged':
      if (CHARGEABLE_STATES.includes(state) || state === 'reversing')
        return { kind: 'end', end: attemptEndFor(response) };
      return state === 'approved' || state === 'reversed' ? INCIDENT : NO_EFFECT;
    case 'approved':
      if (CHARGEABLE_STATES.includes(state)) return { kind: 'end', end: attemptEndFor(response) };
      if (state !== 'approved') return INCIDENT_WITH_REVERSAL;
      // A reversal by the payment's reference could release the charge that is captured, so an operator decides.
      return approvedReference === undefined || approvedReference === response.acquirerReference ? NO_EFFECT : INCIDENT;
    case 'declined':
      if (CHARGEABLE_STATES.includes(state)) return { kind: 'end', end: attemptEndFor(response) };
      // If a reversal overtakes the response to the charge, no money moved, which is consistent with the row.
      return state === 'approved' || state === 'reversed' ? INCIDENT : NO_EFFECT;
    case 'abandoned':
      return CHARGEABLE_STATES.includes(state) ? { kind: 'end', end: attemptEndFor(response) } : NO_EFFECT;
    case 'verificationRequired':
    case 'notAttempted':
      if (CHARGEABLE_STATES.includes(state)) return { kind: 'end', end: attemptEndFor(response) };
      return state === 'reversing' || state === 'notAttempted' ? NO_EFFECT : INCIDENT;
  }
}

/**
 * The states in which this response ends an attempt. The statement that records the end changes only rows in these
 * states.
 */
export function statesEndedBy(response: AcquirerResponse): AttemptState[] {
  return ATTEMPT_STATES.filter((state) => conclude(state, response).kind === 'end');
}

export type FinalResponse = Exclude<AcquirerResponse, { kind: 'unknown' | 'unconfirmed' | 'notFound' }>;

/** True when the response contains the outcome of the charge. */
export function isFinal(response: AcquirerResponse): response is FinalResponse {
  return response.kind !== 'unknown' && response.kind !== 'unconfirmed' && response.kind !== 'notFound';
}

/** The end of an attempt after a final response. The caller checks that the attempt's state allows this end. */
export function attemptEndFor(response: FinalResponse): AttemptEnd {
  switch (response.kind) {
    case 'approved':
      return { state: 'approved', acquirerReference: response.acquirerReference, settlement: { state: 'success' } };
    case 'declined':
      return {
        state: 'declined',
        acquirerReference: response.acquirerReference,
        ...(response.acquirerCode === undefined ? {} : { acquirerCode: response.acquirerCode }),
        settlement: { state: 'failed', error: response.reason },
      };
    case 'verificationRequired':
      return {
        state: 'notAttempted',
        acquirerReference: response.challenge.reference,
        settlement: { state: 'verificationRequired', challenge: response.challenge },
      };
    case 'notAttempted':
    case 'neverCharged':
      return { state: 'notAttempted', settlement: { state: 'failed', error: 'acquirer.unavailable' } };
    case 'abandoned':
      return {
        state: 'notAttempted',
        settlement: { state: 'failed', error: 'acquirer.outcome-unknown' },
        followUp: 'release',
      };
    case 'reversed':
      return { state: 'reversed', settlement: { state: 'failed', error: 'acquirer.outcome-unknown' } };
  }
}
