import { createHash } from 'node:crypto';
import type {
  CreateInvoiceRequest,
  Invoice,
  InvoiceSource,
  LineItem,
  LineItemRequest,
  Mode,
  PayableDescriptor,
  PayableState,
} from '@svc/contracts';

/**
 * Number of failed payments after which an invoice is refused. The payers of a till's invoice are different people, so the limit is
 * higher than for a hosted session; it is the general limit of a payable.
 */
export const MAX_INVOICE_ATTEMPTS = 100;

/** An invoice of a till (D6). Only the state of its payable changes. */
export interface StoredInvoice {
  /** UUID: its reference, and the id of its payable. */
  readonly invoiceId: string;
  readonly mode: Mode;
  readonly merchantId: number;
  readonly siteId: number;
  /** Point-of-sale till identifier. */
  readonly siteReference: string;
  readonly externalReference: string | null;
  readonly fingerprint: string;
  /** The 20 digits of its dynamic code (D5). */
  readonly code: string;
  /** Cents. */
  readonly amount: number;
  readonly currencyISOCode: string;
  readonly lineItems: readonly LineItem[] | null;
  readonly origin: string;
  readonly originReference: string | null;
  /** Creation time according to the till. */
  readonly createdUTCDate: Date;
  /** Creation time in this service. */
  readonly madeAt: Date;
  readonly expiresAt: Date;
  readonly payableState: PayableState;
  readonly payableVersion: number;
  readonly closedAt: Date | null;
}

/**
 * The state of an invoice for payers. With a payment in progress it is open, even past its expiry, because the payment may
 * succeed. An invoice that was closed after its expiry, to be replaced, stays expired.
 */
export function invoiceState(
  { payableState, expiresAt, closedAt }: Pick<StoredInvoice, 'payableState' | 'expiresAt' | 'closedAt'>,
  now: Date,
): 'open' | 'closed' | 'expired' {
  switch (payableState) {
    case 'open':
      return now < expiresAt ? 'open' : 'expired';
    case 'reserved':
      return 'open';
    case 'closed':
      return closedAt && closedAt >= expiresAt ? 'expired' : 'closed';
    case 'paid':
    case 'refused':
      return 'closed';
  }
}

/** The payable of an invoice, for commands and events to payment-processor. */
export function payableOf(invoice: StoredInvoice): PayableDescriptor<InvoiceSource> {
  return {
    payableId: invoice.invoiceId,
    mode: invoice.mode,
    merchantId: invoice.merchantId,
    siteId: invoice.siteId,
    amount: invoice.amount,
    currencyISOCode: invoice.currencyISOCode,
    expiresAt: invoice.expiresAt.toISOString(),
    triesMax: MAX_INVOICE_ATTEMPTS,
    source: {
      kind: 'invoice',
      invoiceReference: invoice.invoiceId,
      ...(invoice.externalReference === null ? {} : { externalReference: invoice.externalReference }),
      siteReference: invoice.siteReference,
      code: invoice.code,
    },
  };
}

/** The invoice as the specification defines it; unknown fields are absent. */
export function toInvoice(invoice: StoredInvoice, state: 'open' | 'closed'): Invoice {
  return {
    siteReference: invoice.siteReference,
    currencyISOCode: invoice.currencyISOCode,
    amount: invoice.amount,
    ...(invoice.lineItems === null ? {} : { lineItems: [...invoice.lineItems] }),
    createdUTCDate: invoice.createdUTCDate.toISOString(),
    origin: invoice.origin,
    ...(invoice.originReference === null ? {} : { originReference: invoice.originReference }),
    invoiceReference: invoice.invoiceId,
    state,
  };
}

/** A line item as stored and returned: the price as text (C1), without absent fields. */
export function lineItemOf({ name, productCode, sku, unitPrice, categories, quantity }: LineItemRequest): LineItem {
  return {
    ...withoutAbsent({ name, productCode, sku }),
    // Normalised, because a retry with `007` instead of `7` is the same request.
    unitPrice: String(Number(unitPrice)),
    ...withoutAbsent({ categories, quantity }),
  };
}

/** Shows whether a retried invoice is the same (D6). Fields that are not in the specification do not count. */
export function fingerprintOf(request: CreateInvoiceRequest): string {
  const fields = [
    request.siteReference,
    request.currencyISOCode,
    request.amount,
    request.lineItems?.map((item) => {
      const { name, productCode, sku, unitPrice, categories, quantity } = lineItemOf(item);
      return [name ?? null, productCode ?? null, sku ?? null, unitPrice, categories ?? null, quantity ?? null];
    }) ?? null,
    request.origin,
    new Date(request.createdUTCDate).toISOString(),
    request.originReference ?? null,
  ];
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}

type WithoutAbsent<T> = { [Name in keyof T]?: NonNullable<T[Name]> };

/** Without members that are null or undefined. */
function withoutAbsent<T extends object>(members: T): WithoutAbsent<T> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  ) as WithoutAbsent<T>;
}
