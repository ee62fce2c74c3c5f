import type { VerifyWebhookInput } from '@svc/sdk';
import { assertExpectedPayment, verifyWebhook, WebhookVerificationError } from '@svc/sdk';
import { Orders } from './orders.ts';

/** The platform never sends a larger body. */
export const MAX_BODY_BYTES = 256 * 1024;

const { WEBHOOK_SECRET: secret = '' } = process.env;
if (secret === '')
  throw new Error('WEBHOOK_SECRET is not set: use the webhook secret of the site, which begins with whsec_');
const orders = new Orders(process.env['ORDERS_FILE'] ?? 'orders.sqlite');

/**
 * Processes a webhook, and returns the status and text of the response, for any framework. 204 acknowledges the
 * webhook. After any other status the platform sends the webhook again later. `rawBody` must be the bytes as received.
 */
export function receivePayment(
  headers: VerifyWebhookInput['headers'],
  rawBody: Uint8Array,
): { status: number; text: string } {
  try {
    const payment = verifyWebhook({ headers, rawBody, secret });
    const order = orders.find(payment.merchantOrderId);
    if (!order) return { status: 404, text: 'no such order' };
    // The signature proves only who sent the webhook. The shop must check that the amount is the amount of the order.
    assertExpectedPayment(payment, { amount: order.amount, currencyISOCode: 'ZAR' });
    if (payment.paymentStatus === 'Success' && orders.markPaid(order.orderId, payment.paymentReference)) {
      console.log(`${order.orderId} paid by ${payment.paymentReference}`);
    }
    return { status: 204, text: '' };
  } catch (error) {
    // A malformed secret is an error in the configuration of this server and not of the sender, so it is not a 400.
    if (error instanceof WebhookVerificationError && error.code !== 'bad-secret')
      return { status: 400, text: error.code };
    throw error;
  }
}
