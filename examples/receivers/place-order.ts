/**
 * Places an order and creates a session to pay it. Open the printed URL and pay; then the receiver prints the paid
 * order. Start the receiver in the same folder before. `eval "$(./svc demo env)"` sets the addresses and keys.
 *
 *     PORT=3000 node place-order.ts
 */
import { randomUUID } from 'node:crypto';
import { HostedGatewayClient } from '@svc/sdk';
import { Orders } from './orders.ts';

const { GATEWAY_URL = '', MERCHANT_ID = '', SITE_ID = '', SITE_API_KEY = '', PORT = '3000' } = process.env;
if (GATEWAY_URL === '')
  throw new Error('GATEWAY_URL is not set: eval "$(./svc demo env)" sets this and all other variables');
const receiverUrl = `http://127.0.0.1:${PORT}`;
const order = { orderId: `order-${randomUUID().slice(0, 8)}`, amount: 12_345 };

// Store the order before the session, because the receiver compares the webhook with the stored order.
new Orders(process.env['ORDERS_FILE'] ?? 'orders.sqlite').place(order.orderId, order.amount);

const gateway = new HostedGatewayClient({
  gatewayUrl: GATEWAY_URL,
  merchantId: MERCHANT_ID,
  siteId: SITE_ID,
  apiKey: SITE_API_KEY,
});
const { redirectUrl } = await gateway.createSession({
  requestId: `${order.orderId}.1`,
  merchantOrderId: order.orderId,
  amount: order.amount,
  currencyISOCode: 'ZAR',
  notificationUrl: `${receiverUrl}/webhooks/payments`,
  returnUrl: `${receiverUrl}/orders/${order.orderId}`,
  cancelUrl: `${receiverUrl}/orders/${order.orderId}`,
  origin: '127.0.0.1',
});
console.log(
  `${order.orderId}, R 123.45. Pay it with 4242 4242 4242 4242, any name, any future date and any CVV:\n${redirectUrl}`,
);
