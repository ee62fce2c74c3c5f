import type { AnyPaymentSnapshot, PublicKeyJwk } from '@svc/contracts';
import { ownCodeText } from '@svc/kernel';
import type {
  ChargeShown,
  DeclineShown,
  GivenBack,
  OrderShown,
  PayablePage,
  ProcessingPage,
  SessionPage,
} from '../../page-views/pay-page-model.js';
import { callsPathOf, isScanned, type PayerAddress } from '../../sessions/payer-address.js';
import type { SessionWithPayments } from '../../sessions/session.repository.js';
import { sessionState } from '../../sessions/session.js';
import { choiceOf, invoiceOrder } from '../payables/invoice-order.js';
import { linkToMerchant } from './payer-links.js';
import { isInvoice, payableIdOf, type ShownPayable, triesLeftOf } from '../payables/shown-payable.js';

/** How long after a success the page is the receipt that leads back by itself; later it says that all is paid. */
const RECEIPT_MS = 60_000;
/** A payment that has taken longer than a bank usually does: the page says so, and that nobody should pay again. */
const LATE_MS = 10_000;

export interface PageFacts {
  readonly session: ShownPayable;
  /** By which the payer came: of a device that scanned the code no way leads to the shop, whose browser it is not. */
  readonly address: PayerAddress;
  /** What codes begin with (D5). */
  readonly codesUrl: string;
  readonly encryptionKey: PublicKeyJwk;
  /** Asks for the form although a verification is open. */
  readonly wantsAnotherCard: boolean;
  /**
   * Of the payments that this browser made last. The payers of a till's invoice are different people: each is shown its own
   * payment, and of the others only that there is nothing left to pay.
   */
  readonly ownReferences: readonly string[];
  /** A press of Pay is just being passed on. */
  readonly isPressed: boolean;
  readonly now: Date;
}

/** Decides what the payer sees, from what is known of the session or invoice. Pure: the same facts give the same page. */
export function decidePage(facts: PageFacts): SessionPage {
  const page = pageOf(facts);
  return isInvoice(facts.session) && !showsBasket(page) ? withoutBasket(page) : page;
}

/** To who can still pay it, and to who has: a code is in a shop window, and who opens it later needs not know what was bought. */
function showsBasket(page: SessionPage): boolean {
  if (page.state === 'already-paid') return page.paymentReference !== undefined;
  return page.state !== 'refused' && page.state !== 'expired' && page.state !== 'cancelled';
}

function withoutBasket({ lines: _, ...page }: SessionPage): SessionPage {
  return page;
}

function pageOf(facts: PageFacts): SessionPage {
  const { session, now } = facts;
  const { payments } = session;
  const paid = payments.find(isSuccess);
  const isOwn = ownPayments(facts);
  const order = orderOf(facts, paid ?? latestOf(payments));
  // Neither when nor how, where it is somebody else's payment.
  if (paid)
    return isInvoice(session) && !isOwn(paid) ? { ...order, state: 'already-paid' } : receiptOf(facts, order, paid);
  const state = sessionState(session, now);
  switch (state) {
    case 'open':
    case 'expired':
      return pageOfFree(facts, order, latestOf(payments.filter(isOwn)));
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

function receiptOf({ session, address, now }: PageFacts, order: OrderShown, paid: AnyPaymentSnapshot): SessionPage {
  const isJustNow = now.getTime() - Date.parse(paid.modifiedUTCDate) < RECEIPT_MS;
  return {
    ...order,
    // With what the payer of an invoice has chosen; of a session there is nothing to choose.
    ...(isInvoice(session) ? { amountCents: paid.amount + paid.tipAmount } : {}),
    state: isJustNow ? 'succeeded' : 'already-paid',
    paymentReference: paid.paymentReference,
    charge: chargeOf(paid, paid.modifiedUTCDate),
    ...(isScanned(address) || isInvoice(session)
      ? {}
      : { returnUrl: linkToMerchant(session.returnUrl, session, paid) }),
  };
}

function processingPage(order: OrderShown, isLate: boolean): ProcessingPage {
  return { ...withoutWayBack(order), state: 'processing', isLate };
}

/** No link to the store: it would show an order that is not paid, while the bank may still approve the charge. */
function withoutWayBack({ backToStoreUrl: _, ...order }: OrderShown): Omit<OrderShown, 'backToStoreUrl'> {
  return order;
}

/** Nobody holds the payable: the form, unless the payer was sent to the bank and can still go on there. */
function pageOfFree(facts: PageFacts, order: OrderShown, latest: AnyPaymentSnapshot | undefined): SessionPage {
  const { session, address, encryptionKey, now } = facts;
  const { verificationUrl, verificationUntilUTCDate: until = '' } = latest ?? {};
  // The payment can be known before its payable is.
  if (facts.isPressed || session.payments.some(({ state }) => state === 'processing'))
    return processingPage(order, false);
  const triesLeft = triesLeftOf(session);
  const isPayable = sessionState(session, now) === 'open' && triesLeft > 0;
  const canGoOn = verificationUrl !== undefined && Date.parse(until) > now.getTime();
  // A session does not expire while its payer is at the bank (H2).
  if (canGoOn && !(facts.wantsAnotherCard && isPayable)) {
    const query = isScanned(address) ? '' : `sessionId=${payableIdOf(session)}&`;
    const another = isPayable ? { anotherCardUrl: `?${query}card=another` } : {};
    const charge = chargeOf(latest!, latest!.paymentUTCDate);
    return { ...withoutWayBack(order), state: 'verification', verificationUrl, until, charge, ...another };
  }
  if (!isPayable) return { ...order, state: triesLeft > 0 ? 'expired' : 'refused' };
  const isOthersOnly = latest === undefined && (session.payments.length > 0 || isInvoice(session));
  const isDeclined = session.tries > 0 && !isOthersOnly && latest?.state !== 'verificationRequired';
  const form: PayablePage = {
    ...order,
    state: isDeclined ? 'declined' : 'open',
    try: session.tries + 1,
    triesLeft,
    expiresAt: session.expiresAt.toISOString(),
    hasMoreTime: !isInvoice(session) && !session.extended,
    encryptionKey,
    madeAt: now.toISOString(),
    decline: isDeclined ? declineOf(latest) : undefined,
    ...(isScanned(address) || session.code === null ? {} : { code: ownCodeText(session.code, facts.codesUrl) }),
    ...(isInvoice(session) ? { choice: choiceOf(session) } : {}),
  };
  return form;
}

/** @param decisive the payment that succeeded, however many were made after it; otherwise the latest (H6) */
function orderOf(facts: PageFacts, decisive: AnyPaymentSnapshot | undefined): OrderShown {
  const { session, address } = facts;
  const isOwn = ownPayments(facts);
  return {
    sessionId: payableIdOf(session),
    callsPath: callsPathOf(address),
    sessionVersion: session.payableVersion,
    merchantName: session.merchantName,
    amountCents: session.amount,
    currencyISOCode: session.currencyISOCode,
    givenBack: session.payments.filter(isOwn).flatMap((payment) => givenBackOf(payment)),
    ...(session.mode === 'test' ? { isTest: true } : {}),
    ...(isInvoice(session) ? invoiceOrder(session) : sessionOrder(session, address, decisive)),
  };
}

function chargeOf({ paymentMethodType, paymentMethodLabel }: AnyPaymentSnapshot, at: string): ChargeShown {
  return { at, ...(paymentMethodType === 'Card' ? { cardLabel: paymentMethodLabel } : {}) };
}

function givenBackOf(payment: AnyPaymentSnapshot): GivenBack[] {
  const { reversedUTCDate, amount, tipAmount, currencyISOCode } = payment;
  if (reversedUTCDate === undefined) return [];
  return [{ ...chargeOf(payment, reversedUTCDate), amountCents: amount + tipAmount, currencyISOCode }];
}

function declineOf(latest: AnyPaymentSnapshot | undefined): DeclineShown | undefined {
  const [error] = latest?.errors ?? [];
  return latest && error && { ...error, paymentReference: latest.paymentReference };
}

type OfSource = 'siteName' | 'merchantOrderId' | 'customFields' | 'backToStoreUrl' | 'locale';

function sessionOrder(
  session: SessionWithPayments,
  address: PayerAddress,
  decisive: AnyPaymentSnapshot | undefined,
): Pick<OrderShown, OfSource> {
  const wayBack = decisive && isSuccess(decisive) ? session.returnUrl : session.cancelUrl;
  return {
    siteName: session.siteName ?? undefined,
    merchantOrderId: session.merchantOrderId,
    customFields: session.customFields,
    locale: session.locale ?? undefined,
    ...(isScanned(address) ? {} : { backToStoreUrl: linkToMerchant(wayBack, session, decisive) }),
  };
}

function isSuccess({ state }: AnyPaymentSnapshot): boolean {
  return state === 'success';
}

/**
 * A partner verifies its own customer, and tells him why his card was declined: neither is this payer's affair. Of a session the
 * payments on the page are all this payer's, with whichever device.
 */
function ownPayments({ session, ownReferences }: PageFacts): (payment: AnyPaymentSnapshot) => boolean {
  return ({ partner, reference }) =>
    partner === undefined && (!isInvoice(session) || ownReferences.includes(reference));
}

/** By when it was accepted: an older one may change later, when its verification runs out. */
function latestOf(payments: readonly AnyPaymentSnapshot[]): AnyPaymentSnapshot | undefined {
  return payments.reduce<AnyPaymentSnapshot | undefined>(
    (latest, one) => (latest && latest.paymentUTCDate >= one.paymentUTCDate ? latest : one),
    undefined,
  );
}
