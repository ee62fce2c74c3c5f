import type { HostedSessionSource, InvoiceSource, PaymentInProgress, PaymentSnapshot } from '@svc/contracts';

/** The members of a session's source that a copy contains. The row of the session contains all of them. */
type StoredSessionSource = Pick<HostedSessionSource, 'kind' | 'sessionId' | 'merchantOrderId'>;

/** A snapshot without the members that the row of its session or invoice contains, and that no reader needs here. */
export type StoredSnapshot<Source extends StoredSessionSource | InvoiceSource = StoredSessionSource | InvoiceSource> =
  Omit<PaymentSnapshot, 'merchantName' | 'siteReference' | 'source'> & { source: Source };

export type HostedSnapshot = StoredSnapshot<StoredSessionSource>;

/** A payment as payment-processor last reported it. */
export type PaymentCopy<Payment extends StoredSnapshot = StoredSnapshot> = Payment | PaymentInProgress;

/** Removes the members that are not stored. */
export function toStoredCopy(payment: PaymentCopy): PaymentCopy {
  const { merchantName: _, siteReference: __, source, ...stored } = payment as PaymentCopy & Partial<PaymentSnapshot>;
  if (!('sessionId' in source)) return { ...stored, source };
  const { kind, sessionId, merchantOrderId } = source;
  return { ...stored, source: { kind, sessionId, merchantOrderId } };
}
