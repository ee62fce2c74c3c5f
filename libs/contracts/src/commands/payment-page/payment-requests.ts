import type { Mode } from '../../events/credentials.js';
import { commandType } from '../../events/envelope.js';

/** Longest description of a payment request, in characters. The payer sees it on the page, as the name of a line item. */
export const MAX_REQUEST_DESCRIPTION_LENGTH = 200;
/** Last day on which a payment request can be paid: this many days after the day of its creation, in the merchant's days. */
export const MAX_REQUEST_DAYS = 30;
/**
 * Longest time until a payment request expires. The last day ends up to 31 days after the request, and one hour later if
 * the clocks change; a change of the merchant's time zone makes a day longer too.
 */
export const MAX_REQUEST_LIFETIME_MS = 32 * 86_400_000;
/** Shortest time until a payment request expires, as for the invoice of a till. */
export const MIN_REQUEST_LIFETIME_MS = 60_000;

/** The site of a payment request, and the person who acts. The console has checked the role of the person. */
export interface PaymentRequestAuthor {
  merchantId: number;
  siteId: number;
  mode: Mode;
  /** @schema uuid */
  personId: string;
  /** `x-request-id` of the console's response, for the audit log (C8). */
  requestId: string;
}

export interface CreatePaymentRequest extends PaymentRequestAuthor {
  /** Cents, 1 to 100 000 000 000. */
  amount: number;
  /** 1 to 200 characters. */
  description: string;
  /** The merchant's order number, 1 to 100 characters. */
  externalReference?: string;
  /**
   * ISO 8601 UTC, from one minute to 32 days after the request.
   * @schema date-time
   */
  expiresUTCDate: string;
  /**
   * Of the form. A repeat with the same key is the same payment request.
   * @schema uuid
   */
  idempotencyKey: string;
}

export interface CreatedPaymentRequest {
  /**
   * The invoice, which is also the payable.
   * @schema uuid
   */
  invoiceReference: string;
  /** The 20 digits of its code (D5). */
  code: string;
  /**
   * ISO 8601 UTC.
   * @schema date-time
   */
  expiresUTCDate: string;
}

/**
 * Creates a payment request, an invoice that a person of the merchant sends to a payer (D7), from the console to
 * code-decoder. Refused with `resource.not-found` for a site of another merchant, `request.invalid`,
 * `request.idempotency-conflict`, and `resource.conflict` while the site has an open invoice with the order number.
 */
export const CreatePaymentRequestV1 = commandType<CreatePaymentRequest, CreatedPaymentRequest>(
  'create-payment-request.v1',
);

export interface CancelPaymentRequest extends PaymentRequestAuthor {
  /** @schema uuid */
  invoiceReference: string;
}

/**
 * Cancels a payment request, from the console to code-decoder. A repeat has no further effect. Refused with
 * `resource.not-found`, also for the invoice of a till, `payment.in-progress` and `payable.paid`.
 */
export const CancelPaymentRequestV1 = commandType<CancelPaymentRequest, { cancelled: true }>(
  'cancel-payment-request.v1',
);
