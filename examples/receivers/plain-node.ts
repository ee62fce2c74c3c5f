/** WEBHOOK_SECRET=whsec_… PORT=3000 node plain-node.ts */
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BODY_BYTES_MAX, receivePayment } from './receive-payment.ts';

const server = createServer(async (request, response) => {
  if (request.method !== 'POST' || request.url !== '/webhooks/payments') return response.writeHead(404).end();
  try {
    const rawBody = await readBody(request);
    if (!rawBody) return response.writeHead(413, { connection: 'close' }).end();
    const { status, text } = receivePayment(request.headers, rawBody);
    return response.writeHead(status).end(text);
  } catch (error) {
    console.error(error);
    return response.writeHead(500).end();
  }
});

/** Undefined when it is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  console.log(`listening on ${(server.address() as AddressInfo).port}`);
});
