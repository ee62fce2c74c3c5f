import type { LineItem } from '../http/codes.js';
import type { Mode } from './credentials.js';
import { eventType } from './envelope.js';
import type { InvoiceSource, PayableDescriptor } from './payments.js';

/**
 * An invoice that was made (D6), whole; nothing of it ever changes. What becomes of it is what becomes of its payable:
 * `payment.*` and `payable.closed` say so. Published by code-decoder.
 */
export interface InvoiceCreated {
  payable: PayableDescriptor<InvoiceSource>;
  /** Provider of the invoice, e.g. the till's maker. */
  origin: string;
  originReference?: string;
  /** When the till made it, as it said. ISO 8601 UTC with milliseconds. */
  createdUTCDate: string;
  lineItems?: LineItem[];
}
export const InvoiceCreatedV1 = eventType<InvoiceCreated>('invoice.created.v1');

/** The static code of a till (D5), made once for ever. Published by code-decoder. */
export interface TillCodeMade {
  /** The 20 digits. */
  code: string;
  mode: Mode;
  merchantId: number;
  siteId: number;
  /** Point-of-sale till identifier. */
  siteReference: string;
}
export const TillCodeMadeV1 = eventType<TillCodeMade>('till-code.made.v1');
