/** A receiver of webhooks on Express: `WEBHOOK_SECRET=whsec_… PORT=3000 node express.ts` */
import type { AddressInfo } from 'node:net';
import express from 'express';
import { MAX_BODY_BYTES, receivePayment } from './receive-payment.ts';

const app = express();

// This path needs the raw body to verify the signature. Register `express.json()` for other paths after this route.
app.post(
  '/webhooks/payments',
  express.raw({ type: () => true, limit: MAX_BODY_BYTES, inflate: false }),
  (request, response) => {
    const rawBody: unknown = request.body;
    const { status, text } = receivePayment(request.headers, Buffer.isBuffer(rawBody) ? rawBody : Buffer.alloc(0));
    response.status(status).send(text);
  },
);

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  console.log(`listening on ${(server.address() as AddressInfo).port}`);
});
