import {
  type AnyPaymentSnapshot,
  type ErrorCode,
  type PayableDescriptor,
  type PayableSource,
  type PaymentMethodType,
  type PaymentState,
  paymentError,
} from '@svc/contracts';
import type { Challenge } from '../acquirers/acquirer.js';
import { amountToProcess } from '../payables/amount-to-process.js';

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

/** What an attempt makes of its payment, as the acquirer's answer decides. */
export type Settlement =
  | { readonly state: 'success' }
  | { readonly state: 'failed'; readonly error: ErrorCode }
  | { readonly state: 'verificationRequired'; readonly challenge: Challenge };

/** A payer who has not returned from the bank's page by then has abandoned it (P1). */
export const VERIFICATION_LIFETIME_MS = 900_000;

export interface NewPayment {
  readonly payable: PayableDescriptor<PayableSource>;
  readonly reference: string;
  readonly paymentReference: string;
  /** `Card` unless told otherwise. */
  readonly paymentMethodType?: PaymentMethodType;
  readonly paymentMethodLabel: string;
  readonly try: number;
  readonly now: Date;
  /** Cents, tip not included; what is owed unless told otherwise. */
  readonly amount?: number;
  /** Cents; none unless told otherwise. */
  readonly tipAmount?: number;
  readonly partner?: PartnerMembers;
}

/** What a payment made through the main API says beside: who made it, and what they said of it (P6). */
export type PartnerMembers = Pick<
  AnyPaymentSnapshot,
  | 'partner'
  | 'merchantName'
  | 'siteReference'
  | 'orderReference'
  | 'externalPaymentReference'
  | 'invoiceReference'
  | 'invoiceExternalReference'
  | 'vouchers'
>;

/**
 * The payment as it is accepted: the payable is reserved for it and the acquirer not yet called. The payable's version
 * is known only to the statement that reserves it, which puts it in the place of the 0 here.
 */
export function acceptedPayment({ payable, now, ...given }: NewPayment): AnyPaymentSnapshot {
  return {
    reference: given.reference,
    paymentReference: given.paymentReference,
    mode: payable.mode,
    merchantId: payable.merchantId,
    siteId: payable.siteId,
    state: 'processing',
    currencyISOCode: payable.currencyISOCode,
    invoicedAmount: payable.amount,
    amount: given.amount ?? payable.amount,
    tipAmount: given.tipAmount ?? 0,
    processedAmount: 0,
    paymentUTCDate: now.toISOString(),
    modifiedUTCDate: now.toISOString(),
    paymentMethodType: given.paymentMethodType ?? 'Card',
    paymentMethodLabel: given.paymentMethodLabel,
    errors: [],
    source: payable.source,
    payable: { payableId: payable.payableId, state: 'reserved', version: 0, tries: given.try },
    ...given.partner,
  };
}

/**
 * The payment and its payable after the acquirer's answer. A failed one frees the payable, or refuses it for good after
 * the last try. One that waits for its payer's verification frees it, too: nobody waits for somebody who may not return.
 */
export function settledPayment(
  payment: AnyPaymentSnapshot,
  settlement: Settlement,
  triesMax: number,
  now: Date,
): AnyPaymentSnapshot {
  const changed = changedPayment(payment, settlement.state, now);
  const version = payment.payable.version + 1;
  switch (settlement.state) {
    case 'success': {
      const processedAmount = amountToProcess(payment);
      return { ...changed, processedAmount, payable: { ...payment.payable, state: 'paid', version } };
    }
    case 'failed': {
      const state = payment.payable.tries >= triesMax ? 'refused' : 'open';
      return { ...changed, errors: [paymentError(settlement.error)], payable: { ...payment.payable, state, version } };
    }
    case 'verificationRequired':
      return {
        ...changed,
        verificationUrl: settlement.challenge.url,
        verificationUntilUTCDate: new Date(now.getTime() + VERIFICATION_LIFETIME_MS).toISOString(),
        payable: { ...payment.payable, state: 'open', version },
      };
  }
}

/** The payer has passed the verification: only now the payable is reserved for it (P1). It must be free. */
export function continuedPayment(payment: AnyPaymentSnapshot, now: Date): AnyPaymentSnapshot {
  const { payable } = payment;
  if (payable.state !== 'open') throw new Error(`A payable that is ${payable.state} cannot be reserved.`);
  return {
    ...changedPayment(payment, 'processing', now),
    payable: { ...payable, state: 'reserved', version: payable.version + 1 },
  };
}

/**
 * The verification came to nothing; the last try refuses the payable. Its version grows in any case, so that whoever keeps
 * the newest sees the change. While another payment holds it, its version is that payment's: then this one waits.
 */
export function unverifiedPayment(
  payment: AnyPaymentSnapshot,
  error: ErrorCode,
  triesMax: number,
  now: Date,
): AnyPaymentSnapshot {
  const { payable } = payment;
  if (payable.state === 'reserved') throw new Error('The payable is reserved for another payment.');
  const state = payable.state === 'open' && payable.tries >= triesMax ? 'refused' : payable.state;
  return {
    ...changedPayment(payment, 'failed', now),
    errors: [paymentError(error)],
    payable: { ...payable, state, version: payable.version + 1 },
  };
}

function changedPayment(payment: AnyPaymentSnapshot, state: PaymentState, now: Date): AnyPaymentSnapshot {
  if (!mayFollow(payment.state, state)) throw new Error(`A payment cannot go from ${payment.state} to ${state}.`);
  const { verificationUrl: _, verificationUntilUTCDate: __, ...rest } = payment;
  return { ...rest, state, modifiedUTCDate: now.toISOString() };
}
