import type { EmulatorContext, OperationResult } from '../emulator-context.js';
import { AdyenError, requiredFieldMissing } from '../interface/adyen-error.js';
import type { ChallengeRecord } from '../state/records.js';
import { completePayment } from './make-payment.js';

/** The fields of Adyen's PaymentDetailsRequest that the emulator uses. */
export interface PaymentDetailsRequest {
  readonly details: { readonly redirectResult?: string };
}

/**
 * `POST /payments/details`: completes a payment after its redirect. Nothing is authorised before.
 *
 * Adyen documents no limit for the time of this request, and not the response to a second request. A second request
 * with another idempotency key is an error here, so that a caller does not rely on a repetition.
 */
export function submitDetails(context: EmulatorContext, { details }: PaymentDetailsRequest): OperationResult {
  context.store.assertNotFull();
  if (details.redirectResult === undefined) throw requiredFieldMissing('details.redirectResult');
  const challenge = context.store.findChallengeByResult(details.redirectResult);
  if (!challenge || challenge.state === 'submitted')
    throw new AdyenError(422, '14_002', "Field 'details.redirectResult' is not valid.");
  const result = completePayment(context, challenge.order, challenge.state === 'passed' ? 'passed' : 'failed');
  const submitted: ChallengeRecord = { ...challenge, state: 'submitted' };
  return { ...result, records: [submitted, ...result.records] };
}
