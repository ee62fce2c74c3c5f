import { isFinal, type PaymentSnapshot } from '@svc/contracts';
import type { Session } from '../../sessions/session.js';

/**
 * The merchant's URL with parameters that identify the order (H6): sessionId, merchantOrderId and,
 * after a payment, paymentReference and paymentStatus. Other parameters of the URL stay.
 */
export function buildMerchantLink(address: string, session: Session, latest: PaymentSnapshot | undefined): string {
  const url = new URL(address);
  url.searchParams.set('sessionId', session.sessionId);
  url.searchParams.set('merchantOrderId', session.merchantOrderId);
  if (latest && isFinal(latest)) {
    url.searchParams.set('paymentReference', latest.paymentReference);
    url.searchParams.set('paymentStatus', latest.state === 'success' ? 'Success' : 'Failed');
  }
  return url.href;
}
