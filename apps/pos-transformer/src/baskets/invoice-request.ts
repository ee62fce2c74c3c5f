/** Converts a basket to the platform's request for an invoice (D6). */
import type { CreateInvoiceRequest } from '@svc/sdk';
import type { BasketLine } from './basket.js';

/** The platform's limit for references (C6). */
export const MAX_REFERENCE_LENGTH = 100;

interface BasketInvoice {
  readonly externalReference: string;
  /** The key of the request, which is unique. */
  readonly idempotencyKey: string;
  readonly siteReference: string;
  readonly amountCents: number;
  readonly lines: readonly BasketLine[];
  readonly createdUTCDate: string;
}

export function buildInvoiceRequest(invoice: BasketInvoice): CreateInvoiceRequest {
  const { externalReference, idempotencyKey, siteReference, amountCents, lines, createdUTCDate } = invoice;
  return {
    externalReference,
    siteReference,
    currencyISOCode: 'ZAR',
    amount: amountCents,
    ...(lines.length === 0 ? {} : { lineItems: lines.map(buildLineItem) }),
    origin: 'pos-transformer',
    createdUTCDate,
    // The platform takes a request with the same body for a repeat (D6). Two totals never have the same body, even if
    // they are equal and the clock of the store stands still.
    originReference: idempotencyKey,
  };
}

/** The request for a new invoice in place of an expired one, with a new key. */
export function renewInvoiceRequest(
  request: CreateInvoiceRequest,
  { idempotencyKey, createdUTCDate }: Pick<BasketInvoice, 'idempotencyKey' | 'createdUTCDate'>,
): CreateInvoiceRequest {
  return { ...request, createdUTCDate, originReference: idempotencyKey };
}

function buildLineItem({ id, name, productCode, price, quantity }: BasketLine): LineItem {
  return {
    ...(name.trim() === '' ? {} : { name }),
    // The platform requires a product code for each line, but some tills have goods without a product code.
    productCode: productCode.trim() === '' ? `line-${id}` : productCode,
    unitPrice: String(price),
    quantity,
  };
}

type LineItem = NonNullable<CreateInvoiceRequest['lineItems']>[number];

/**
 * Returns the external reference, under which the platform stores the invoice of a basket. It equals the reference of
 * the till, so that the merchant can search for the payment by this reference (T5). If another basket of the site uses
 * the reference, a random suffix is added: otherwise the platform would replace the invoice of the other basket (D6).
 *
 * @param token random text that identifies the basket
 * @param isTaken whether another basket uses the reference
 */
export function chooseExternalReference(reference: string, token: string, isTaken: boolean): string {
  if (!isTaken) return reference;
  const suffix = `#${token.slice(0, 10)}`;
  return `${reference.slice(0, MAX_REFERENCE_LENGTH - suffix.length)}${suffix}`;
}
