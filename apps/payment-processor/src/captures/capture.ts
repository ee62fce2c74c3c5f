import type { CaptureReport, CaptureReportOutcome } from '../acquirers/acquirer-report.js';

/**
 * Allowed state transitions of a capture, at an acquirer that captures separately. `due`: the charge is approved, and the
 * acquirer has not received the request to capture, or has refused it. `requested`: the acquirer has received it and
 * reports the outcome. `failed` can follow `captured`, days later, when the card scheme rejects the capture. A trigger of
 * the table contains the same list. A test compares the two lists.
 */
export const CAPTURE_TRANSITIONS = {
  due: ['requested', 'captured', 'failed'],
  requested: ['due', 'captured', 'failed'],
  captured: ['failed'],
  failed: [],
} as const;

export type CaptureState = keyof typeof CAPTURE_TRANSITIONS;

/**
 * Why a capture failed. `rejected`: the acquirer refused the request, so the reservation is still open and is released.
 * `cardScheme`: the card scheme rejected a capture that the acquirer had accepted.
 */
export type CaptureFailure = 'cardScheme' | 'rejected';

/** Delays between requests that the acquirer has not received; then the last one. */
export const RETRY_DELAYS_MS: readonly number[] = [1_000, 5_000, 30_000, 300_000];
/** Delay before a request that was rejected is repeated. */
export const REJECTED_DELAY_MS = 3_600_000;
/**
 * A capture without an outcome at this age is an incident, and one that the acquirer still rejects has failed: within this
 * time an operator can repair a wrong setting. An authorisation is valid for some days.
 */
export const CAPTURE_OVERDUE_MS = 86_400_000;
/** Cards' authorisations have expired at this age, so the release of one is requested no longer. */
export const RELEASE_LIMIT_MS = 28 * 86_400_000;

/**
 * Time of the next step, after this number of requests. `unknown`: the acquirer may not have received the last request.
 * `received`: the request is not repeated. The next step reports that its outcome is overdue.
 */
export function nextRequestAt(result: 'received' | 'rejected' | 'unknown', requests: number, now: Date): Date {
  const delays = {
    received: CAPTURE_OVERDUE_MS,
    rejected: REJECTED_DELAY_MS,
    unknown: RETRY_DELAYS_MS[requests - 1] ?? RETRY_DELAYS_MS.at(-1)!,
  };
  return new Date(now.getTime() + delays[result]);
}

/** The values that decide the effect of a report on a capture. */
export interface ReportedCapture {
  /** The acquirer's reference of the newest reported outcome, or of the request; undefined if the acquirer has named none. */
  readonly captureReference: string | undefined;
  readonly state: CaptureState;
  /** Undefined unless the capture has failed. */
  readonly failure: CaptureFailure | undefined;
  /** Number of requests to capture. */
  readonly requests: number;
  readonly createdAt: Date;
}

/** `requestAgain`: the acquirer refused one of several requests, and an earlier one may still be captured. */
export type CaptureConclusion = 'captured' | CaptureFailure | 'requestAgain' | 'incident' | 'none';

/**
 * The effect of the acquirer's report on a capture. A failure is final, so the order in which `captured` and `failed`
 * arrive does not matter. Money that is taken after the payment was booked back is an incident.
 */
export function concludeReport(
  capture: ReportedCapture,
  {
    outcome,
    acquirerReference,
    isRecapture,
  }: Pick<CaptureReport, 'isRecapture' | 'acquirerReference'> & { readonly outcome: CaptureReportOutcome },
  now: Date,
): CaptureConclusion {
  const { state, failure, requests, captureReference } = capture;
  if (outcome === 'failed') return state === 'failed' ? 'none' : 'cardScheme';
  if (outcome === 'captured') {
    if (state === 'captured') return 'none';
    if (state !== 'failed') return 'captured';
    return failure === 'rejected' || isRecapture === true || captureReference !== acquirerReference
      ? 'incident'
      : 'none';
  }
  if (state === 'captured' || state === 'failed') return 'none';
  return requests <= 1 || isOverdue(capture, now) ? 'rejected' : 'requestAgain';
}

export function isOverdue({ createdAt }: Pick<ReportedCapture, 'createdAt'>, now: Date): boolean {
  return now.getTime() - createdAt.getTime() >= CAPTURE_OVERDUE_MS;
}
