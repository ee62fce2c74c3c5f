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
 * Failed payments after which an invoice is refused. Each payer of a till's invoice is another person, so unlike a
 * hosted session it is not given up after a few; the bound is that of a payable.
 */
export const INVOICE_TRIES_MAX = 100;

/** What a till asks to be paid (D6). Only the state of its payable ever changes. */
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
  /** When the till made it, as the till says. */
  readonly createdUTCDate: Date;
  /** When it was made here. */
  readonly madeAt: Date;
  readonly expiresAt: Date;
  readonly payableState: PayableState;
  readonly payableVersion: number;
  readonly closedAt: Date | null;
}

/**
 * What an invoice is to a payer. One with a payment in progress is open, also past its expiry: the payment is waited
 * for. One that was closed after it had expired, to make room for another, stays expired.
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

/** The debt of an invoice, as payment-processor is told of it. */
export function payableOf(invoice: StoredInvoice): PayableDescriptor<InvoiceSource> {
  return {
    payableId: invoice.invoiceId,
    mode: invoice.mode,
    merchantId: invoice.merchantId,
    siteId: invoice.siteId,
    amount: invoice.amount,
    currencyISOCode: invoice.currencyISOCode,
    expiresAt: invoice.expiresAt.toISOString(),
    triesMax: INVOICE_TRIES_MAX,
    source: {
      kind: 'invoice',
      invoiceReference: invoice.invoiceId,
      ...(invoice.externalReference === null ? {} : { externalReference: invoice.externalReference }),
      siteReference: invoice.siteReference,
      code: invoice.code,
    },
  };
}

/** The invoice in the words of the specification; what is not known of it is absent. */
export function asInvoice(invoice: StoredInvoice, state: 'open' | 'closed'): Invoice {
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

/** A line as it is kept and shown: the price as text (C1), what was not given absent. */
export function lineItemOf({ name, productCode, sku, unitPrice, categories, quantity }: LineItemRequest): LineItem {
  return {
    ...given({ name, productCode, sku }),
    // Also from text: `007` and `7` are one price, and a repeat with the other is the same request.
    unitPrice: String(Number(unitPrice)),
    ...given({ categories, quantity }),
  };
}

/** Tells whether an invoice that is sent again is the same (D6). Fields the specification does not name do not count. */
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

type Given<T> = { [Name in keyof T]?: NonNullable<T[Name]> };

/** Without the members that are null or undefined. */
function given<T extends object>(members: T): Given<T> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  ) as Given<T>;
}
