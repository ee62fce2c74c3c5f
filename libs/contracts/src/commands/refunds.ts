import type { Mode } from '../events/credentials.js';
import { commandType } from '../events/envelope.js';
import type { RefundResponse } from '../http/payments/refunds.js';

/** A refund by a person of the merchant. The console has checked the role of the person. */
export interface CreateRefund {
  merchantId: number;
  /** The site of the payment: a refund of another site's payment is refused. */
  siteId: number;
  mode: Mode;
  /** paymentReference of the payment (C3). */
  svcId: string;
  /** Cents. */
  amount: number;
  /**
   * Cents. The limit of the person for all refunds of the payment together, with this one. Concurrent refunds together
   * stay within it.
   */
  maxRefundedAmount: number;
  /** For the merchant's own records; at most 200 characters. */
  reason?: string;
  /** 1 to 100 characters. A repeat with the same key is the same refund. */
  idempotencyKey: string;
  /** @schema uuid */
  personId: string;
}

/**
 * Refunds a payment in full or in part (M5), from the console to payment-processor. The reply comes after 20 s at the
 * latest, then with the state `pending`. Refused as the merchant's own request: `resource.not-found`,
 * `refund.not-possible`, `refund.amount-exceeded`, `refund.in-progress`, `request.idempotency-conflict`.
 */
export const CreateRefundV1 = commandType<CreateRefund, RefundResponse>('create-refund.v1');
