import type { VerifyWebhookInput } from '@svc/sdk';
import { assertExpectedPayment, verifyWebhook, WebhookVerificationError } from '@svc/sdk';
import { Orders } from './orders.ts';

/** The service sends no larger body. */
export const MAX_BODY_BYTES = 256 * 1024;

const { WEBHOOK_SECRET: secret = '' } = process.env;
if (secret === '') throw new Error('WEBHOOK_SECRET is not set: the site has one, it begins with whsec_');
const orders = new Orders(process.env['ORDERS_FILE'] ?? 'orders.sqlite');

/**
 * The answer to a webhook, for any framework: 204 after applying it, 4xx to have it sent again later.
 * `rawBody` must be the bytes as received.
 */
export function receivePayment(
  headers: VerifyWebhookInput['headers'],
  rawBody: Uint8Array,
): { status: number; text: string } {
  try {
    const payment = verifyWebhook({ headers, rawBody, secret });
    const order = orders.find(payment.merchantOrderId);
    if (!order) return { status: 404, text: 'no such order' };
    // The signature proves the sender. This shop must check that the amount is that of the order.
    assertExpectedPayment(payment, { amount: order.amount, currencyISOCode: 'ZAR' });
    if (payment.paymentStatus === 'Success' && orders.markPaid(order.orderId, payment.paymentReference)) {
      console.log(`${order.orderId} paid by ${payment.paymentReference}`);
    }
    return { status: 204, text: '' };
  } catch (error) {
    // A malformed secret is a mistake of this server, not of the sender.
    if (error instanceof WebhookVerificationError && error.code !== 'bad-secret')
      return { status: 400, text: error.code };
    throw error;
  }
}
