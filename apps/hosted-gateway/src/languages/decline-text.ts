/** What the card form says after a try that failed. */
import { SESSION_TRIES_MAX } from '../sessions/tries.js';
import { fill } from './fill.js';
import type { Language } from './languages.js';

/** What happened, and what to do next. @param decline of the payment (P4) */
export function declineText(
  { tag, messages }: Language,
  decline: { errorReference: string; message: string } | undefined,
): { title: string; next: string } {
  const { declines, unknownDecline } = messages;
  const { errorReference = '', message = '' } = decline ?? {};
  if (Object.hasOwn(declines, errorReference)) return declines[errorReference as keyof typeof declines];
  // The error catalogue speaks English.
  return { title: unknownDecline.title, next: (tag === 'en' && message) || unknownDecline.next };
}

/** @param left the coming try included */
export function triesLeftText({ messages: { form } }: Language, left: number): string {
  return left === 1 ? form.lastTry : fill(form.triesLeft, { left, tries: SESSION_TRIES_MAX });
}

/** What a payer who asks the store, or its support, can name; undefined where there was no payment. */
export function referenceText(
  { messages: { paid } }: Language,
  decline: { paymentReference?: string } | undefined,
): string | undefined {
  return decline?.paymentReference && `${paid.reference}: ${decline.paymentReference}`;
}
