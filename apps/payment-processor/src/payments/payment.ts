import {
  type ErrorCode,
  type PayableDescriptor,
  type PaymentSnapshot,
  type PaymentState,
  paymentError,
} from '@svc/contracts';

/**
 * A payment: one press of Pay (P1). Which state may follow which; the same list stands in a trigger of the table,
 * and a test compares the two.
 */
export const PAYMENT_TRANSITIONS = {
  processing: ['success', 'failed', 'verificationRequired'],
  verificationRequired: ['processing', 'failed'],
  success: [],
  failed: [],
} as const satisfies Record<PaymentState, readonly PaymentState[]>;

export function mayFollow(from: PaymentState, to: PaymentState): boolean {
  return (PAYMENT_TRANSITIONS[from] as readonly PaymentState[]).includes(to);
}

/** How a payment ends, as the acquirer's answer decides. */
export type Settlement = { readonly state: 'success' } | { readonly state: 'failed'; readonly error: ErrorCode };

export interface NewPayment {
  readonly payable: PayableDescriptor;
  readonly reference: string;
  readonly paymentReference: string;
  readonly paymentMethodLabel: string;
  readonly try: number;
  readonly now: Date;
}

/**
 * The payment as it is accepted: the payable is reserved for it and the acquirer not yet called. The payable's version
 * is known only to the statement that reserves it, which puts it in the place of the 0 here.
 */
export function acceptedPayment({ payable, now, ...given }: NewPayment): PaymentSnapshot {
  return {
    reference: given.reference,
    paymentReference: given.paymentReference,
    mode: payable.mode,
    merchantId: payable.merchantId,
    siteId: payable.siteId,
    state: 'processing',
    currencyISOCode: payable.currencyISOCode,
    invoicedAmount: payable.amount,
    amount: payable.amount,
    tipAmount: 0,
    processedAmount: 0,
    paymentUTCDate: now.toISOString(),
    modifiedUTCDate: now.toISOString(),
    paymentMethodType: 'Card',
    paymentMethodLabel: given.paymentMethodLabel,
    errors: [],
    source: payable.source,
    payable: { payableId: payable.payableId, state: 'reserved', version: 0, tries: given.try },
  };
}

/** The payment and its payable after the acquirer's answer. A failed one frees the payable, or refuses it for good. */
export function settledPayment(
  payment: PaymentSnapshot,
  settlement: Settlement,
  triesMax: number,
  now: Date,
): PaymentSnapshot {
  if (!mayFollow(payment.state, settlement.state))
    throw new Error(`A payment cannot go from ${payment.state} to ${settlement.state}.`);
  const success = settlement.state === 'success';
  return {
    ...payment,
    state: settlement.state,
    processedAmount: success ? payment.amount + payment.tipAmount : 0,
    modifiedUTCDate: now.toISOString(),
    errors: success ? [] : [paymentError(settlement.error)],
    payable: {
      ...payment.payable,
      state: success ? 'paid' : payment.payable.tries >= triesMax ? 'refused' : 'open',
      version: payment.payable.version + 1,
    },
  };
}
