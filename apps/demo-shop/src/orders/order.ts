import { createHash } from 'node:crypto';
import { DomainError, invalidField, isUuid } from '@svc/kernel';
import type { CreateSessionRequest } from '@svc/sdk';
import { CURRENCY, PRODUCTS, QUANTITY_MAX } from './products.js';

export interface OrderLine {
  readonly productId: string;
  readonly name: string;
  readonly quantity: number;
  /** Cents, at the time of the order. */
  readonly unitPriceCents: number;
}

/** `paid` only ever by a verified webhook: a browser that comes back proves nothing. */
export type OrderState = 'awaiting-payment' | 'paid';

export interface Order {
  /** UUID nobody can guess: who knows it may look at the order. */
  readonly orderId: string;
  readonly orderNumber: number;
  readonly lines: readonly OrderLine[];
  /** Cents. */
  readonly totalCents: number;
  readonly createdAt: Date;
  readonly state: OrderState;
  readonly paymentReference: string | null;
  readonly paidAt: Date | null;
  /** From 1; a further session is asked for when the one before can no longer be paid. */
  readonly sessionNumber: number;
  readonly sessionRequestedAt: Date;
  /** Absent until the platform has made the session. */
  readonly sessionId: string | null;
  readonly redirectUrl: string | null;
}

/** A try that failed, as the platform's notification told of it. */
export interface FailedTry {
  readonly sessionId: string;
  readonly paymentReference: string;
  /** What the payer was told. */
  readonly userMessage: string | null;
  readonly paymentUTCDate: Date;
}

/** What a customer checked out, read from the shop page's form. */
export interface Checkout {
  /** Same page, same quantities: same order, however often the button is pressed. */
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
    const quantity = typeof text === 'string' && /^\d{1,3}$/.test(text) ? Number(text) : QUANTITY_MAX + 1;
    if (quantity > QUANTITY_MAX) throw invalidField(field, `Choose 0 to ${QUANTITY_MAX} of ${name}.`);
    return quantity === 0 ? [] : [{ productId, name, quantity, unitPriceCents }];
  });
  if (lines.length === 0) throw new DomainError('request.invalid', { message: 'Choose something first.' });
  const chosen = createHash('sha256').update(JSON.stringify(lines)).digest('hex').slice(0, 32);
  return { checkoutKey: `${checkoutId.toLowerCase()}:${chosen}`, lines };
}

/** Cents. */
export function totalOf(lines: readonly OrderLine[]): number {
  return lines.reduce((total, line) => total + line.quantity * line.unitPriceCents, 0);
}

/** The order as customers and the platform call it; comes back in the webhook. */
export function merchantOrderIdOf(order: Pick<Order, 'orderNumber'>): string {
  return `ORDER-${order.orderNumber}`;
}

/** The number of an order from what a webhook calls it, or undefined. */
export function orderNumberFrom(merchantOrderId: string): number | undefined {
  const digits = /^ORDER-([1-9]\d{0,14})$/.exec(merchantOrderId)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Sessions live for 30 minutes and five tries (H2); asking for the next one a little early loses nobody's typing. */
const SESSION_USABLE_MS = 27 * 60_000;
const SESSION_TRIES_MAX = 5;

/** Whether the order's present session can still be paid, as far as the shop can know. */
export function isSessionUsable(order: Order, failedTries: readonly FailedTry[], now: Date): boolean {
  const inThisSession = failedTries.filter(({ sessionId }) => sessionId === order.sessionId);
  return (
    now.getTime() - order.sessionRequestedAt.getTime() < SESSION_USABLE_MS && inThisSession.length < SESSION_TRIES_MAX
  );
}

/** The session to ask the platform for. Depends on the order alone: asked twice, it is the same session (C7). */
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

/** "R 1 234.50" from 123450 cents, without a float in between. */
export function formatZar(amountCents: number): string {
  const digits = String(amountCents).padStart(3, '0');
  const rand = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ' ');
  return `R ${rand}.${digits.slice(-2)}`;
}
