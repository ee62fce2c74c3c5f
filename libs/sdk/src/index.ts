/** What a merchant's server needs: a typed client of the hosted gateway and the verification of its webhooks. */
export {
  HostedGatewayClient,
  type CreatedSession,
  type CreateSessionRequest,
  type HostedGatewayClientOptions,
  type NotificationPage,
} from './hosted-gateway-client.js';
export { SvcApiError } from './svc-api-error.js';
export {
  assertExpectedPayment,
  verifyWebhook,
  WebhookVerificationError,
  type ExpectedPayment,
  type VerifyWebhookInput,
  type WebhookErrorCode,
} from './verify-webhook.js';
export {
  legacySignature,
  legacySignatureText,
  verifyLegacySignature,
  type LegacySignedFields,
} from './legacy-signature.js';
export type {
  ApiErrorItem,
  HostedPayment,
  HostedPaymentNotification,
  PaymentStatus,
  ResponseStatus,
} from './hosted-payment.js';
