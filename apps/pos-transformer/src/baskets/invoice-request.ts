/** Converts a basket to the platform's request for an invoice (D6). */
import type { CreateInvoiceRequest } from '@svc/sdk';
import type { BasketLine } from './basket.js';

/** The platform's limit for references (C6). */
export const MAX_REFERENCE_LENGTH = 100;

export interface BasketInvoice {
  readonly externalReference: string;
  /** The reference that the till sent. The external reference may have an additional suffix. */
  readonly reference: string;
  readonly siteReference: string;
  readonly amountCents: number;
  readonly lines: readonly BasketLine[];
  readonly createdUTCDate: string;
}

export function buildInvoiceRequest(invoice: BasketInvoice): CreateInvoiceRequest {
  const { externalReference, reference, siteReference, amountCents, lines, createdUTCDate } = invoice;
  return {
    externalReference,
    siteReference,
    currencyISOCode: 'ZAR',
    amount: amountCents,
    ...(lines.length === 0 ? {} : { lineItems: lines.map(buildLineItem) }),
    origin: 'pos-transformer',
    createdUTCDate,
    originReference: reference,
  };
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
