import type { EmulatorContext, OperationResult } from '../emulator-context.js';
import { AdyenError } from '../interface/adyen-error.js';
import { movementOf } from '../settlement/movement.js';
import type { ChallengeRecord, PaymentOrder } from '../state/records.js';
import { type Authentication, authorise } from './authorisation.js';
import { newChallenge, redirectResponse } from './challenge.js';
import { type PaymentRequest, toPaymentOrder } from './payment-request.js';
import { paymentResponse } from './payment-response.js';

/** `POST /payments`: authorises, refuses, or redirects the payer to 3D Secure. */
export function makePayment(context: EmulatorContext, request: PaymentRequest): OperationResult {
  context.store.assertNotFull();
  const order = toPaymentOrder(request, context.store);
  throwRequestedError(request);
  if (!requiresAuthentication(request, order)) return completePayment(context, order, 'not-offered');
  // Documentation: "3D Secure 2 API reference": without the browser's data the authentication fails.
  if (!request.browserInfo || !request.origin || request.channel !== 'Web')
    return completePayment(context, order, 'failed');
  // The redirect sends it in a header (OpenAPI document of Checkout: non-ASCII characters are URL-encoded).
  if (!/^https?:\/\/[!-~]+$/.test(request.returnUrl))
    throw new AdyenError(422, '14_002', "Field 'returnUrl' is not valid.");
  const challenge: ChallengeRecord = newChallenge(order, request.returnUrl, context.clock.nowText());
  return { status: 200, body: redirectResponse(challenge, context.publicUrl()), records: [challenge] };
}

/** Authorises the payment and reports it by webhook. */
export function completePayment(
  context: EmulatorContext,
  order: PaymentOrder,
  authentication: Authentication,
): OperationResult {
  const { payment, storedCard } = authorise(order, authentication, context.clock.now());
  const isDecided = payment.state !== 'received';
  return {
    status: 200,
    body: paymentResponse(payment),
    records: [
      payment,
      ...(storedCard ? [storedCard] : []),
      ...(payment.state === 'captured' ? [movementOf(context, 'Settled', payment, payment.pspReference, '')] : []),
      ...(isDecided ? context.notifications.authorisation(payment) : []),
    ],
  };
}

/**
 * Whether 3D Secure authenticates the payer: only interactive payments with an enrolled card, unless the request says
 * `never` (OpenAPI document of Checkout, `authenticationData`; documentation: "Testing 3D Secure 2 authentication").
 */
function requiresAuthentication({ authenticationData }: PaymentRequest, order: PaymentOrder): boolean {
  if (!order.card.isEnrolled || order.shopperInteraction !== 'Ecommerce') return false;
  if (authenticationData?.attemptAuthentication === 'never') return false;
  if (authenticationData?.threeDSRequestData?.nativeThreeDS === 'preferred')
    throw new AdyenError(422, '14_002', 'The emulator only has 3D Secure 2 by redirect, not native 3D Secure 2');
  return true;
}

/** OpenAPI document of Checkout, `RequestedTestErrorResponseCode`. The codes of these errors are not documented. */
function throwRequestedError({ additionalData = {} }: PaymentRequest): void {
  const requested = additionalData['RequestedTestErrorResponseCode'];
  if (requested === 'NO_CONNECTION_AVAILABLE')
    throw new AdyenError(500, '905', 'No connection available', 'internal', true);
  if (requested === 'IOEXCEPTION_RECEIVED') throw new AdyenError(500, '905', 'IOException received', 'internal');
}
