import type { PayableState } from '@svc/contracts';
import type { PaymentCopy } from './payment-copy.js';

/** The fields of a session, or of a till's invoice, that its payments change. */
interface PayableFields {
  readonly payableState: PayableState;
  readonly payableVersion: number;
  readonly paymentCount: number;
  readonly payments: readonly PaymentCopy[];
}

/**
 * Applies a payment to a session or invoice in memory as {@link PaymentCopies.upsert} does in the database: the newest
 * version wins.
 */
export function applyPayment<T extends PayableFields>(payable: T, payment: T['payments'][number]): T {
  const { state, version, paymentCount } = payment.payable;
  const isNewer = version > payable.payableVersion;
  const others = payable.payments.filter(({ paymentReference }) => paymentReference !== payment.paymentReference);
  const previous = payable.payments.find(({ paymentReference }) => paymentReference === payment.paymentReference);
  const newest = previous && previous.payable.version >= version ? previous : payment;
  const updated: PayableFields = {
    ...payable,
    ...(isNewer ? { payableState: state, payableVersion: version, paymentCount } : {}),
    payments: [newest, ...others].sort((a, b) => b.payable.version - a.payable.version),
  };
  return updated as T;
}
