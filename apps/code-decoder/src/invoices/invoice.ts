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
import { newOwnCode, newUuidAt } from '@svc/kernel';

/**
 * Number of failed payments after which an invoice is refused. This number is higher than the number for a hosted
 * session, because different people may try to pay a till's invoice. A payable allows no higher number.
 */
export const MAX_INVOICE_PAYMENTS = 100;

/** An invoice of a till (D6), or a payment request (D7). Only the state of its payable changes. */
export interface StoredInvoice {
  /** UUID. It is the `reference` in the API, and the id of the payable. */
  readonly invoiceId: string;
  readonly mode: Mode;
  readonly merchantId: number;
  readonly siteId: number;
  /** Point-of-sale till identifier. */
  readonly siteReference: string;
  readonly externalReference: string | null;
  /** Result of {@link computeInvoiceFingerprint} for the request that created the invoice. */
  readonly invoiceFingerprint: string;
  /** The 20 digits of the invoice's dynamic code (D5). */
  readonly code: string;
  /** In cents. */
  readonly amount: number;
  readonly currencyISOCode: string;
  readonly lineItems: readonly LineItem[] | null;
  readonly origin: string;
  readonly originReference: string | null;
  /** Creation time according to the till. */
  readonly createdUTCDate: Date;
  /** Creation time according to this service. */
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly payableState: PayableState;
  readonly payableVersion: number;
  readonly closedAt: Date | null;
  /** The person who requested the payment in the console (D7). Null for the invoice of a till. */
  readonly requestedBy: string | null;
}

/** The parts of a new invoice that its creator does not send. */
interface InvoiceTimes {
  readonly now: Date;
  readonly expiresAt: Date;
}

/** A new invoice, whose payable is open. */
export function newInvoice(
  owner: Pick<StoredInvoice, 'merchantId' | 'siteId' | 'mode'>,
  request: CreateInvoiceRequest,
  { now, expiresAt }: InvoiceTimes,
  requestedBy: string | null = null,
): StoredInvoice {
  return {
    invoiceId: newUuidAt(now),
    mode: owner.mode,
    merchantId: owner.merchantId,
    siteId: owner.siteId,
    siteReference: request.siteReference,
    externalReference: request.externalReference ?? null,
    invoiceFingerprint: computeInvoiceFingerprint(request),
    code: newOwnCode(),
    amount: request.amount,
    currencyISOCode: request.currencyISOCode,
    lineItems: request.lineItems?.map(normaliseLineItem) ?? null,
    origin: request.origin,
    originReference: request.originReference ?? null,
    createdUTCDate: new Date(request.createdUTCDate),
    createdAt: now,
    expiresAt,
    payableState: 'open',
    payableVersion: 1,
    closedAt: null,
    requestedBy,
  };
}

/**
 * The state of an invoice for payers. During a payment the invoice is open, even past its expiry, because the payment
 * may succeed. When a new invoice replaces an expired invoice, the payable of the expired invoice is closed, but payers
 * still see the invoice as expired.
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
export function createPayableDescriptor(invoice: StoredInvoice): PayableDescriptor<InvoiceSource> {
  return {
    payableId: invoice.invoiceId,
    mode: invoice.mode,
    merchantId: invoice.merchantId,
    siteId: invoice.siteId,
    amount: invoice.amount,
    currencyISOCode: invoice.currencyISOCode,
    expiresAt: invoice.expiresAt.toISOString(),
    maxPayments: MAX_INVOICE_PAYMENTS,
    source: {
      kind: 'invoice',
      invoiceReference: invoice.invoiceId,
      ...(invoice.externalReference === null ? {} : { externalReference: invoice.externalReference }),
      siteReference: invoice.siteReference,
      code: invoice.code,
    },
  };
}

/** The invoice in the format of the specification. Fields without a value are absent. */
export function buildInvoice(invoice: StoredInvoice, state: 'open' | 'closed'): Invoice {
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

/**
 * A line item in the format in which it is stored and returned: the price is text (C1), and fields that are null are
 * absent.
 */
export function normaliseLineItem({
  name,
  productCode,
  sku,
  unitPrice,
  categories,
  quantity,
}: LineItemRequest): LineItem {
  return {
    ...omitNulls({ name, productCode, sku }),
    // Leading zeros are removed, because a retry with `007` instead of `7` is the same request.
    unitPrice: String(Number(unitPrice)),
    ...omitNulls({ categories, quantity }),
  };
}

/**
 * SHA-256 of a request with its date, but without its externalReference. Of two requests with the same
 * externalReference, the second one asks for the same invoice if the fingerprint is equal, and replaces the invoice if
 * it differs (D6). Fields that are not in the specification are ignored.
 */
export function computeInvoiceFingerprint(request: CreateInvoiceRequest): string {
  const fields = [...listBodyFields(request), new Date(request.createdUTCDate).toISOString()];
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}

/** The normalised fields of a request, except for its externalReference and its date. */
export function listBodyFields(request: CreateInvoiceRequest): unknown[] {
  return [
    request.siteReference,
    request.currencyISOCode,
    request.amount,
    request.lineItems?.map((item) => {
      const { name, productCode, sku, unitPrice, categories, quantity } = normaliseLineItem(item);
      return [name ?? null, productCode ?? null, sku ?? null, unitPrice, categories ?? null, quantity ?? null];
    }) ?? null,
    request.origin,
    request.originReference ?? null,
  ];
}

type WithoutNulls<T> = { [Name in keyof T]?: NonNullable<T[Name]> };

/** Copies the object without members that are null or undefined. */
function omitNulls<T extends object>(members: T): WithoutNulls<T> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  ) as WithoutNulls<T>;
}
