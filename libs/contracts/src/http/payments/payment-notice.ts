import type { PaymentNotification } from './payment-notification.js';
import type { RefundStatus } from './refunds.js';

/**
 * A notice of a site's webhook and of the stream (M6): a payment became final, or was refunded or reversed. The fields
 * of the payment are those of the retrieval model.
 */
export type PaymentNotice = PaymentNotification &
  ({ readonly type: 'payment' } | { readonly type: 'refund'; readonly refund: RefundNotice });

/** A full or partial refund, or an automatic reversal (H2, M5). */
export interface RefundNotice {
  /**
   * UUID; never changes.
   * @schema uuid
   */
  refundReference: string;
  /** Cents. */
  amount: number;
  status: RefundStatus;
  /** ISO 8601 UTC with milliseconds (C2). */
  createdUTCDate: string;
}
