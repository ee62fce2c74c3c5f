import type { Mode } from '../../events/credentials.js';
import { commandType } from '../../events/envelope.js';

/** A successful payment on a payment page. A payment of another merchant, site or mode is not found. */
export interface ReceiptRequest {
  merchantId: number;
  siteId: number;
  mode: Mode;
  /** Service payment id (C3). */
  paymentReference: string;
  /**
   * The session or the invoice.
   * @schema uuid
   */
  payableId: string;
  source: 'session' | 'invoice';
  /** The 20 digits of its code (D5). */
  code: string;
}

export interface ReceiptOptions {
  /** Address of the page with the receipt, which a browser can print. Absent for the invoice of a till. */
  pageUrl?: string;
  /** Whether the receipt can be sent by e-mail. */
  canMail: boolean;
}

/** The receipt of a payment, from the console to hosted-gateway. Refused with `resource.not-found` if there is none. */
export const FindReceiptV1 = commandType<ReceiptRequest, ReceiptOptions>('find-receipt.v1');

export interface SendReceipt extends ReceiptRequest {
  /** The address that the person typed, at most 254 characters. It is used for this mail and not stored. */
  email: string;
  /**
   * A repeat with the same key is the same mail.
   * @schema uuid
   */
  idempotencyKey: string;
  /** @schema uuid */
  personId: string;
  /** `x-request-id` of the console's response, for the audit log (C8). */
  requestId: string;
}

/**
 * `invalid`: the address is not correct, or the mail server refused it. `limited`: three receipts of the payment were sent
 * within 30 days, or five to the address within a day. `failed`: the mail could not be sent now.
 */
export interface SentReceipt {
  result: 'sent' | 'invalid' | 'limited' | 'failed';
}

/**
 * Sends the receipt of a payment by e-mail. Refused with `resource.not-found` if there is no receipt or no mail server, and
 * with `request.idempotency-conflict` if the key was used for another payment or address.
 */
export const SendReceiptV1 = commandType<SendReceipt, SentReceipt>('send-receipt.v1');
