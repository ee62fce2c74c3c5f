import type { PublicKeyJwk } from '@svc/contracts';
import type { OrderShown, SessionPage } from '../page-views/pay-page-model.js';
import { SESSION_TRIES_MAX, sessionState } from '../sessions/session.js';
import type { SessionWithPayments } from '../sessions/session.repository.js';
import { linkToMerchant } from './payer-links.js';

/** How long after a success the page is the receipt that leads back by itself; later it says that all is paid. */
const RECEIPT_MS = 60_000;

export interface PageFacts {
  readonly session: SessionWithPayments;
  readonly encryptionKey: PublicKeyJwk;
  readonly locale: string;
  readonly now: Date;
}

/** Decides what the payer sees, from what is known of the session. Pure: the same facts give the same page. */
export function decidePage({ session, encryptionKey, locale, now }: PageFacts): SessionPage {
  const { payments } = session;
  const latest = payments[0];
  const order: OrderShown = {
    sessionId: session.sessionId,
    sessionVersion: session.payableVersion,
    merchantName: session.merchantName,
    siteName: session.siteName ?? undefined,
    merchantOrderId: session.merchantOrderId,
    amountCents: session.amount,
    currencyISOCode: session.currencyISOCode,
    customFields: session.customFields,
    backToStoreUrl: linkToMerchant(session.cancelUrl, session, latest),
    locale,
  };
  const state = sessionState(session, now);
  switch (state) {
    case 'open':
      return {
        ...order,
        state: session.tries > 0 ? 'declined' : 'open',
        try: session.tries + 1,
        triesLeft: SESSION_TRIES_MAX - session.tries,
        expiresAt: session.expiresAt.toISOString(),
        encryptionKey,
        decline: session.tries > 0 ? latest?.errors[0] : undefined,
      };
    case 'processing':
      return { ...order, state };
    case 'completed': {
      const paid = payments.find((payment) => payment.state === 'success');
      // The session can be told of the success before the payment's own row is there; it is on its way.
      if (!paid) return { ...order, state: 'processing' };
      const justNow = now.getTime() - Date.parse(paid.modifiedUTCDate) < RECEIPT_MS;
      return {
        ...order,
        state: justNow ? 'succeeded' : 'already-paid',
        paymentReference: paid.paymentReference,
        paidAt: paid.modifiedUTCDate,
        returnUrl: linkToMerchant(session.returnUrl, session, paid),
      };
    }
    default:
      return { ...order, state };
  }
}
