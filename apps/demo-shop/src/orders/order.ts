import { createHash } from 'node:crypto';
import { DomainError, invalidField, isUuid } from '@svc/kernel';
import type { CreateSessionRequest } from '@svc/sdk';
import { CURRENCY, MAX_QUANTITY, PRODUCTS } from './products.js';

export interface OrderLine {
  readonly productId: string;
  readonly name: string;
  readonly quantity: number;
  /** Cents, at the time of the order. */
  readonly unitPriceCents: number;
}

/** Only a verified webhook sets `paid`: a browser that returns from the payment page proves nothing. */
export type OrderState = 'awaiting-payment' | 'paid';

export interface Order {
  /** Random UUID: every client that knows it may read the order. */
  readonly orderId: string;
  readonly orderNumber: number;
  readonly lines: readonly OrderLine[];
  /** Cents. */
  readonly totalCents: number;
  readonly createdAt: Date;
  readonly state: OrderState;
  readonly paymentReference: string | null;
  readonly paidAt: Date | null;
  /** Starts at 1; the shop requests the next session when the current one can no longer be paid. */
  readonly sessionNumber: number;
  readonly sessionRequestedAt: Date;
  /** Null until the platform has created the session. */
  readonly sessionId: string | null;
  readonly redirectUrl: string | null;
}

/** A failed payment attempt, from the platform's webhook. */
export interface FailedAttempt {
  readonly sessionId: string;
  readonly paymentReference: string;
  /** The message that the payer saw. */
  readonly userMessage: string | null;
  readonly paymentUTCDate: Date;
}

/** A customer's checkout, from the form of the shop page. */
export interface Checkout {
  /** The same page and quantities give the same order, however often the customer presses the button. */
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

/** Cents. */
export function totalOf(lines: readonly OrderLine[]): number {
  return lines.reduce((total, line) => total + line.quantity * line.unitPriceCents, 0);
}

/** The order number for customers and for the platform, which returns it in the webhook. */
export function merchantOrderIdOf(order: Pick<Order, 'orderNumber'>): string {
  return `ORDER-${order.orderNumber}`;
}

/** The order number in a merchantOrderId of a webhook; undefined if there is none. */
export function orderNumberFrom(merchantOrderId: string): number | undefined {
  const digits = /^ORDER-([1-9]\d{0,14})$/.exec(merchantOrderId)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** A session lives for 30 minutes and five attempts (H2). The margin keeps customers from a session that expires while they type. */
const SESSION_LIFETIME_MS = 27 * 60_000;
const MAX_SESSION_ATTEMPTS = 5;

/** Whether the order's current session can still be paid, as far as the shop knows. */
export function isSessionUsable(order: Order, failedTries: readonly FailedAttempt[], now: Date): boolean {
  const inThisSession = failedTries.filter(({ sessionId }) => sessionId === order.sessionId);
  return (
    now.getTime() - order.sessionRequestedAt.getTime() < SESSION_LIFETIME_MS &&
    inThisSession.length < MAX_SESSION_ATTEMPTS
  );
}

/** Depends on the order alone, so a repeated request returns the same session (C7). */
export function sessionRequestFor(order: Order, shopUrl: string, notificationsUrl: string): CreateSessionRequest {
  const backTo = (path: string): string => `${shopUrl}${path}?orderId=${order.orderId}`;
  return {
    requestId: `${order.orderId}:${order.sessionNumber}`,
    merchantOrderId: merchantOrderIdOf(order),
    amount: order.totalCents,
    currencyISOCode: CURRENCY,
    notificationUrl: `${notificationsUrl}/webhooks/svc`,
    returnUrl: backTo('/return'),
    cancelUrl: backTo('/cancelled'),
    origin: new URL(shopUrl).host,
    customFields: order.lines.map((line) => ({
      key: line.name,
      value: `${line.quantity} × ${formatZar(line.unitPriceCents)}`,
    })),
  };
}

/** "R 1 234.50" from 123450 cents, without floating-point arithmetic. */
export function formatZar(amountCents: number): string {
  const digits = String(amountCents).padStart(3, '0');
  const rand = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ' ');
  return `R ${rand}.${digits.slice(-2)}`;
}
