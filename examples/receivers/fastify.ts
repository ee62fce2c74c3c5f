/** A receiver of webhooks on Fastify: `WEBHOOK_SECRET=whsec_… PORT=3000 node fastify.ts` */
import fastify from 'fastify';
import { MAX_BODY_BYTES, receivePayment } from './receive-payment.ts';

const app = fastify({ bodyLimit: MAX_BODY_BYTES });

// The routes of this plugin get the raw body, which is needed to verify the signature. Other routes are not affected.
await app.register(async (webhooks) => {
  webhooks.removeAllContentTypeParsers();
  webhooks.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
  webhooks.post('/webhooks/payments', async (request, reply) => {
    const rawBody = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const { status, text } = receivePayment(request.headers, rawBody);
    return reply.status(status).send(text);
  });
});

const address = await app.listen({ port: Number(process.env['PORT'] ?? 3000), host: '127.0.0.1' });
console.log(`listening on ${new URL(address).port}`);
