import type { PaymentSnapshot, PublicKeyJwk } from '@svc/contracts';
import { ownCodeText } from '@svc/kernel';
import type { OrderShown, PayablePage, ProcessingPage, SessionPage } from '../page-views/pay-page-model.js';
import { callsPathOf, isScanned, type PayerAddress } from '../sessions/payer-address.js';
import { sessionState } from '../sessions/session.js';
import { SESSION_TRIES_MAX } from '../sessions/tries.js';
import type { SessionWithPayments } from '../sessions/session.repository.js';
import { linkToMerchant } from './payer-links.js';

/** How long after a success the page is the receipt that leads back by itself; later it says that all is paid. */
const RECEIPT_MS = 60_000;
/** A payment that has taken longer than a bank usually does: the page says so, and that nobody should pay again. */
const LATE_MS = 10_000;

export interface PageFacts {
  readonly session: SessionWithPayments;
  /** By which the payer came: of a device that scanned the code no way leads to the shop, whose browser it is not. */
  readonly address: PayerAddress;
  /** What codes begin with (D5). */
  readonly codesUrl: string;
  readonly encryptionKey: PublicKeyJwk;
  readonly locale: string;
  /** Asks for the form although a verification is open. */
  readonly wantsAnotherCard: boolean;
  /** A press of Pay is just being passed on. */
  readonly isPressed: boolean;
  readonly now: Date;
}

/** Decides what the payer sees, from what is known of the session. Pure: the same facts give the same page. */
export function decidePage(facts: PageFacts): SessionPage {
  const { session, now } = facts;
  const { payments } = session;
  const paid = payments.find(isSuccess);
  const order = orderOf(facts, paid ?? latestOf(payments));
  if (paid) return receiptOf(facts, order, paid);
  const state = sessionState(session, now);
  switch (state) {
    case 'open':
    case 'expired':
      return pageOfFree(facts, order, latestOf(payments.filter(isOfPage)));
    case 'processing': {
      const underWay = payments.find((payment) => payment.state === 'processing');
      const isLate = underWay !== undefined && now.getTime() - Date.parse(underWay.modifiedUTCDate) >= LATE_MS;
      return processingPage(order, isLate);
    }
    case 'completed':
      // The session can be told of the success before the payment's own row is there; it is on its way.
      return processingPage(order, false);
    default:
      return { ...order, state };
  }
}

function receiptOf({ session, address, now }: PageFacts, order: OrderShown, paid: PaymentSnapshot): SessionPage {
  const isJustNow = now.getTime() - Date.parse(paid.modifiedUTCDate) < RECEIPT_MS;
  return {
    ...order,
    state: isJustNow ? 'succeeded' : 'already-paid',
    paymentReference: paid.paymentReference,
    paidAt: paid.modifiedUTCDate,
    ...(isScanned(address) ? {} : { returnUrl: linkToMerchant(session.returnUrl, session, paid) }),
  };
}

/** No link back to the store: the store would show an order that is not paid, while the bank may still approve the charge. */
function processingPage({ backToStoreUrl: _, ...order }: OrderShown, isLate: boolean): ProcessingPage {
  return { ...order, state: 'processing', isLate };
}

/** Nobody holds the payable: the form, unless the payer was sent to the bank and can still go on there. */
function pageOfFree(facts: PageFacts, order: OrderShown, latest: PaymentSnapshot | undefined): SessionPage {
  const { session, address, encryptionKey, now } = facts;
  const { verificationUrl, verificationUntilUTCDate: until = '' } = latest ?? {};
  // The payment can be known before its payable is.
  if (facts.isPressed || session.payments.some(({ state }) => state === 'processing'))
    return processingPage(order, false);
  const triesLeft = SESSION_TRIES_MAX - session.tries;
  const isPayable = sessionState(session, now) === 'open' && triesLeft > 0;
  const canGoOn = verificationUrl !== undefined && Date.parse(until) > now.getTime();
  // A session does not expire while its payer is at the bank (H2).
  if (canGoOn && !(facts.wantsAnotherCard && isPayable)) {
    const query = isScanned(address) ? '' : `sessionId=${session.sessionId}&`;
    const another = isPayable ? { anotherCardUrl: `?${query}card=another` } : {};
    return { ...order, state: 'verification', verificationUrl, until, ...another };
  }
  if (!isPayable) return { ...order, state: triesLeft > 0 ? 'expired' : 'refused' };
  const isPartnersOnly = latest === undefined && session.payments.length > 0;
  const isDeclined = session.tries > 0 && !isPartnersOnly && latest?.state !== 'verificationRequired';
  const form: PayablePage = {
    ...order,
    state: isDeclined ? 'declined' : 'open',
    try: session.tries + 1,
    triesLeft,
    expiresAt: session.expiresAt.toISOString(),
    encryptionKey,
    decline: isDeclined ? latest?.errors[0] : undefined,
    ...(isScanned(address) || session.code === null ? {} : { code: ownCodeText(session.code, facts.codesUrl) }),
  };
  return form;
}

/** @param decisive the payment that succeeded, however many were made after it; otherwise the latest (H6) */
function orderOf({ session, address, locale }: PageFacts, decisive: PaymentSnapshot | undefined): OrderShown {
  const wayBack = decisive && isSuccess(decisive) ? session.returnUrl : session.cancelUrl;
  return {
    sessionId: session.sessionId,
    callsPath: callsPathOf(address),
    sessionVersion: session.payableVersion,
    merchantName: session.merchantName,
    siteName: session.siteName ?? undefined,
    merchantOrderId: session.merchantOrderId,
    amountCents: session.amount,
    currencyISOCode: session.currencyISOCode,
    customFields: session.customFields,
    ...(isScanned(address) ? {} : { backToStoreUrl: linkToMerchant(wayBack, session, decisive) }),
    hasGivenBack: session.payments.some(({ reversedUTCDate }) => reversedUTCDate !== undefined),
    locale,
  };
}

function isSuccess({ state }: PaymentSnapshot): boolean {
  return state === 'success';
}

/** A partner verifies its own customer, and tells him why his card was declined: neither is this payer's affair. */
function isOfPage({ partner }: PaymentSnapshot): boolean {
  return partner === undefined;
}

/** By when it was accepted: an older one may change later, when its verification runs out. */
function latestOf(payments: readonly PaymentSnapshot[]): PaymentSnapshot | undefined {
  return payments.reduce<PaymentSnapshot | undefined>(
    (latest, one) => (latest && latest.paymentUTCDate >= one.paymentUTCDate ? latest : one),
    undefined,
  );
}
