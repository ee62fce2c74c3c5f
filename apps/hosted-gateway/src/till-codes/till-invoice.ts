import type {
  AmountTerms,
  InvoiceSource,
  LineItem,
  MerchantFeatures,
  Mode,
  PayableDescriptor,
  PayableState,
  PaymentSnapshot,
  TimeZonePeriod,
} from '@svc/contracts';
import type { PaymentCopy } from '../payment-copies/payment-copy.js';

/** An invoice of a till or a payment request (D7), with the data that its page needs. */
export interface TillInvoice extends AmountTerms {
  /** UUID. Equal to the id of the payable. */
  readonly invoiceReference: string;
  /** The 20 digits of its dynamic code (D5). */
  readonly code: string;
  readonly mode: Mode;
  readonly merchantId: number;
  readonly siteId: number;
  readonly merchantName: string;
  /** Name of the store or the shop. */
  readonly siteName: string;
  /** Identifier of the till. */
  readonly siteReference: string;
  /** The merchant's own reference. */
  readonly externalReference: string | null;
  /** Cents. */
  readonly amount: number;
  readonly currencyISOCode: string;
  readonly lineItems: readonly TillLineItem[];
  readonly expiresAt: Date;
  /** Whether a person of the merchant sent the link of this invoice to the payer, so that there is no till. */
  readonly isPaymentRequest: boolean;
  readonly maxPayments: number;
  readonly payableState: PayableState;
  readonly payableVersion: number;
  /** Number of payments started so far, by all payers and partners. */
  readonly paymentCount: number;
  /** Options that the merchant offers to payers. Empty until the MerchantChanged event has arrived. */
  readonly features: MerchantFeatures;
  /** Newest first. */
  readonly payments: readonly PaymentCopy[];
  /** The time zones of the merchant, in which the page shows times (M7). */
  readonly timeZones: readonly TimeZonePeriod[];
}

/** The fields of a line item that the page shows. */
export type TillLineItem = Pick<LineItem, 'name' | 'unitPrice' | 'quantity'>;

/** Selects these fields. A line item without a name gets its product code or SKU as the name. */
export function toTillLineItem({ name, productCode, sku, unitPrice, quantity }: LineItem): TillLineItem {
  const label = name ?? productCode ?? sku;
  return {
    ...(label === undefined ? {} : { name: label }),
    unitPrice,
    ...(quantity === undefined ? {} : { quantity }),
  };
}

export type InvoicePayment = PaymentSnapshot<InvoiceSource>;

export function isInvoicePayment<P extends PaymentCopy>(payment: P): payment is P & { source: { kind: 'invoice' } } {
  return payment.source.kind === 'invoice';
}

/** The payable of an invoice, equal to the payable that code-decoder published for the invoice. */
export function describeInvoicePayable(invoice: TillInvoice): PayableDescriptor<InvoiceSource> {
  const { invoiceReference, externalReference, siteReference, code } = invoice;
  return {
    payableId: invoiceReference,
    mode: invoice.mode,
    merchantId: invoice.merchantId,
    siteId: invoice.siteId,
    amount: invoice.amount,
    currencyISOCode: invoice.currencyISOCode,
    expiresAt: invoice.expiresAt.toISOString(),
    maxPayments: invoice.maxPayments,
    source: {
      kind: 'invoice',
      invoiceReference,
      ...(externalReference === null ? {} : { externalReference }),
      siteReference,
      code,
    },
  };
}
