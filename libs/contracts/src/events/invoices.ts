import type { LineItem } from '../http/codes.js';
import type { Mode } from './credentials.js';
import { eventType } from './envelope.js';
import type { InvoiceSource, PayableDescriptor } from './payments.js';

/**
 * A new invoice (D6). An invoice never changes; the events `payment.*` and `payable.closed` report the state of its
 * payable. Published by code-decoder.
 */
export interface InvoiceCreated {
  payable: PayableDescriptor<InvoiceSource>;
  /** Provider of the invoice, e.g. the vendor of the till's software. */
  origin: string;
  originReference?: string;
  /** Time of creation reported by the till. ISO 8601 UTC with milliseconds. */
  createdUTCDate: string;
  lineItems?: LineItem[];
  /**
   * The person of the merchant who requested this payment in the console (D7). Absent for the invoice of a till.
   * @schema uuid
   */
  requestedBy?: string;
}
export const InvoiceCreatedV1 = eventType<InvoiceCreated>('invoice.created.v1');

/** A new static code of a till (D5). A till's code never changes. Published by code-decoder. */
export interface TillCodeCreated {
  /** The 20 digits. */
  code: string;
  mode: Mode;
  merchantId: number;
  siteId: number;
  /** Point-of-sale till identifier. */
  siteReference: string;
}
export const TillCodeCreatedV1 = eventType<TillCodeCreated>('till-code.created.v1');
