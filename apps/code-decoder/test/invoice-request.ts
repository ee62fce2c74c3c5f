import { randomUUID } from 'node:crypto';

/** Body of an invoice that is taken; in a file of its own, because unit tests start no service. */
export function anInvoiceRequest(over: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    externalReference: randomUUID(),
    siteReference: 'TILL-1',
    currencyISOCode: 'ZAR',
    amount: 12345,
    origin: 'Karoo POS 4.2',
    createdUTCDate: '2026-03-01T09:59:58.000Z',
    ...over,
  };
}
