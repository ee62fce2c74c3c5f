import {
  type ErrorCode,
  isPartnerPayment,
  type PayableDescriptor,
  paymentError,
  type PaymentInProgress,
  type PaymentMethodType,
  type PaymentSnapshot,
  type PaymentState,
} from '@svc/contracts';
import type { Challenge } from '../acquirers/acquirer.js';
import { amountToProcess } from '../payables/amount-to-process.js';

/**
 * Allowed state transitions of a payment. Each click on Pay creates one payment (P1). A trigger of the table contains
 * the same list. A test compares the two lists.
 */
export const PAYMENT_TRANSITIONS = {
  processing: ['success', 'failed', 'verificationRequired'],
  verificationRequired: ['processing', 'failed'],
  success: [],
  failed: [],
} as const satisfies Record<PaymentState, readonly PaymentState[]>;

export function isTransitionAllowed(from: PaymentState, to: PaymentState): boolean {
  return (PAYMENT_TRANSITIONS[from] as readonly PaymentState[]).includes(to);
}

/** The effect of an attempt on its payment, according to the acquirer's response. */
export type Settlement =
  | { readonly state: 'success' }
  | { readonly state: 'failed'; readonly error: ErrorCode }
  | { readonly state: 'verificationRequired'; readonly challenge: Challenge };

/** The payer must first open our page at this URL, which collects the data of the browser. */
export interface BrowserDataRequired {
  readonly state: 'verificationRequired';
  readonly challenge: Pick<Challenge, 'url'>;
}

/** Time in which the payer must return from the bank's page. Later the verification counts as abandoned (P1). */
export const VERIFICATION_LIFETIME_MS = 900_000;

interface NewPayment {
  readonly payable: PayableDescriptor;
  readonly reference: string;
  readonly paymentReference: string;
  /** Default: `Card`. */
  readonly paymentMethodType?: PaymentMethodType;
  readonly paymentMethodLabel: string;
  readonly paymentNumber: number;
  readonly now: Date;
  /** Cents, without the tip. Default: the amount of the payable. */
  readonly amount?: number;
  /** Cents. Default: 0. */
  readonly tipAmount?: number;
  readonly partner?: PartnerFields;
}

/** Further fields of a payment through the main API: the partner, its customer and their references (P6). */
export type PartnerFields = Pick<
  PaymentSnapshot,
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
 * The payload of `payment.processing`: the full snapshot only for a partner, because most payments on pages end within
 * a second, and the event of the outcome contains the snapshot (ADR 75).
 */
export function progressReport(payment: PaymentSnapshot): PaymentSnapshot | PaymentInProgress {
  if (isPartnerPayment(payment)) return payment;
  const { reference, paymentReference, paymentUTCDate, modifiedUTCDate, source, payable } = payment;
  return {
    ...{ reference, paymentReference, paymentUTCDate, modifiedUTCDate, payable },
    state: 'processing',
    source: { kind: source.kind },
  };
}

/**
 * A payment at its acceptance: the payable is reserved, and the acquirer has not been called yet. The version of the
 * payable is 0 here. The statement that reserves the payable sets the actual version.
 */
export function acceptedPayment({ payable, now, ...options }: NewPayment): PaymentSnapshot {
  return {
    reference: options.reference,
    paymentReference: options.paymentReference,
    mode: payable.mode,
    merchantId: payable.merchantId,
    siteId: payable.siteId,
    state: 'processing',
    currencyISOCode: payable.currencyISOCode,
    invoicedAmount: payable.amount,
    amount: options.amount ?? payable.amount,
    tipAmount: options.tipAmount ?? 0,
    processedAmount: 0,
    paymentUTCDate: now.toISOString(),
    modifiedUTCDate: now.toISOString(),
    paymentMethodType: options.paymentMethodType ?? 'Card',
    paymentMethodLabel: options.paymentMethodLabel,
    errors: [],
    source: payable.source,
    // The statement that stores a hosted payment sets both names, if the merchant and the site are known.
    merchantName: '',
    siteReference: '',
    payable: { payableId: payable.payableId, state: 'reserved', version: 0, paymentCount: options.paymentNumber },
    ...options.partner,
  };
}

/**
 * The payment and its payable after the acquirer's response. A failed payment reopens the payable or, after the last
 * payment, sets it to `refused`. A payment that requires a verification also reopens the payable, because the payer may
 * never return.
 */
export function settledPayment(
  payment: PaymentSnapshot,
  settlement: Settlement | BrowserDataRequired,
  maxPayments: number,
  now: Date,
): PaymentSnapshot {
  const changed = changedPayment(payment, settlement.state, now);
  const version = payment.payable.version + 1;
  switch (settlement.state) {
    case 'success': {
      const processedAmount = amountToProcess(payment);
      return { ...changed, processedAmount, payable: { ...payment.payable, state: 'paid', version } };
    }
    case 'failed': {
      const state = payment.payable.paymentCount >= maxPayments ? 'refused' : 'open';
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

/** The payment after a passed verification. The payment reserves its payable again (P1). The payable must be open. */
export function resumedPayment(payment: PaymentSnapshot, now: Date): PaymentSnapshot {
  const { payable } = payment;
  if (payable.state !== 'open') throw new Error(`A payable that is ${payable.state} cannot be reserved.`);
  return {
    ...changedPayment(payment, 'processing', now),
    payable: { ...payable, state: 'reserved', version: payable.version + 1 },
  };
}

/**
 * The payment after a failed or abandoned verification. After the last payment the payable becomes `refused`. The
 * payable's version always increases, so that consumers that store only the newest version receive the change. Throws while
 * another payment has reserved the payable, because that payment determines the payable's version.
 */
export function paymentWithFailedVerification(
  payment: PaymentSnapshot,
  error: ErrorCode,
  maxPayments: number,
  now: Date,
): PaymentSnapshot {
  const { payable } = payment;
  if (payable.state === 'reserved') throw new Error('The payable is reserved for another payment.');
  const state = payable.state === 'open' && payable.paymentCount >= maxPayments ? 'refused' : payable.state;
  return {
    ...changedPayment(payment, 'failed', now),
    errors: [paymentError(error)],
    payable: { ...payable, state, version: payable.version + 1 },
  };
}

function changedPayment(payment: PaymentSnapshot, state: PaymentState, now: Date): PaymentSnapshot {
  if (!isTransitionAllowed(payment.state, state))
    throw new Error(`A payment cannot go from ${payment.state} to ${state}.`);
  const { verificationUrl: _, verificationUntilUTCDate: __, ...rest } = payment;
  return { ...rest, state, modifiedUTCDate: now.toISOString() };
}
