import type { ErrorCode, PayableDescriptor, PayableState } from '@svc/contracts';

/**
 * The transitions between the states of a payable, a debt that can be paid once. The payment that changes `open →
 * reserved` may charge. A failed payment changes the payable back to `open` or, after the last payment, to `refused`.
 * Only an open payable can be closed. A payment that waits for a verification does not reserve the payable, so `open →
 * refused` is also possible. The conditional UPDATE statements of this app make exactly these transitions; a
 * model-based test compares them with this list.
 */
export const PAYABLE_TRANSITIONS = {
  open: ['reserved', 'closed', 'refused'],
  reserved: ['paid', 'open', 'refused'],
  paid: [],
  refused: [],
  closed: [],
} as const satisfies Record<PayableState, readonly PayableState[]>;

/** The fields that decide whether a payable can be paid. `paymentCount` counts the payments that have started. */
export interface PayableTerms extends Pick<
  PayableDescriptor,
  'mode' | 'merchantId' | 'siteId' | 'amount' | 'currencyISOCode'
> {
  readonly state: PayableState;
  readonly expiresAt: Date;
  readonly paymentCount: number;
  readonly maxPayments: number;
}

/** The request of a payment: the payable as the payer saw it, and the number of this payment. */
export type PayableRequest = Omit<PayableTerms, 'state' | 'paymentCount' | 'maxPayments'> & {
  readonly paymentNumber: number;
};

export type PayableRefusal = Extract<ErrorCode, `payable.${string}` | 'payment.in-progress'>;

/**
 * Returns the reason why a payable cannot be paid now; undefined when it can be paid. `payable` is undefined while this
 * service has not stored the payable. In this case the request of the first payment contains the payable. The result
 * only explains a rejection. The decision is made by the SQL statement that reserves the payable.
 */
export function findRefusal(
  payable: PayableTerms | undefined,
  request: PayableRequest,
  now: Date,
): PayableRefusal | undefined {
  const refusal = payable && findRefusalByState(payable.state);
  if (refusal) return refusal;
  if (Math.min(request.expiresAt.getTime(), payable?.expiresAt.getTime() ?? Infinity) <= now.getTime())
    return 'payable.expired';
  if (payable && (payable.amount !== request.amount || payable.currencyISOCode !== request.currencyISOCode))
    return 'payable.mismatch';
  // If this is not the next payment, the page has not seen the latest payment. If the owner differs, the request belongs
  // to another payable.
  const isNextPayment =
    request.paymentNumber === (payable?.paymentCount ?? 0) + 1 && request.paymentNumber <= (payable?.maxPayments ?? 1);
  return isNextPayment && hasSameOwner(payable, request) ? undefined : 'payment.in-progress';
}

/**
 * The refusal that follows from the state alone. It also applies to an accepted payment that resumes after a
 * verification.
 */
export function findRefusalByState(state: PayableState): PayableRefusal | undefined {
  switch (state) {
    case 'paid':
    case 'refused':
    case 'closed':
      return `payable.${state}`;
    case 'reserved':
      return 'payment.in-progress';
    case 'open':
      return undefined;
  }
}

function hasSameOwner(payable: PayableTerms | undefined, request: PayableRequest): boolean {
  return (
    payable === undefined ||
    (payable.mode === request.mode && payable.merchantId === request.merchantId && payable.siteId === request.siteId)
  );
}
