import type { DeclineCode } from '../acquirer.js';

export interface RefusalReason {
  /** Adyen's text, which is the `reason` of a webhook. For operators only: payers must not see it. */
  readonly text: string;
  readonly declineCode: DeclineCode;
  /** True when another charge of the same card cannot succeed, so that a repeat only costs a fee of the card scheme. */
  readonly isFinal: boolean;
}

const final = (text: string, declineCode: DeclineCode): RefusalReason => ({ text, declineCode, isFinal: true });
const transient = (text: string, declineCode: DeclineCode): RefusalReason => ({ text, declineCode, isFinal: false });

/**
 * Adyen's refusal reasons by `refusalReasonCode`. Code 0 is not listed, because it means that there is no refusal. A
 * test compares this table with the published list (Adyen's documentation, page "Refusal reasons").
 */
export const REFUSAL_REASONS: Readonly<Record<string, RefusalReason>> = {
  2: transient('Refused', 'card.declined'),
  3: transient('Referral', 'card.declined'),
  4: transient('Acquirer Error', 'card.declined'),
  5: final('Blocked Card', 'card.declined'),
  6: final('Expired Card', 'card.expired'),
  7: transient('Invalid Amount', 'card.declined'),
  8: final('Invalid Card Number', 'card.invalid'),
  9: transient('Issuer Unavailable', 'card.declined'),
  10: final('Not supported', 'card.declined'),
  11: transient('3D Not Authenticated', 'verification.failed'),
  12: transient('Not enough balance', 'card.insufficient-funds'),
  14: final('Acquirer Fraud', 'card.suspected-fraud'),
  15: transient('Cancelled', 'card.declined'),
  // A payer can only cancel on the page of the bank that verifies the payer.
  16: transient('Shopper Cancelled', 'verification.failed'),
  17: transient('Invalid Pin', 'card.declined'),
  18: final('Pin tries exceeded', 'card.declined'),
  19: transient('Pin validation not possible', 'card.declined'),
  20: final('FRAUD', 'card.suspected-fraud'),
  21: transient('Not Submitted', 'card.declined'),
  22: final('FRAUD-CANCELLED', 'card.suspected-fraud'),
  23: final('Transaction Not Permitted', 'card.declined'),
  24: transient('CVC Declined', 'card.incorrect-cvv'),
  25: final('Restricted Card', 'card.declined'),
  26: final('Revocation Of Auth', 'card.declined'),
  27: transient('Declined Non Generic', 'card.declined'),
  28: transient('Withdrawal amount exceeded', 'card.limit-exceeded'),
  29: transient('Withdrawal count exceeded', 'card.limit-exceeded'),
  31: final('Issuer Suspected Fraud', 'card.suspected-fraud'),
  32: transient('AVS Declined', 'card.declined'),
  33: transient('Card requires online pin', 'card.declined'),
  34: final('No checking account available on Card', 'card.declined'),
  35: final('No savings account available on Card', 'card.declined'),
  36: transient('Mobile pin required', 'card.declined'),
  37: transient('Contactless fallback', 'card.declined'),
  // The issuer requires 3D Secure, and the payment had none.
  38: transient('Authentication required', 'verification.failed'),
  39: transient('RReq not received from DS', 'verification.failed'),
  40: transient('Current AID is in Penalty Box', 'card.declined'),
  41: transient('CVM Required Restart Payment', 'card.declined'),
  42: transient('3DS Authentication Error', 'verification.failed'),
  46: final('Transaction blocked by Adyen to prevent excessive retry fees', 'card.declined'),
  50: final('Token Revoked', 'card.declined'),
};

/** A cancellation, by the payer or for a reason that Adyen does not tell. */
export const CANCELLED = REFUSAL_REASONS[15]!;

const REASONS_BY_TEXT = new Map(Object.values(REFUSAL_REASONS).map((reason) => [reason.text.toLowerCase(), reason]));

/** The reason with this code or this text. Undefined for a reason that this release does not know. */
export function findRefusalReason({ code, text }: { code?: unknown; text?: unknown }): RefusalReason | undefined {
  if (typeof code === 'string' && Object.hasOwn(REFUSAL_REASONS, code)) return REFUSAL_REASONS[code];
  return typeof text === 'string' ? REASONS_BY_TEXT.get(text.trim().toLowerCase()) : undefined;
}

export function declineCodeOf(refusal: { code?: unknown; text?: unknown }): DeclineCode {
  return findRefusalReason(refusal)?.declineCode ?? 'card.declined';
}
