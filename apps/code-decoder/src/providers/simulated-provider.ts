import { randomBytes } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DecodeResponse } from '@svc/contracts';
import type { ProviderSettings } from './provider-settings.js';

export interface RunningProvider {
  readonly settings: ProviderSettings;
  close(): Promise<void>;
}

/** Prefix of its codes. The rest of a code defines the response, so the provider has no state. */
const ADDRESS = 'https://pay.simulated-provider.example/';
/** Prefix of a format that is not in `code-format.ts`: only a query to the provider recognises it. */
const UNLISTED = 'SIMPAY:';
const TIMEOUT_MS = 1_000;

/**
 * A simulated third-party provider for development and tests, over real HTTP on loopback. It only knows its own codes:
 * `https://pay.simulated-provider.example/<cents>` is an open invoice of this amount, `…/closed-<cents>` a
 * closed one, `…/expired` an expired one. `…/silent` gets no response and `…/broken` an invalid one.
 * `SIMPAY:<cents>` is a format that `code-format.ts` does not list.
 */
export async function startSimulatedProvider(): Promise<RunningProvider> {
  const apiKey = randomBytes(24).toString('base64url');
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    if (request.headers.authorization !== `Bearer ${apiKey}`) return void response.writeHead(401).end();
    const [, encoded] = /^\/codes\/([\w-]+)$/.exec(request.url ?? '') ?? [];
    answer(Buffer.from(encoded ?? '', 'base64url').toString('utf8'), response);
  });
  server.listen(0, '127.0.0.1');
  await new Promise<void>((resolve, reject) => server.once('listening', resolve).once('error', reject));
  return {
    settings: {
      name: 'simulated',
      mode: 'test',
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      apiKey,
      timeoutMs: TIMEOUT_MS,
      hosts: ['pay.simulated-provider.example/'],
      shortLinks: ['.simpay.example'],
      verifiesUnknown: true,
    },
    close: () => closeNow(server),
  };
}

function answer(code: string, response: ServerResponse): void {
  switch (code) {
    case `${ADDRESS}silent`:
      // No response, until the client times out.
      return;
    case `${ADDRESS}broken`:
      return void response.writeHead(200).end('{"merchant":');
    case `${ADDRESS}expired`:
      return void response.writeHead(410).end();
  }
  const prefix = [ADDRESS, UNLISTED].find((known) => code.startsWith(known));
  const [, closed, cents] = /^(closed-)?([1-9]\d{0,10})$/.exec(code.slice(prefix?.length)) ?? [];
  if (prefix === undefined || cents === undefined) return void response.writeHead(404).end();
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(invoiceOf(Number(cents), closed === undefined ? 'open' : 'closed')));
}

function invoiceOf(amount: number, state: 'open' | 'closed'): DecodeResponse {
  return {
    merchant: {
      merchantReference: 'simulated-1',
      merchantName: 'Simulated Fuel',
      currencyISOCode: 'ZAR',
      currencySymbol: 'R',
      features: { tip: { enabled: true } },
    },
    invoice: {
      siteReference: 'PUMP-4',
      currencyISOCode: 'ZAR',
      amount,
      lineItems: [{ name: 'Unleaded 95', productCode: 'ULP95', unitPrice: String(amount), quantity: 1 }],
      createdUTCDate: '2026-01-01T00:00:00.000Z',
      origin: 'simulated',
      originReference: `pump-${amount}`,
      state,
    },
  };
}

function closeNow(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
