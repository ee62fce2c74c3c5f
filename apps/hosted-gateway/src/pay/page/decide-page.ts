import { isFullSnapshot, isPartnerPayment, type PublicKeyJwk } from '@svc/contracts';
import { ownCodeText, timeZoneAt } from '@svc/kernel';
import { type Basket, computeLineTotal, isTaxIncluded } from '../../baskets/basket.js';
import type { OrderBasket } from '../../page-views/basket/order-basket.js';
import type {
  ChargeDetails,
  DeclineDetails,
  OrderDetails,
  PayablePage,
  ProcessingPage,
  ReversedCharge,
  SessionPage,
} from '../../page-views/pay-page-model.js';
import type { PaymentCopy, StoredSnapshot } from '../../payment-copies/payment-copy.js';
import { MAX_SESSION_PAYMENTS } from '../../sessions/max-session-payments.js';
import { buildCallsPath, isScanned, isStaticCode, type PayerAddress } from '../../sessions/payer-address.js';
import { determineSessionState } from '../../sessions/session.js';
import type { SessionWithPayments } from '../../sessions/session.repository.js';
import { buildInvoiceOrder, buildPaymentChoice } from '../payables/invoice-order.js';
import { getPayableId, isInvoice, type PagePayable } from '../payables/page-payable.js';
import { checkPaymentLimit } from '../payables/payment-limits.js';
import { buildMerchantLink } from './payer-links.js';

/**
 * For this time after a success the page is a receipt that redirects to the shop. Later it only shows that the order is
 * paid.
 */
const RECEIPT_MS = 60_000;
/**
 * After this time in processing a payment is late: the page says that it takes longer than usual, and that the payer
 * must not pay again.
 */
const LATE_AFTER_MS = 10_000;

export interface PageFacts {
  /** The session or invoice that the page shows. */
  readonly payable: PagePayable;
  /**
   * The address of the page. A device that scanned the code gets no link to the shop, because it is not the browser of
   * the shop.
   */
  readonly address: PayerAddress;
  /** Base URL of codes (D5). */
  readonly codesUrl: string;
  readonly encryptionKey: PublicKeyJwk;
  /** The payer requested the card form although a payment waits for verification. */
  readonly wantsAnotherCard: boolean;
  /**
   * References of the latest payments of this browser. Different people may open the page of a till's invoice. The page
   * shows the details of only this browser's payments. After the payment of another person it only shows that nothing
   * is left to pay.
   */
  readonly ownReferences: readonly string[];
  /** A pay request of this process is in flight. */
  readonly isInFlight: boolean;
  readonly now: Date;
}

/** Decides which page the payer sees. A pure function of the facts. */
export function decidePage(facts: PageFacts): SessionPage {
  const page = decidePageWithBasket(facts);
  if (isStaticCode(facts.address)) return removeOrder(page);
  return isInvoice(facts.payable) && !isBasketVisible(page) ? removeBasket(page) : page;
}

/**
 * The basket is visible while the invoice can be paid, and afterwards only to its payer: other people who open the code
 * must not see the purchases.
 */
function isBasketVisible(page: SessionPage): boolean {
  if (page.state === 'already-paid') return page.paymentReference !== undefined;
  return page.state !== 'refused' && page.state !== 'expired' && page.state !== 'cancelled';
}

function removeBasket({ basket: _, ...page }: SessionPage): SessionPage {
  return page;
}

/** A printed code is public, so its page shows only the shop and the amount. */
function removeOrder({ basket: _, siteName: __, merchantOrderId: ___, ...page }: SessionPage): SessionPage {
  return page;
}

function decidePageWithBasket(facts: PageFacts): SessionPage {
  const { payable, now } = facts;
  const payments: readonly PaymentCopy[] = payable.payments;
  const fullSnapshots = payments.filter(isFullSnapshot);
  const paid = fullSnapshots.find(isSuccess);
  const isOwnPayment = createOwnPaymentFilter(facts);
  const order = buildOrderDetails(facts, paid ?? findLatestPayment(payments));
  // The page of an invoice shows neither time nor card of another payer's payment.
  if (paid)
    return isInvoice(payable) && !isOwnPayment(paid)
      ? { ...order, state: 'already-paid' }
      : buildReceiptPage(facts, order, paid);
  const state = determineSessionState(payable, now);
  switch (state) {
    case 'open':
    case 'expired':
      return decideFormPage(facts, order, findLatestPayment(fullSnapshots.filter(isOwnPayment)));
    case 'processing': {
      const processing = payments.find((payment) => payment.state === 'processing');
      const isLate =
        processing !== undefined && now.getTime() - Date.parse(processing.modifiedUTCDate) >= LATE_AFTER_MS;
      return buildProcessingPage(order, isLate);
    }
    case 'completed':
      // The state of the session may arrive before the row of its successful payment.
      return buildProcessingPage(order, false);
    default:
      return { ...order, state };
  }
}

function buildReceiptPage(
  { payable, address, now }: PageFacts,
  order: OrderDetails,
  paid: StoredSnapshot,
): SessionPage {
  const isRecent = now.getTime() - Date.parse(paid.modifiedUTCDate) < RECEIPT_MS;
  return {
    ...order,
    // The payer of an invoice may have chosen another amount and a tip. The amount of a session is fixed.
    ...(isInvoice(payable) ? { amountCents: paid.amount + paid.tipAmount } : {}),
    state: isRecent ? 'succeeded' : 'already-paid',
    paymentReference: paid.paymentReference,
    charge: buildChargeDetails(payable, paid, paid.modifiedUTCDate),
    ...(isScanned(address) || isInvoice(payable)
      ? {}
      : { returnUrl: buildMerchantLink(payable.returnUrl, payable, paid) }),
  };
}

function buildProcessingPage(order: OrderDetails, isLate: boolean): ProcessingPage {
  return { ...removeStoreLink(order), state: 'processing', isLate };
}

/**
 * Removes the link to the store, because the store would show an unpaid order while the bank may still approve the
 * charge.
 */
function removeStoreLink({ backToStoreUrl: _, ...order }: OrderDetails): Omit<OrderDetails, 'backToStoreUrl'> {
  return order;
}

/**
 * The page while no payment is in progress: the form, unless the payer can continue the verification on the bank's
 * page.
 */
function decideFormPage(facts: PageFacts, order: OrderDetails, latest: StoredSnapshot | undefined): SessionPage {
  const { payable, address, encryptionKey, now } = facts;
  const { verificationUrl, verificationUntilUTCDate: until = '' } = latest ?? {};
  // A processing payment may arrive before the new state of its payable.
  if (facts.isInFlight || payable.payments.some(({ state }) => state === 'processing'))
    return buildProcessingPage(order, false);
  const limit = checkPaymentLimit(payable, address, now);
  const isPayable = determineSessionState(payable, now) === 'open' && limit === 'allowed';
  const canContinueAtBank = verificationUrl !== undefined && Date.parse(until) > now.getTime();
  // A session does not expire while its payer is on the bank's page (H2).
  if (canContinueAtBank && !(facts.wantsAnotherCard && isPayable)) {
    const query = isScanned(address) ? '' : `sessionId=${getPayableId(payable)}&`;
    const anotherCard = isPayable ? { anotherCardUrl: `?${query}card=another` } : {};
    const charge = buildChargeDetails(payable, latest!, latest!.paymentUTCDate);
    const untilTimeZone = timeZoneAt(payable.timeZones, new Date(until));
    const times = { until, untilTimeZone };
    return { ...removeStoreLink(order), state: 'verification', verificationUrl, ...times, charge, ...anotherCard };
  }
  if (!isPayable) return { ...order, state: decideClosedState(limit, payable, now) };
  // All payments so far came from other payers or through partners. (If the payments of a session are counted but not
  // stored, the payment of its payer has not arrived yet.)
  const arePaymentsOfOthers = latest === undefined && (payable.payments.length > 0 || isInvoice(payable));
  const isDeclined = payable.paymentCount > 0 && !arePaymentsOfOthers && latest?.state !== 'verificationRequired';
  const form: PayablePage = {
    ...order,
    state: isDeclined ? 'declined' : 'open',
    paymentNumber: payable.paymentCount + 1,
    paymentsLeft: isInvoice(payable) ? undefined : MAX_SESSION_PAYMENTS - payable.paymentCount,
    expiresAt: payable.expiresAt.toISOString(),
    timeZone: timeZoneAt(payable.timeZones, payable.expiresAt),
    canExtend: !isInvoice(payable) && !payable.extended,
    encryptionKey,
    renderedAt: now.toISOString(),
    decline: isDeclined ? buildDeclineDetails(latest) : undefined,
    ...(isScanned(address) ? {} : { code: ownCodeText(payable.code, facts.codesUrl) }),
    ...(isInvoice(payable) ? { choice: buildPaymentChoice(payable) } : {}),
  };
  return form;
}

function decideClosedState(
  limit: ReturnType<typeof checkPaymentLimit>,
  payable: PagePayable,
  now: Date,
): 'refused' | 'paused' | 'expired' {
  if (limit === 'used-up') return 'refused';
  return determineSessionState(payable, now) === 'open' ? 'paused' : 'expired';
}

/** @param decisive the successful payment, even if later payments failed; if none succeeded, the latest payment (H6) */
function buildOrderDetails(facts: PageFacts, decisive: PaymentCopy | undefined): OrderDetails {
  const { payable, address } = facts;
  const payments: readonly PaymentCopy[] = payable.payments;
  const ownPayments = payments.filter(isFullSnapshot).filter(createOwnPaymentFilter(facts));
  return {
    sessionId: getPayableId(payable),
    callsPath: buildCallsPath(address),
    sessionVersion: payable.payableVersion,
    merchantName: payable.merchantName,
    amountCents: payable.amount,
    currencyISOCode: payable.currencyISOCode,
    reversedCharges: ownPayments.flatMap((payment) => buildReversedCharges(payable, payment)),
    ...(payable.mode === 'test' ? { isTest: true } : {}),
    ...(isInvoice(payable) ? buildInvoiceOrder(payable) : buildSessionOrder(payable, address, decisive)),
  };
}

function buildChargeDetails(
  { timeZones }: PagePayable,
  { paymentMethodType, paymentMethodLabel }: StoredSnapshot,
  at: string,
): ChargeDetails {
  const timeZone = timeZoneAt(timeZones, new Date(at));
  return { at, timeZone, ...(paymentMethodType === 'Card' ? { cardLabel: paymentMethodLabel } : {}) };
}

function buildReversedCharges(payable: PagePayable, payment: StoredSnapshot): ReversedCharge[] {
  const { reversedUTCDate, amount, tipAmount, currencyISOCode } = payment;
  if (reversedUTCDate === undefined) return [];
  return [
    { ...buildChargeDetails(payable, payment, reversedUTCDate), amountCents: amount + tipAmount, currencyISOCode },
  ];
}

function buildDeclineDetails(latest: StoredSnapshot | undefined): DeclineDetails | undefined {
  const [error] = latest?.errors ?? [];
  return latest && error && { ...error, paymentReference: latest.paymentReference };
}

type SourceFields = 'siteName' | 'merchantOrderId' | 'customFields' | 'basket' | 'backToStoreUrl' | 'locale';

function buildSessionOrder(
  session: SessionWithPayments,
  address: PayerAddress,
  decisive: PaymentCopy | undefined,
): Pick<OrderDetails, SourceFields> {
  const merchantUrl = decisive && isSuccess(decisive) ? session.returnUrl : session.cancelUrl;
  return {
    siteName: session.siteName ?? undefined,
    merchantOrderId: session.merchantOrderId,
    customFields: session.customFields,
    ...(session.basket ? { basket: buildOrderBasket(session.basket, session.amount) } : {}),
    locale: session.locale ?? undefined,
    ...(isScanned(address) ? {} : { backToStoreUrl: buildMerchantLink(merchantUrl, session, decisive) }),
  };
}

function buildOrderBasket(basket: Basket, amount: number): OrderBasket {
  const { lines, shippingAmount, taxAmount } = basket;
  return {
    lines: lines.map(({ name, unitPrice, quantity = 1 }) => ({
      label: name,
      quantity,
      unitPriceCents: unitPrice,
      amountCents: computeLineTotal({ unitPrice, quantity }),
    })),
    totalCents: amount,
    ...(shippingAmount === undefined ? {} : { shippingCents: shippingAmount }),
    ...(taxAmount === undefined ? {} : { tax: { amountCents: taxAmount, isIncluded: isTaxIncluded(basket, amount) } }),
  };
}

function isSuccess({ state }: PaymentCopy): boolean {
  return state === 'success';
}

/**
 * Returns a function that tells whether this payer made a payment. Payments through partners do not count: a partner
 * handles the verification and the decline of its own customer. All other payments of a session count, because a
 * session has one payer.
 */
function createOwnPaymentFilter({ payable, ownReferences }: PageFacts): (payment: PaymentCopy) => boolean {
  return (payment) => !isPartnerPayment(payment) && (!isInvoice(payable) || ownReferences.includes(payment.reference));
}

/**
 * The payment that was accepted last. (The time of the last change would be wrong: an older payment changes when its
 * verification expires.)
 */
function findLatestPayment<P extends PaymentCopy>(payments: readonly P[]): P | undefined {
  return payments.reduce<P | undefined>(
    (latest, payment) => (latest && latest.paymentUTCDate >= payment.paymentUTCDate ? latest : payment),
    undefined,
  );
}
