import type { EmulatorContext, OperationResult } from '../emulator-context.js';
import { REFUND_FAILED_HOLDER_NAME } from '../interface/refusal-reasons.js';
import { findUnsettled, movementOf } from '../settlement/movement.js';
import type { EmulatorRecord, ModificationRecord, PaymentRecord } from '../state/records.js';
import {
  type AmountModificationRequest,
  assertValidAmount,
  decide,
  type Decision,
  findPayment,
  INSUFFICIENT_BALANCE,
  type ModificationRequest,
  newModification,
  receivedResponse,
  SUCCESS,
} from './modification-request.js';

/** OpenAPI document of the webhooks, example of REFUND. */
const NOT_CAPTURED: Decision = { success: false, reason: "Transaction hasn't been captured, refund not possible" };

/**
 * `POST /payments/{paymentPspReference}/refunds` (documentation: "Refund"). Several partial refunds are possible, as long
 * as their sum does not exceed the captured amount.
 */
export function refund(
  context: EmulatorContext,
  paymentPspReference: string,
  request: AmountModificationRequest,
): OperationResult {
  const payment = findPayment(context, paymentPspReference, request);
  assertValidAmount(payment, request);
  const { amount } = request;
  const decision = decide(context, 'refund', paymentPspReference, refundDecision(payment, amount.value));
  const modification = newModification(context, 'refund', request, payment, { amount, success: decision.success });
  const refunded = addRefund(payment, decision.success ? amount.value : 0);
  const failsLater = decision.success && payment.order.card.holderName === REFUND_FAILED_HOLDER_NAME;
  return {
    status: 201,
    body: receivedResponse(modification, amount),
    records: [
      modification,
      refunded,
      ...context.notifications.modification('REFUND', modification, payment, {
        ...decision,
        paymentReference: payment.order.reference,
      }),
      ...(failsLater
        ? undoneRefund(context, 'REFUND_FAILED', modification, refunded)
        : refundMovements(context, modification, refunded)),
    ],
  };
}

/**
 * `POST /payments/{paymentPspReference}/reversals` (documentation: "Reversal"): cancels the payment if it is not
 * captured, and otherwise refunds the whole amount.
 */
export function reverse(
  context: EmulatorContext,
  paymentPspReference: string,
  request: ModificationRequest,
): OperationResult {
  const payment = findPayment(context, paymentPspReference, request);
  const isCancel = payment.state === 'authorised';
  const amount = isCancel
    ? payment.order.amount
    : { ...payment.order.amount, value: payment.capturedValue - payment.refundedValue };
  const own = isCancel ? SUCCESS : refundDecision(payment, Math.max(1, amount.value));
  const decision = decide(context, 'reversal', paymentPspReference, own);
  const { success } = decision;
  const modification = newModification(context, 'reversal', request, payment, { amount, success });
  const cancelled: PaymentRecord = { ...payment, state: 'cancelled' };
  const reversed = isCancel && success ? cancelled : addRefund(payment, success ? amount.value : 0);
  return {
    status: 201,
    body: receivedResponse(modification),
    records: [
      modification,
      reversed,
      ...context.notifications.modification('CANCEL_OR_REFUND', modification, reversed, {
        ...decision,
        paymentReference: payment.order.reference,
      }),
      ...(isCancel ? [] : refundMovements(context, modification, reversed)),
    ],
  };
}

/**
 * A refund that the card scheme rejects (`REFUND_FAILED`), or whose money the issuer returns (`REFUNDED_REVERSED`), after
 * its success (documentation: "Refund", refund failed and refunded reversed). Undefined if the refund has not succeeded.
 */
export function undoRefund(
  context: EmulatorContext,
  eventCode: 'REFUND_FAILED' | 'REFUNDED_REVERSED',
  modification: ModificationRecord,
): readonly EmulatorRecord[] | undefined {
  const { type, state, paymentPspReference = '' } = modification;
  const payment = context.store.payments.get(paymentPspReference);
  if (!payment || state !== 'succeeded' || (type !== 'refund' && type !== 'reversal')) return undefined;
  if (payment.state === 'cancelled') return undefined;
  const unsettled = findUnsettled(context, 'Refunded', modification.pspReference);
  const reference = modification.reference ?? '';
  return [
    ...(unsettled
      ? [{ ...unsettled, batch: 0 }]
      : [movementOf(context, 'RefundedReversed', payment, modification.pspReference, reference, modification.amount)]),
    ...undoneRefund(context, eventCode, modification, payment),
  ];
}

function undoneRefund(
  context: EmulatorContext,
  eventCode: 'REFUND_FAILED' | 'REFUNDED_REVERSED',
  modification: ModificationRecord,
  payment: PaymentRecord,
): EmulatorRecord[] {
  return [
    { ...modification, state: 'undone' },
    addRefund(payment, -modification.amount.value),
    ...context.notifications.modification(eventCode, modification, payment, {
      success: true,
      reason: eventCode === 'REFUND_FAILED' ? 'Refund Failed' : '',
      paymentReference: payment.order.reference,
    }),
  ];
}

function refundDecision({ state, capturedValue, refundedValue }: PaymentRecord, value: number): Decision {
  if (state !== 'captured') return NOT_CAPTURED;
  return refundedValue + value > capturedValue ? INSUFFICIENT_BALANCE : SUCCESS;
}

/** @param value cents */
function addRefund(payment: PaymentRecord, value: number): PaymentRecord {
  return { ...payment, refundedValue: payment.refundedValue + value };
}

function refundMovements(
  context: EmulatorContext,
  modification: ModificationRecord,
  payment: PaymentRecord,
): EmulatorRecord[] {
  const { state, pspReference, reference = '', amount } = modification;
  return state === 'succeeded' ? [movementOf(context, 'Refunded', payment, pspReference, reference, amount)] : [];
}
