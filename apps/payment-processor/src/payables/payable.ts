import type { ErrorCode, PayableDescriptor, PayableSource, PayableState } from '@svc/contracts';

/**
 * A payable: a debt that can be paid once. The first payment that changes `open → reserved` may charge. A failed payment reopens
 * it or, after the last try, refuses it; only an open payable can be closed. A payment that waits for a verification does not
 * reserve it, so an open payable can also become refused. The conditional UPDATEs of this app take exactly these steps; a
 * model-based test compares them with this list.
 */
export const PAYABLE_TRANSITIONS = {
  open: ['reserved', 'closed', 'refused'],
  reserved: ['paid', 'open', 'refused'],
  paid: [],
  refused: [],
  closed: [],
} as const satisfies Record<PayableState, readonly PayableState[]>;

/** The fields that decide if a payable can be paid; `tries` counts the tries begun so far. */
export interface PayableTerms extends Pick<
  PayableDescriptor<PayableSource>,
  'mode' | 'merchantId' | 'siteId' | 'amount' | 'currencyISOCode'
> {
  readonly state: PayableState;
  readonly expiresAt: Date;
  readonly tries: number;
  readonly triesMax: number;
}

/** The request of a payment: the debt as the payer saw it, and the number of this try. */
export type PayableRequest = Omit<PayableTerms, 'state' | 'tries' | 'triesMax'> & { readonly try: number };

export type PayableRefusal = Extract<ErrorCode, `payable.${string}` | 'payment.in-progress'>;

/**
 * The reason why a payable cannot be paid now; undefined when it can. `payable` is undefined while the payable is not stored here:
 * a first try carries it. This only explains: the statement that reserves the payable decides.
 */
export function refusalOf(
  payable: PayableTerms | undefined,
  request: PayableRequest,
  now: Date,
): PayableRefusal | undefined {
  const refusal = payable && refusalOfState(payable.state);
  if (refusal) return refusal;
  if (Math.min(request.expiresAt.getTime(), payable?.expiresAt.getTime() ?? Infinity) <= now.getTime())
    return 'payable.expired';
  if (payable && (payable.amount !== request.amount || payable.currencyISOCode !== request.currencyISOCode))
    return 'payable.mismatch';
  // The page does not know the latest try, or the descriptor is of another debt.
  const isNext = request.try === (payable?.tries ?? 0) + 1 && request.try <= (payable?.triesMax ?? 1);
  return isNext && isSameDebt(payable, request) ? undefined : 'payment.in-progress';
}

/** The part of {@link refusalOf} that also applies to an accepted payment that resumes. */
export function refusalOfState(state: PayableState): PayableRefusal | undefined {
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

function isSameDebt(payable: PayableTerms | undefined, request: PayableRequest): boolean {
  return (
    payable === undefined ||
    (payable.mode === request.mode && payable.merchantId === request.merchantId && payable.siteId === request.siteId)
  );
}
