import type { Mode } from '../events/credentials.js';
import { commandType } from '../events/envelope.js';
import type { PayableDescriptor, PayableSnapshot } from '../events/payments.js';

/**
 * hosted-gateway and code-decoder → payment-processor: closes a payable (H2, D6). Refused with `payment.in-progress` or
 * `payable.paid`; a repeat gets the same reply.
 */
export const ClosePayableV1 = commandType<{ payable: PayableDescriptor }, PayableSnapshot>('close-payable.v1');

/** The new payable, and the payable that it replaces. */
export interface OpenPayable {
  payable: PayableDescriptor;
  /** The payable to close in the same transaction, so that a payer can never pay both payables. */
  replaces?: PayableDescriptor;
}

export interface OpenedPayable {
  opened: PayableSnapshot;
  /** State of the replaced payable: `closed`, or `refused` if it was refused before. */
  replaced?: PayableSnapshot;
}

/**
 * code-decoder → payment-processor: opens a payable, which can be paid as soon as the reply arrives (D6). The command
 * is refused with `payment.in-progress` or `payable.paid` if the payable to replace is being paid or is paid. Then no
 * payable is opened. A repeat gets the same reply.
 */
export const OpenPayableV1 = commandType<OpenPayable, OpenedPayable>('open-payable.v1');

/**
 * code-decoder and hosted-gateway → payment-processor: reads the payable without querying the bank. The reply has no
 * payable if payment-processor has not yet received the event that creates the payable. Such a payable is unpaid.
 */
export const FindPayableV1 = commandType<{ payableId: string }, { payable?: PayableSnapshot }>('find-payable.v1');

/**
 * payment-processor and hosted-gateway → code-decoder: finds the newest open invoice of the till that has this static
 * code (D5). Decoding the code returns the same invoice. The reply has no `invoiceReference` if no till of this mode
 * has the code, or if the till has no open invoice. A payer who scans the code with a camera sends no API key.
 * Therefore that request has no mode, and the mode of the till is used.
 */
export const FindTillInvoiceV1 = commandType<{ mode?: Mode; code: string }, { invoiceReference?: string }>(
  'find-till-invoice.v1',
);
