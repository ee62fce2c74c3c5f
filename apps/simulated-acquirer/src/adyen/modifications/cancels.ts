import type { EmulatorContext, OperationResult } from '../emulator-context.js';
import type { Amount, PaymentRecord } from '../state/records.js';
import {
  decide,
  type Decision,
  findPayment,
  type ModificationRequest,
  newModification,
  receivedResponse,
  SUCCESS,
} from './modification-request.js';

/** The OpenAPI document and the documentation do not list the reasons why a cancellation fails. */
const ALREADY_CAPTURED: Decision = { success: false, reason: 'Transaction has already been captured' };
const NOT_AUTHORISED: Decision = { success: false, reason: 'Transaction is not authorised' };
const NOT_FOUND: Decision = { success: false, reason: 'Original transaction not found' };

export interface TechnicalCancelRequest extends ModificationRequest {
  /** The `reference` of the payment's request. */
  readonly paymentReference: string;
}

/** `POST /payments/{paymentPspReference}/cancels` (documentation: "Cancel"). */
export function cancel(
  context: EmulatorContext,
  paymentPspReference: string,
  request: ModificationRequest,
): OperationResult {
  const payment = findPayment(context, paymentPspReference, request);
  const decision = decide(context, 'cancel', paymentPspReference, cancelDecision(payment));
  const { amount } = payment.order;
  const modification = newModification(context, 'cancel', request, payment, { amount, success: decision.success });
  return {
    status: 201,
    body: receivedResponse(modification),
    records: [
      modification,
      ...cancelled(payment, decision),
      ...context.notifications.modification('CANCELLATION', modification, payment, {
        ...decision,
        paymentReference: payment.order.reference,
      }),
    ],
  };
}

/**
 * `POST /cancels`: cancels the newest payment with this reference that is authorised and not captured (documentation:
 * "Cancel", technical cancel). Adyen also accepts a reference that it does not know (`checkout_test.go` of Adyen's
 * library for Go). The documentation does not describe the webhook for it; here its `success` is false.
 */
export function technicalCancel(context: EmulatorContext, request: TechnicalCancelRequest): OperationResult {
  const { merchantAccount, paymentReference, reference } = request;
  const found = context.store.findPaymentsByReference(merchantAccount, paymentReference);
  const payment = found.find(({ state }) => state === 'authorised') ?? found[0];
  const own = payment ? cancelDecision(payment) : NOT_FOUND;
  const decision = decide(context, 'technical-cancel', payment?.pspReference ?? '', own);
  const amount: Amount = payment?.order.amount ?? { currency: 'EUR', value: 0 };
  const { success } = decision;
  const modification = newModification(context, 'technical-cancel', request, payment, { amount, success });
  return {
    status: 201,
    body: {
      merchantAccount,
      paymentReference,
      pspReference: modification.pspReference,
      ...(reference === undefined ? {} : { reference }),
      status: 'received',
    },
    records: [
      modification,
      ...(payment ? cancelled(payment, decision) : []),
      ...context.notifications.modification('TECHNICAL_CANCEL', modification, payment, {
        ...decision,
        paymentReference,
      }),
    ],
  };
}

function cancelDecision({ state }: PaymentRecord): Decision {
  if (state === 'authorised' || state === 'capture-failed') return SUCCESS;
  return state === 'captured' ? ALREADY_CAPTURED : NOT_AUTHORISED;
}

function cancelled(payment: PaymentRecord, { success }: Decision): PaymentRecord[] {
  return success ? [{ ...payment, state: 'cancelled' }] : [];
}
