import type { Mode } from '../events/credentials.js';
import { commandType } from '../events/envelope.js';
import type { PayableDescriptor, PayableSnapshot, PayableSource } from '../events/payments.js';

/**
 * hosted-gateway and code-decoder → payment-processor: nobody may pay this any more (H2, D6). Refused with
 * `payment.in-progress` or `payable.paid`; closing what is closed answers the same again.
 */
export const ClosePayableV1 = commandType<{ payable: PayableDescriptor<PayableSource> }, PayableSnapshot>(
  'close-payable.v1',
);

/** What can be paid from now on, and what it takes the place of. */
export interface OpenPayable {
  payable: PayableDescriptor<PayableSource>;
  /** Closed in the same transaction, so that never both can be paid. */
  replaces?: PayableDescriptor<PayableSource>;
}

export interface OpenedPayable {
  opened: PayableSnapshot;
  /** What became of the one it replaces: `closed`, or `refused` where that came first. */
  replaced?: PayableSnapshot;
}

/**
 * code-decoder → payment-processor: this can be paid as soon as the reply is there (D6). Refused, and nothing is
 * opened, with `payment.in-progress` or `payable.paid` where that is so of the one it replaces. A repeat answers the same.
 */
export const OpenPayableV1 = commandType<OpenPayable, OpenedPayable>('open-payable.v1');

/**
 * code-decoder and hosted-gateway → payment-processor: the payable as it is now, without asking the bank about it. Absent where it is not
 * known: nobody has paid it, and the event that makes it known is on the way.
 */
export const FindPayableV1 = commandType<{ payableId: string }, { payable?: PayableSnapshot }>('find-payable.v1');

/**
 * payment-processor and hosted-gateway → code-decoder: the newest open invoice of the till that has this static code (D5), as
 * decoding shows it. Absent where no till of this mode has the code, or the till has no open invoice. A payer's camera has no key
 * that says a mode: without one the till's own counts.
 */
export const FindTillInvoiceV1 = commandType<{ mode?: Mode; code: string }, { invoiceReference?: string }>(
  'find-till-invoice.v1',
);
