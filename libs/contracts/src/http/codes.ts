import type { MerchantFeatures } from '../events/merchants.js';

/** Response of `GET /v1/codes/{code}` (specification, "Decode response"). Optional members are absent, never null. */
export interface DecodeResponse {
  merchant: Merchant;
  invoice: Invoice;
}

/** Specification, "Merchant". */
export interface Merchant {
  /** Unique reference of the merchant; for merchants of this platform the merchantId as text. */
  merchantReference: string;
  merchantName: string;
  /** ISO 4217. */
  currencyISOCode: string;
  /** Local currency symbol: `R` for ZAR (D3). */
  currencySymbol: string;
  features: MerchantFeatures;
}

/** Specification, "Invoice". */
export interface Invoice {
  /** Point-of-sale till identifier. */
  siteReference: string;
  /** ISO 4217. */
  currencyISOCode: string;
  /** Cents. */
  amount: number;
  lineItems?: LineItem[];
  /** ISO 8601 UTC with milliseconds (C2). */
  createdUTCDate: string;
  /** Provider of the invoice. */
  origin?: string;
  /** Unique reference from the provider. */
  originReference?: string;
  /** Unique invoice reference; a UUID for invoices of this platform. */
  invoiceReference?: string;
  /** Unique reference used during payment. */
  orderReference?: string;
  state?: InvoiceState;
}

/** `closed`: paid, closed by the merchant, replaced, or refused after too many failed payments. */
type InvoiceState = 'open' | 'closed';

/** Specification, "Line item". At least one of productCode and sku is present. */
export interface LineItem {
  name?: string;
  productCode?: string;
  sku?: string;
  /** Price of one unit in cents, as text. */
  unitPrice: string;
  categories?: string[];
  /** Default 1; fractional for weighed goods, negative for returns. */
  quantity?: number;
}
