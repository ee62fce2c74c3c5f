import * as contracts from '../index.js';

/**
 * Names are stored and sent to services of other releases, so they must not change. A message with a new meaning needs
 * a new name.
 */
const NAMES: Readonly<Record<string, string>> = {
  CodeDecoderAdministeredV1: 'code-decoder.administered.v1',
  HostedGatewayAdministeredV1: 'hosted-gateway.administered.v1',
  MerchantRetrievalAdministeredV1: 'merchant-retrieval.administered.v1',
  PaymentHistoryAdministeredV1: 'payment-history.administered.v1',
  PaymentProcessorAdministeredV1: 'payment-processor.administered.v1',
  WebhookDispatcherAdministeredV1: 'webhook-dispatcher.administered.v1',
  ApiKeyChangedV1: 'api-key.changed.v1',
  CardKeyPublishedV1: 'card-key.published.v1',
  ChargeCardV1: 'charge-card.v1',
  ChargeInvoiceV1: 'charge-invoice.v1',
  CheckPaymentsV1: 'check-payments.v1',
  ClosePayableV1: 'close-payable.v1',
  CredentialsHeartbeatV1: 'credentials.heartbeat.v1',
  CustomerRegisteredV1: 'customer.registered.v1',
  DigestHistoryV1: 'digest-history.v1',
  DigestNotificationsV1: 'digest-notifications.v1',
  DigestRetrievalV1: 'digest-retrieval.v1',
  DigestSessionsV1: 'digest-sessions.v1',
  FindPayableV1: 'find-payable.v1',
  FindTillInvoiceV1: 'find-till-invoice.v1',
  GetDeliveryV1: 'get-delivery.v1',
  InvoiceCreatedV1: 'invoice.created.v1',
  ListDeliveriesV1: 'list-deliveries.v1',
  ListHistoryV1: 'list-history.v1',
  ListNotificationsV1: 'list-notifications.v1',
  ListNotifiedSitesV1: 'list-notified-sites.v1',
  ListRetrievalV1: 'list-retrieval.v1',
  ListSessionsV1: 'list-sessions.v1',
  MerchantChangedV1: 'merchant.changed.v1',
  OpenPayableV1: 'open-payable.v1',
  PartnerKeyChangedV1: 'partner-key.changed.v1',
  PayableClosedV1: 'payable.closed.v1',
  PaymentFailedV1: 'payment.failed.v1',
  PaymentProcessingV1: 'payment.processing.v1',
  PaymentReversedV1: 'payment.reversed.v1',
  PaymentSucceededV1: 'payment.succeeded.v1',
  PaymentVerificationRequiredV1: 'payment.verification-required.v1',
  RefundSucceededV1: 'refund.succeeded.v1',
  RefundFailedV1: 'refund.failed.v1',
  ResendDeliveryV1: 'resend-delivery.v1',
  SealingKeyPublishedV1: 'sealing-key.published.v1',
  SessionCreatedV1: 'session.created.v1',
  SessionExtendedV1: 'session.extended.v1',
  ShowPaymentV1: 'show-payment.v1',
  SigningSecretChangedV1: 'signing-secret.changed.v1',
  SiteChangedV1: 'site.changed.v1',
  TillCodeCreatedV1: 'till-code.created.v1',
  TokenKeyChangedV1: 'token-key.changed.v1',
  WebhookSecretChangedV1: 'webhook-secret.changed.v1',
};

test('every event and command has the name that other releases use', () => {
  const types = Object.entries<unknown>(contracts).filter(([key]) => /V\d+$/.test(key));
  expect(Object.fromEntries(types)).toEqual(
    Object.fromEntries(Object.entries(NAMES).map(([key, name]) => [key, { name }])),
  );
});
