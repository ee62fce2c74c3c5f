import type { EmulatorContext, OperationResult } from '../emulator-context.js';
import { CAPTURE_FAILED_HOLDER_NAME } from '../interface/refusal-reasons.js';
import { findUnsettled, movementOf } from '../settlement/movement.js';
import type { EmulatorRecord, ModificationRecord, PaymentRecord } from '../state/records.js';
import {
  type AmountModificationRequest,
  assertValidAmount,
  decide,
  findPayment,
  INSUFFICIENT_BALANCE,
  newModification,
  receivedResponse,
  SUCCESS,
} from './modification-request.js';

/**
 * `POST /payments/{paymentPspReference}/captures` (documentation: "Capture"). One capture of at most the authorised
 * amount: the rest of the authorisation is released. The card scheme can reject it later: CAPTURE_FAILED.
 */
export function capture(
  context: EmulatorContext,
  paymentPspReference: string,
  request: AmountModificationRequest,
): OperationResult {
  const payment = findPayment(context, paymentPspReference, request);
  assertValidAmount(payment, request);
  const { amount } = request;
  const isPossible = payment.state === 'authorised' && amount.value <= payment.order.amount.value;
  const decision = decide(context, 'capture', paymentPspReference, isPossible ? SUCCESS : INSUFFICIENT_BALANCE);
  const { success } = decision;
  const modification = newModification(context, 'capture', request, payment, { amount, success });
  const captured: PaymentRecord = success ? { ...payment, state: 'captured', capturedValue: amount.value } : payment;
  const failsLater = success && payment.order.card.holderName === CAPTURE_FAILED_HOLDER_NAME;
  return {
    status: 201,
    body: receivedResponse(modification, amount),
    records: [
      modification,
      captured,
      ...context.notifications.modification('CAPTURE', modification, payment, {
        ...decision,
        paymentReference: payment.order.reference,
      }),
      ...(failsLater
        ? failedCapture(context, modification, captured)
        : success
          ? [movementOf(context, 'Settled', captured, modification.pspReference, request.reference ?? '', amount)]
          : []),
    ],
  };
}

/**
 * The card scheme rejects a capture after its CAPTURE webhook (documentation: "Capture", failed capture). Undefined if
 * this is not possible, because nothing is captured or a batch has settled it.
 */
export function failCapture(context: EmulatorContext, payment: PaymentRecord): readonly EmulatorRecord[] | undefined {
  const modification = [...context.store.modifications.values()].find(
    ({ type, state, paymentPspReference }) =>
      type === 'capture' && state === 'succeeded' && paymentPspReference === payment.pspReference,
  );
  const movement = modification && findUnsettled(context, 'Settled', modification.pspReference);
  if (!modification || !movement || payment.refundedValue > 0) return undefined;
  return [{ ...movement, batch: 0 }, ...failedCapture(context, modification, payment)];
}

function failedCapture(
  context: EmulatorContext,
  modification: ModificationRecord,
  payment: PaymentRecord,
): EmulatorRecord[] {
  return [
    { ...modification, state: 'undone' },
    { ...payment, state: 'capture-failed', capturedValue: 0 },
    ...context.notifications.modification('CAPTURE_FAILED', modification, payment, {
      success: true,
      reason: 'Capture Failed',
      paymentReference: payment.order.reference,
    }),
  ];
}
