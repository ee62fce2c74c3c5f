/** Texts of the card form after a failed payment. */
import { MAX_SESSION_PAYMENTS } from '../sessions/max-session-payments.js';
import { fill } from './fill.js';
import type { Language } from './languages.js';

/** The reason of a decline and the next step for the payer. @param decline the error of the payment (P4) */
export function buildDeclineText(
  { tag, messages }: Language,
  decline: { errorReference: string; message: string } | undefined,
): { title: string; next: string } {
  const { declines, unknownDecline } = messages;
  const { errorReference = '', message = '' } = decline ?? {};
  if (Object.hasOwn(declines, errorReference)) return declines[errorReference as keyof typeof declines];
  // The message is from the error catalogue, which is in English.
  return { title: unknownDecline.title, next: (tag === 'en' && message) || unknownDecline.next };
}

/** Text with the number of payments left, empty if it is undefined. @param left includes the next payment */
export function buildPaymentsLeftText({ messages: { form } }: Language, left: number | undefined): string {
  if (left === undefined) return '';
  return left === 1 ? form.lastPayment : fill(form.paymentsLeft, { left, payments: MAX_SESSION_PAYMENTS });
}

/**
 * Text with the payment reference, which the payer gives to the store or to support. Undefined if there is no payment.
 */
export function buildReferenceText(
  { messages: { paid } }: Language,
  decline: { paymentReference?: string } | undefined,
): string | undefined {
  return decline?.paymentReference && `${paid.reference}: ${decline.paymentReference}`;
}
