import { createHash } from 'node:crypto';
import type { PaymentSnapshot } from '@svc/contracts';

/** The references by which an operator finds a payment in logs and traces. */
export interface TraceableReferences {
  readonly paymentReference: string;
  /** {@link digestSession} of the session. */
  readonly session?: string;
  /** The merchant's order, invoice reference or the partner's order. */
  readonly order?: string;
}

type TraceablePayment = Pick<PaymentSnapshot, 'paymentReference' | 'orderReference'> & {
  /** The report that a payment is in progress contains only the kind. */
  readonly source?: Partial<PaymentSnapshot['source']>;
};

/** The references of a payment, for log lines and spans. */
export function traceableReferences({
  paymentReference,
  orderReference,
  source = {},
}: TraceablePayment): TraceableReferences {
  const session = 'sessionId' in source && source.sessionId ? { session: digestSession(source.sessionId) } : {};
  const sourceOrder =
    'merchantOrderId' in source
      ? source.merchantOrderId
      : 'externalReference' in source
        ? source.externalReference
        : undefined;
  const order = orderReference ?? sourceOrder;
  return { paymentReference, ...session, ...(order === undefined ? {} : { order }) };
}

/**
 * The id of a session opens its page, so logs and traces contain only the first 16 hexadecimal characters of its SHA-256:
 * `printf %s "$id" | sha256sum | cut -c1-16`.
 */
export function digestSession(sessionId: string): string {
  return createHash('sha256').update(sessionId.toLowerCase()).digest('hex').slice(0, 16);
}
