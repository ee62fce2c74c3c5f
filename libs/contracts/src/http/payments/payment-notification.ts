import type { MerchantRefund } from '../../events/payments.js';
import type { MerchantPayment } from './merchant-payment.js';

/**
 * A notification of a site's webhook and of the stream (M6): a payment became final, or was refunded or reversed. The
 * fields of the payment are those of the retrieval model.
 */
export type PaymentNotification = MerchantPayment &
  ({ readonly type: 'payment' } | { readonly type: 'refund'; readonly refund: MerchantRefund });
