import type { Mode } from '../events/credentials.js';
import { commandType } from '../events/envelope.js';
import type { PayableDescriptor, PayableSnapshot, PayableSource } from '../events/payments.js';

/**
 * hosted-gateway and code-decoder → payment-processor: closes a payable (H2, D6). Refused with `payment.in-progress` or
 * `payable.paid`; a repeat gets the same reply.
 */
export const ClosePayableV1 = commandType<{ payable: PayableDescriptor<PayableSource> }, PayableSnapshot>(
  'close-payable.v1',
);

/** The new payable, and the one that it replaces. */
export interface OpenPayable {
  payable: PayableDescriptor<PayableSource>;
  /** Closed in the same transaction, so that both can never be paid. */
  replaces?: PayableDescriptor<PayableSource>;
}

export interface OpenedPayable {
  opened: PayableSnapshot;
  /** State of the replaced payable: `closed`, or `refused` if that came first. */
  replaced?: PayableSnapshot;
}

/**
 * code-decoder → payment-processor: opens a payable, which can be paid from the reply on (D6). Refused with `payment.in-progress`
 * or `payable.paid` if the replaced payable is in that state; then nothing is opened. A repeat gets the same reply.
 */
export const OpenPayableV1 = commandType<OpenPayable, OpenedPayable>('open-payable.v1');

/**
 * code-decoder and hosted-gateway → payment-processor: reads the payable without querying the bank. Absent if it is unknown: then
 * it is unpaid, and the event that creates it is still on the way.
 */
export const FindPayableV1 = commandType<{ payableId: string }, { payable?: PayableSnapshot }>('find-payable.v1');

/**
 * payment-processor and hosted-gateway → code-decoder: the newest open invoice of the till that has this static code (D5), as
 * decoding shows it. Absent if no till of this mode has the code, or the till has no open invoice. A payer's camera sends no API
 * key and thus no mode: then the till's own mode is used.
 */
export const FindTillInvoiceV1 = commandType<{ mode?: Mode; code: string }, { invoiceReference?: string }>(
  'find-till-invoice.v1',
);
