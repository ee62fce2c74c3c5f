import { createHash } from 'node:crypto';
import { DomainError, invalidField, isUuid } from '@svc/kernel';
import type { CreateSessionRequest } from '@svc/sdk';
import { CURRENCY, MAX_QUANTITY, PRODUCTS } from './products.js';

export interface OrderLine {
  readonly productId: string;
  readonly name: string;
  readonly quantity: number;
  /** Price at the time of the order, in cents. */
  readonly unitPriceCents: number;
}

/**
 * Only a verified webhook sets `paid`, because the return of a browser from the payment page does not prove a payment.
 */
export type OrderState = 'awaiting-payment' | 'paid';

export interface Order {
  /** Random UUID. It is secret, because any client that sends it may read the order. */
  readonly orderId: string;
  readonly orderNumber: number;
  readonly lines: readonly OrderLine[];
  /** Total of the order, in cents. */
  readonly totalCents: number;
  readonly createdAt: Date;
  readonly state: OrderState;
  readonly paymentReference: string | null;
  readonly paidAt: Date | null;
  /**
   * Number of the current payment session, from 1. The shop creates the next session when the current one cannot be
   * paid any more.
   */
  readonly sessionNumber: number;
  readonly sessionRequestedAt: Date;
  /** Null until the platform has created the session. */
  readonly sessionId: string | null;
  readonly redirectUrl: string | null;
}

/** A failed payment, from the platform's webhook. */
export interface FailedPayment {
  readonly sessionId: string;
  readonly paymentReference: string;
  /** The message that the payer saw. */
  readonly userMessage: string | null;
  readonly paymentUTCDate: Date;
}

/** A customer's checkout, from the form of the shop page. */
export interface Checkout {
  /** Equal for requests with the same page and quantities, so that they create only one order. */
  readonly checkoutKey: string;
  readonly lines: readonly OrderLine[];
}

/**
 * Reads the form of the shop page: `checkoutId` (UUID, new with each page) and `quantity-<productId>`, whole numbers
 * from 0 to 20.
 *
 * @throws DomainError request.invalid with the field that cannot be accepted
 */
export function readCheckout(form: unknown): Checkout {
  const fields = (typeof form === 'object' && form !== null ? form : {}) as Record<string, unknown>;
  const checkoutId = fields['checkoutId'];
  if (!isUuid(checkoutId)) throw invalidField('checkoutId', 'Open the shop again, then check out.');
  const lines = PRODUCTS.flatMap(({ productId, name, unitPriceCents }) => {
    const field = `quantity-${productId}`;
    const text = fields[field] ?? '0';
    const quantity = typeof text === 'string' && /^\d{1,3}$/.test(text) ? Number(text) : MAX_QUANTITY + 1;
    if (quantity > MAX_QUANTITY) throw invalidField(field, `Choose 0 to ${MAX_QUANTITY} of ${name}.`);
    return quantity === 0 ? [] : [{ productId, name, quantity, unitPriceCents }];
  });
  if (lines.length === 0) throw new DomainError('request.invalid', { message: 'Choose something first.' });
  const linesHash = createHash('sha256').update(JSON.stringify(lines)).digest('hex').slice(0, 32);
  return { checkoutKey: `${checkoutId.toLowerCase()}:${linesHash}`, lines };
}

/** Total of these lines, in cents. */
export function computeTotal(lines: readonly OrderLine[]): number {
  return lines.reduce((total, line) => total + line.quantity * line.unitPriceCents, 0);
}

/** The order number in the format that customers and the platform see. The webhook of a payment contains it. */
export function formatMerchantOrderId(order: Pick<Order, 'orderNumber'>): string {
  return `ORDER-${order.orderNumber}`;
}

/**
 * Parses the order number from the merchantOrderId of a webhook. Undefined if the text is not a merchantOrderId of this
 * shop.
 */
export function parseOrderNumber(merchantOrderId: string): number | undefined {
  const digits = /^ORDER-([1-9]\d{0,14})$/.exec(merchantOrderId)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * A session that is older is not used again. Three minutes less than the lifetime of a session (H2), so that the session
 * does not expire while the customer types.
 */
const MAX_SESSION_AGE_MS = 27 * 60_000;
/** Number of failed payments after which a session cannot be paid (H2). */
const MAX_SESSION_PAYMENTS = 5;

/** True if the current session of the order can probably be paid. */
export function isSessionUsable(order: Order, failedPayments: readonly FailedPayment[], now: Date): boolean {
  const paymentsInSession = failedPayments.filter(({ sessionId }) => sessionId === order.sessionId);
  return (
    now.getTime() - order.sessionRequestedAt.getTime() < MAX_SESSION_AGE_MS &&
    paymentsInSession.length < MAX_SESSION_PAYMENTS
  );
}

/** The prices include value-added tax of this rate. */
const VAT_PERCENT = 15;

/**
 * The request for the payment session of an order. It depends only on the order, so a repeated request returns the same
 * session (C7).
 */
export function buildSessionRequest(order: Order, shopUrl: string, notificationsUrl: string): CreateSessionRequest {
  const shopPageUrl = (path: string): string => `${shopUrl}${path}?orderId=${order.orderId}`;
  return {
    requestId: `${order.orderId}:${order.sessionNumber}`,
    merchantOrderId: formatMerchantOrderId(order),
    amount: order.totalCents,
    currencyISOCode: CURRENCY,
    notificationUrl: `${notificationsUrl}/webhooks/svc`,
    returnUrl: shopPageUrl('/return'),
    cancelUrl: shopPageUrl('/cancelled'),
    origin: new URL(shopUrl).host,
    lineItems: order.lines.map(({ name, productId, quantity, unitPriceCents }) => ({
      name,
      productCode: productId,
      quantity,
      unitPrice: unitPriceCents,
    })),
    taxAmount: Math.round((order.totalCents * VAT_PERCENT) / (100 + VAT_PERCENT)),
  };
}

/** Formats 123450 cents as "R 1 234.50", without floating-point arithmetic. */
export function formatZar(amountCents: number): string {
  const digits = String(amountCents).padStart(3, '0');
  const rand = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ' ');
  return `R ${rand}.${digits.slice(-2)}`;
}
