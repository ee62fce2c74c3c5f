/** A receiver of webhooks without a framework: `WEBHOOK_SECRET=whsec_… PORT=3000 node plain-node.ts` */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MAX_BODY_BYTES, receivePayment } from './receive-payment.ts';

const server = createServer((request, response) => {
  handleRequest(request, response).catch((error: unknown) => {
    console.error(error);
    response.writeHead(500).end();
  });
});

async function handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST' || request.url !== '/webhooks/payments') return void response.writeHead(404).end();
  const rawBody = await readBody(request);
  if (!rawBody) return void response.writeHead(413, { connection: 'close' }).end();
  const { status, text } = receivePayment(request.headers, rawBody);
  response.writeHead(status).end(text);
}

/** Reads the raw body, which is needed to verify the signature. Returns undefined if it is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  console.log(`listening on ${(server.address() as AddressInfo).port}`);
});
