import { isFinal } from '@svc/contracts';
import { setQueryParameters } from '@svc/kernel';
import type { PaymentCopy } from '../../payment-copies/payment-copy.js';
import type { Session } from '../../sessions/session.js';

/**
 * The merchant's URL with parameters that identify the order (H6): sessionId, merchantOrderId and,
 * after a payment, paymentReference and paymentStatus. The rest of the URL stays as the merchant sent it.
 */
export function buildMerchantLink(address: string, session: Session, latest: PaymentCopy | undefined): string {
  return setQueryParameters(address, {
    sessionId: session.sessionId,
    merchantOrderId: session.merchantOrderId,
    ...(latest && isFinal(latest)
      ? {
          paymentReference: latest.paymentReference,
          paymentStatus: latest.state === 'success' ? 'Success' : 'Failed',
        }
      : {}),
  });
}
