import type { FastifyInstance } from 'fastify';

/** Prefix of this provider's codes. The rest of a code selects the response. */
const URL_CODE_PREFIX = 'https://pay.simulated-provider.example/';
/** Prefix of codes without a URL. Such a code has no host, so a decoder must query this provider to recognise it. */
const PLAIN_CODE_PREFIX = 'SIMPAY:';
/** The API key of callers if no other key is configured. It is no secret, because this provider has no data. */
export const DEFAULT_API_KEY = 'simulated-code-provider';

/**
 * Serves a simulated third-party code provider (D4), for development and tests: `GET /code-provider/codes/{code as
 * base64url}`. It stores nothing, and has these codes:
 * - `https://pay.simulated-provider.example/<cents>` and `SIMPAY:<cents>`: an open invoice of that amount
 * - `…/closed-<cents>`: a closed invoice
 * - `…/expired`: 410
 * - `…/silent`: no response
 * - `…/broken`: a response that is not JSON
 */
export function serveCodeProvider(app: FastifyInstance, apiKey = DEFAULT_API_KEY): void {
  // The path has a wildcard, because Fastify limits the length of a named parameter, and a code has up to 2 KiB (D1).
  app.get<{ Params: { '*': string } }>('/code-provider/codes/*', async (request, reply) => {
    if (request.headers.authorization !== `Bearer ${apiKey}`) return reply.status(401).send();
    const code = Buffer.from(request.params['*'], 'base64url').toString('utf8');
    switch (code) {
      case `${URL_CODE_PREFIX}silent`:
        // The connection stays open until the caller closes it.
        return reply.hijack();
      case `${URL_CODE_PREFIX}broken`:
        return reply.type('application/json').send('{"merchant":');
      case `${URL_CODE_PREFIX}expired`:
        return reply.status(410).send();
    }
    const invoice = findInvoice(code);
    return invoice ?? reply.status(404).send();
  });
}

/** @returns undefined for a code of another provider */
function findInvoice(code: string): object | undefined {
  const prefix = [URL_CODE_PREFIX, PLAIN_CODE_PREFIX].find((each) => code.startsWith(each));
  if (prefix === undefined) return undefined;
  const [, closed, cents] = /^(closed-)?([1-9]\d{0,10})$/.exec(code.slice(prefix.length)) ?? [];
  return cents === undefined ? undefined : invoiceResponse(Number(cents), closed === undefined ? 'open' : 'closed');
}

/** A "Decode response" of the specification. Amounts are cents. */
function invoiceResponse(amount: number, state: 'open' | 'closed'): object {
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
