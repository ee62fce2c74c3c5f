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
  /** Closed in the same transaction, so that a payer can never pay both payables. */
  replaces?: PayableDescriptor<PayableSource>;
}

export interface OpenedPayable {
  opened: PayableSnapshot;
  /** State of the replaced payable: `closed`, or `refused` if it was refused before. */
  replaced?: PayableSnapshot;
}

/**
 * code-decoder → payment-processor: opens a payable, which can be paid as soon as the reply arrives (D6). Refused with
 * `payment.in-progress` or `payable.paid` if the replaced payable is in that state; then no payable is opened. A repeat
 * gets the same reply.
 */
export const OpenPayableV1 = commandType<OpenPayable, OpenedPayable>('open-payable.v1');

/**
 * code-decoder and hosted-gateway → payment-processor: reads the payable without querying the bank. The reply has no
 * payable if payment-processor has not yet received the event that creates it; the payable is then unpaid.
 */
export const FindPayableV1 = commandType<{ payableId: string }, { payable?: PayableSnapshot }>('find-payable.v1');

/**
 * payment-processor and hosted-gateway → code-decoder: finds the newest open invoice of the till that has this static
 * code (D5), which is the invoice that decoding the code returns. Absent if no till of this mode has the code, or the
 * till has no open invoice. A payer who scans the code with a camera sends no API key, so the request has no mode: the
 * mode of the till is used.
 */
export const FindTillInvoiceV1 = commandType<{ mode?: Mode; code: string }, { invoiceReference?: string }>(
  'find-till-invoice.v1',
);
