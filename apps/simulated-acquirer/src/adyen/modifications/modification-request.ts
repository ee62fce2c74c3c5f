import type { EmulatorContext } from '../emulator-context.js';
import { AdyenError, originalNotFound } from '../interface/adyen-error.js';
import { newPspReference } from '../interface/psp-reference.js';
import type { Amount, ModificationRecord, ModificationType, PaymentRecord } from '../state/records.js';

/** The fields of Adyen's requests for modifications that the emulator uses. */
export interface ModificationRequest {
  readonly merchantAccount: string;
  readonly reference?: string;
}

export interface AmountModificationRequest extends ModificationRequest {
  readonly amount: Amount;
}

/** The decision about a modification, which a webhook reports. */
export interface Decision {
  readonly success: boolean;
  /** Empty if it succeeds. */
  readonly reason: string;
}

export const SUCCESS: Decision = { success: true, reason: '' };

/** `captureFalse.json` of Adyen's library for Node.js. */
export const INSUFFICIENT_BALANCE: Decision = { success: false, reason: 'Insufficient balance on payment' };

/** Throws Adyen's error if the merchant has no such payment. */
export function findPayment(
  { store }: EmulatorContext,
  pspReference: string,
  { merchantAccount }: ModificationRequest,
): PaymentRecord {
  const payment = store.payments.get(pspReference);
  if (payment?.order.merchantAccount !== merchantAccount) throw originalNotFound();
  return payment;
}

/** Documentation: "Capture" and "Refund": the currency is the payment's. Their error has no code in the documentation. */
export function assertValidAmount({ order }: PaymentRecord, { amount }: AmountModificationRequest): void {
  if (amount.currency !== order.amount.currency) throw new AdyenError(422, '138', 'Unsupported currency specified');
  if (amount.value <= 0) throw new AdyenError(422, '137', 'Invalid amount specified');
}

/** A decision of the control interface, or the emulator's own. */
export function decide(
  { outcomes }: EmulatorContext,
  type: ModificationType,
  paymentPspReference: string,
  decision: Decision,
): Decision {
  const failure = outcomes.take(type, paymentPspReference);
  return failure ? { success: false, reason: failure.reason } : decision;
}

export function newModification(
  { clock }: EmulatorContext,
  type: ModificationType,
  request: ModificationRequest,
  payment: PaymentRecord | undefined,
  { amount, success }: { amount: Amount; success: boolean },
): ModificationRecord {
  return {
    kind: 'modification',
    pspReference: newPspReference(),
    type,
    merchantAccount: request.merchantAccount,
    ...(payment ? { paymentPspReference: payment.pspReference } : {}),
    ...(request.reference === undefined ? {} : { reference: request.reference }),
    amount,
    state: success ? 'succeeded' : 'failed',
    at: clock.nowText(),
  };
}

/** The response to a modification of a payment: it was received, and a webhook reports its result. */
export function receivedResponse(modification: ModificationRecord, amount?: Amount): object {
  const { merchantAccount, paymentPspReference, pspReference, reference } = modification;
  return {
    merchantAccount,
    paymentPspReference,
    pspReference,
    ...(reference === undefined ? {} : { reference }),
    status: 'received',
    ...(amount ? { amount } : {}),
  };
}
