import { randomUUID } from 'node:crypto';

/** A valid request body with these changes. It has its own file, because unit tests must not load a service. */
export function buildInvoiceRequest(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    externalReference: randomUUID(),
    siteReference: 'TILL-1',
    currencyISOCode: 'ZAR',
    amount: 12345,
    origin: 'Karoo POS 4.2',
    createdUTCDate: '2026-03-01T09:59:58.000Z',
    ...changes,
  };
}
