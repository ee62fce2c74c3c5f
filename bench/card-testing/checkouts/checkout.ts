/** A purchase and the attempts to pay for it, on the payment page or in a partner's app. */
import type { CardData } from '@svc/sdk/card';

/**
 * Result of one attempt to pay. `refused`: a limit refused the attempt before the bank. `challenged`: the page requires
 * a challenge, and this payer does not solve it. `verification`: the bank wants to verify the payer.
 */
export type AttemptOutcome = 'approved' | 'declined' | 'refused' | 'challenged' | 'verification';

export interface Checkout {
  /** Responses that other payments of the address are in flight (429), after which the page repeated the payment by itself. */
  readonly waits: number;
  /** Responses after which the payer had to press Pay again: another payment is in progress (409), or too many waits. */
  readonly pressesAgain: number;
  /** @throws Error if a response differs from the documentation */
  attempt(card: CardData): Promise<AttemptOutcome>;
  /** Confirms the payment on the bank's page after the outcome `verification`. */
  confirm(): Promise<AttemptOutcome>;
}

/** Whether the bank has authorised or declined the attempt. A request to verify the payer is neither. */
export function isAuthorisation(outcome: AttemptOutcome): boolean {
  return outcome === 'approved' || outcome === 'declined';
}

export interface Session {
  readonly sessionId: string;
  readonly redirectUrl: string;
}

export interface Invoice {
  readonly code: string;
  /** Cents. */
  readonly amount: number;
}

export interface PartnerCredentials {
  readonly organisationId: string;
  readonly apiKey: string;
  readonly apiToken: string;
}

/** HTTP status of a refused attempt (errorReference 18). */
export const REFUSED_STATUS = 422;
/** HTTP status of an attempt while another payment is in progress. */
export const CONFLICT_STATUS = 409;
/** Pause before the payer presses Pay again. */
export const PRESS_PAUSE_MS = 500;
export const MAX_PRESSES = 20;
