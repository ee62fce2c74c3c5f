import { MAX_REQUEST_DAYS } from '@svc/contracts';
import { addDays, isCalendarDay } from '@svc/kernel';

/** `refused`: too many payments have failed. `cancelled`: a person or the till of the site closed it. */
export const REQUEST_STATES = ['open', 'paid', 'cancelled', 'expired', 'refused'] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

export interface RequestFacts {
  readonly expiresUTCDate: string;
  /** The successful payment. */
  readonly paymentReference: string | null;
  /** How the payable ended without a payment. */
  readonly endedState: 'closed' | 'refused' | null;
  readonly endedUTCDate: string | null;
}

/**
 * The state of a payment request. A payment that began before the expiry may succeed after it. An expired request may be
 * closed later, when its order number is used again.
 */
export function determineRequestState(request: RequestFacts, now: Date): RequestState {
  const { expiresUTCDate, paymentReference, endedState, endedUTCDate } = request;
  if (paymentReference !== null) return 'paid';
  if (endedState === 'refused') return 'refused';
  if (endedState === 'closed' && endedUTCDate !== null && endedUTCDate < expiresUTCDate) return 'cancelled';
  return endedState === 'closed' || now.toISOString() >= expiresUTCDate ? 'expired' : 'open';
}

/** Days after today that the form offers; `date` is a day of the person's choice. */
export const EXPIRY_CHOICES = ['1', '7', '30', 'date'] as const;
export type ExpiryChoice = (typeof EXPIRY_CHOICES)[number];

/**
 * The last day of a payment request, in the merchant's days: from today to 30 days after today. Undefined if the choice is
 * none of these.
 */
export function chooseLastDay(today: string, choice: string | undefined, date: string | undefined): string | undefined {
  const known = EXPIRY_CHOICES.find((expiry) => expiry === choice);
  if (known === undefined) return undefined;
  if (known !== 'date') return addDays(today, Number(known));
  const isAllowed = isCalendarDay(date) && date >= today && date <= addDays(today, MAX_REQUEST_DAYS);
  return isAllowed ? date : undefined;
}
