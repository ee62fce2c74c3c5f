import type { ErrorCode, PayableDescriptor, PayableSource, PayableState } from '@svc/contracts';

/**
 * A payable: a debt that can be paid once, whoever wins `open → reserved` first. A failed payment frees it again or,
 * after the last try, refuses it; closing needs it to be free. A payment that waits for a verification holds nothing,
 * so the last try can also be refused while the payable is free. The conditional UPDATEs of this app take exactly
 * these steps, and a model-based test holds them against this list.
 */
export const PAYABLE_TRANSITIONS = {
  open: ['reserved', 'closed', 'refused'],
  reserved: ['paid', 'open', 'refused'],
  paid: [],
  refused: [],
  closed: [],
} as const satisfies Record<PayableState, readonly PayableState[]>;

/** The fields that decide whether a payable can be paid; `tries` counts those begun so far. */
export interface PayableTerms extends Pick<
  PayableDescriptor<PayableSource>,
  'mode' | 'merchantId' | 'siteId' | 'amount' | 'currencyISOCode'
> {
  readonly state: PayableState;
  readonly expiresAt: Date;
  readonly tries: number;
  readonly triesMax: number;
}

/** A payment's request: the debt as the payer saw it, and the number of this try. */
export type AskedPayable = Omit<PayableTerms, 'state' | 'tries' | 'triesMax'> & { readonly try: number };

export type PayableRefusal = Extract<ErrorCode, `payable.${string}` | 'payment.in-progress'>;

/**
 * Why a payable cannot be paid now, with every reason in one place; undefined when it can. `payable` is undefined while
 * the payable is not known here: a first try brings it along. It only says why: the statement that reserves decides.
 */
export function refusalOf(
  payable: PayableTerms | undefined,
  asked: AskedPayable,
  now: Date,
): PayableRefusal | undefined {
  const refusal = payable && refusalOfState(payable.state);
  if (refusal) return refusal;
  if (Math.min(asked.expiresAt.getTime(), payable?.expiresAt.getTime() ?? Infinity) <= now.getTime())
    return 'payable.expired';
  if (payable && (payable.amount !== asked.amount || payable.currencyISOCode !== asked.currencyISOCode))
    return 'payable.mismatch';
  // A page that does not know of the latest try, or a descriptor of another debt.
  const isNext = asked.try === (payable?.tries ?? 0) + 1 && asked.try <= (payable?.triesMax ?? 1);
  return isNext && isSameDebt(payable, asked) ? undefined : 'payment.in-progress';
}

/** The part that also counts for a payment whose acceptance was in time and is to be resumed. */
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

function isSameDebt(payable: PayableTerms | undefined, asked: AskedPayable): boolean {
  return (
    payable === undefined ||
    (payable.mode === asked.mode && payable.merchantId === asked.merchantId && payable.siteId === asked.siteId)
  );
}
