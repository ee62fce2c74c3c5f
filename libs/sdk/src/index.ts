/**
 * For a merchant's server: clients for the hosted page, for payments, refunds, invoices and codes of tills;
 * verification of webhooks. For a partner's server: a client for payments, stored cards and the payment history, of the
 * partner and of its customers.
 */
export {
  HostedGatewayClient,
  type CreatedSession,
  type CreateSessionRequest,
  type SessionLineItem,
  type HostedGatewayClientOptions,
  type HostedSession,
  type NotificationPage,
  type RequestWarning,
  type SessionState,
} from './hosted-gateway/hosted-gateway-client.js';
export {
  MerchantClient,
  type MerchantClientOptions,
  type RefundRequest,
  type SearchOptions,
} from './merchant/merchant-client.js';
export type {
  DisputeOfPayment,
  DisputeStage,
  MerchantDispute,
  MerchantInvoice,
  MerchantPayment,
  MerchantRefund,
  PaymentNotification,
  RefundOfPayment,
} from './merchant/merchant-payment.js';
export type { Settlement, SettlementItem, SettlementSeal, SettlementTotals } from './merchant/settlement.js';
export type { CreateInvoiceRequest, MerchantSite } from './merchant/merchant-site.js';
export type { StreamOptions } from './merchant/payment-stream.js';
export {
  type CustomerCredentials,
  type CustomerLogin,
  PartnerClient,
  type PartnerClientOptions,
} from './partner/partner-client.js';
export { type CreateUserRequest, type PartnerService } from './partner/partner-service.js';
export {
  type HistoryQuery,
  type PartnerSession,
  type PayRequest,
  type ServicePayRequest,
} from './partner/partner-session.js';
export type {
  PartnerCard,
  PartnerCustomer,
  PartnerPayment,
  PartnerPaymentDetails,
  PartnerPaymentStatus,
  RegisteredCustomer,
} from './partner/partner-payment.js';
export { SvcApiError } from './svc-api-error.js';
export {
  assertExpectedPayment,
  verifySiteWebhook,
  verifyWebhook,
  WebhookVerificationError,
  type ExpectedPayment,
  type SignedRequest,
  type VerifyWebhookInput,
  type WebhookErrorCode,
} from './webhooks/verify-webhook.js';
export { signTestWebhook, type SignedWebhook } from './webhooks/signed-webhook.js';
export {
  legacySignature,
  legacySignatureText,
  verifyLegacySignature,
  type LegacySignedFields,
} from './webhooks/legacy-signature.js';
export type {
  ApiErrorItem,
  HostedPayment,
  HostedPaymentNotification,
  PaymentStatus,
  ResponseStatus,
} from './hosted-payment.js';
