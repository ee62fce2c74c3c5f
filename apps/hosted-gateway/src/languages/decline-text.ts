/** Texts of the card form after a failed attempt. */
import { MAX_SESSION_ATTEMPTS } from '../sessions/max-session-attempts.js';
import { fill } from './fill.js';
import type { Language } from './languages.js';

/** The reason and the next step. @param decline of the payment (P4) */
export function declineText(
  { tag, messages }: Language,
  decline: { errorReference: string; message: string } | undefined,
): { title: string; next: string } {
  const { declines, unknownDecline } = messages;
  const { errorReference = '', message = '' } = decline ?? {};
  if (Object.hasOwn(declines, errorReference)) return declines[errorReference as keyof typeof declines];
  // The error catalogue is in English.
  return { title: unknownDecline.title, next: (tag === 'en' && message) || unknownDecline.next };
}

/** @param left including the next attempt */
export function triesLeftText({ messages: { form } }: Language, left: number): string {
  return left === 1 ? form.lastTry : fill(form.triesLeft, { left, tries: MAX_SESSION_ATTEMPTS });
}

/** Reference for the payer's questions to the store or support; undefined without a payment. */
export function referenceText(
  { messages: { paid } }: Language,
  decline: { paymentReference?: string } | undefined,
): string | undefined {
  return decline?.paymentReference && `${paid.reference}: ${decline.paymentReference}`;
}
