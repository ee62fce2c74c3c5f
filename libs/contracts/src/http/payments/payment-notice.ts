import type { PaymentNotification } from './payment-notification.js';
import type { RefundStatus } from './refunds.js';

/**
 * What a site's webhook and the stream say of a payment (M6): that it became final, or that money of it was given back.
 * The payment's own fields are those of the retrieval model.
 */
export type PaymentNotice = PaymentNotification &
  ({ readonly type: 'payment' } | { readonly type: 'refund'; readonly refund: RefundNotice });

/** Money given back, wholly or in part; an automatic reversal too (H2, M5). */
export interface RefundNotice {
  /** UUID; names it for ever. */
  refundReference: string;
  /** Cents. */
  amount: number;
  status: RefundStatus;
  /** ISO 8601 UTC with milliseconds (C2). */
  createdUTCDate: string;
}
