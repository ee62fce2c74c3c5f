/** A till that creates invoices and shows their codes. */
import { randomUUID } from 'node:crypto';
import { PATIENCE } from '@svc/testing';
import type { MerchantSite, Platform } from '../platform/platform.js';

/** Calls the API as a site's till, by default as a till of the first demo site. Returns the raw answer. */
export function callTillApi(
  platform: Platform,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  accept: string,
  body?: object,
  { merchant, siteId, apiKey }: MerchantSite = platform.site(0, 0),
): Promise<Response> {
  return fetch(`${platform.demo.apiUrl}/business/api/v1/merchants/${merchant.merchantId}/sites/${siteId}${path}`, {
    method,
    headers: { 'x-api-key': apiKey, accept, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(25_000 * PATIENCE),
  });
}

export function newInvoiceRequest(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    externalReference: randomUUID(),
    siteReference: 'TILL-1',
    currencyISOCode: 'ZAR',
    amount: 8_950,
    origin: 'Karoo POS',
    createdUTCDate: new Date().toISOString(),
    lineItems: [{ name: 'Rooibos cappuccino', sku: 'RC', unitPrice: '4475', quantity: 2 }],
    ...changes,
  };
}

/** Creates an invoice; returns its code and its reference. */
export async function createInvoice(
  platform: Platform,
  changes: Readonly<Record<string, unknown>> = {},
  site?: MerchantSite,
): Promise<{ readonly code: string; readonly reference: string }> {
  const answer = await callTillApi(platform, 'POST', '/invoices', 'text/plain', newInvoiceRequest(changes), site);
  const reference = answer.headers.get('reference');
  if (answer.status !== 201 || reference === null) throw new Error(`The invoice was not created: ${answer.status}`);
  return { code: await answer.text(), reference };
}
