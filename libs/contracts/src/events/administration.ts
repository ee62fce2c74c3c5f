import { type EventType, eventType } from './envelope.js';

/**
 * A successful request of an administrator, or of a person of a merchant in the console, that changed or sent something
 * in a service. identity appends it to the audit log (A10). It never contains a secret.
 */
export interface Administered {
  /** What was done, for example `merchant-account.set`. */
  action: string;
  /**
   * `operator:` and the id of the operator whose key was sent; `admin:` and the beginning of the SHA-256 of the shared
   * administration key; `person:` and the id of the person in the console; or `schedule` for the end of a replaced
   * credential.
   */
  actor: string;
  /** `x-request-id` of the response (C8). */
  requestId: string;
  /** The merchant whose settings or objects the request concerns. */
  merchantId?: number;
  siteId?: number;
  /** The id of the key that the request created. */
  credentialId?: string;
  /** The values before the change. */
  before?: Record<string, unknown>;
  /** The values after the change, or the objects that the request selected. */
  after: Record<string, unknown>;
}

/** A request of an administrator to payment-processor. */
export const PaymentProcessorAdministeredV1 = eventType<Administered>('payment-processor.administered.v1');

/** A request of an administrator to hosted-gateway. */
export const HostedGatewayAdministeredV1 = eventType<Administered>('hosted-gateway.administered.v1');

/** A request of an administrator to webhook-dispatcher. */
export const WebhookDispatcherAdministeredV1 = eventType<Administered>('webhook-dispatcher.administered.v1');

/** A request of an administrator to code-decoder. */
export const CodeDecoderAdministeredV1 = eventType<Administered>('code-decoder.administered.v1');

/** A request of an administrator to payment-history. */
export const PaymentHistoryAdministeredV1 = eventType<Administered>('payment-history.administered.v1');

/** A request of an administrator to merchant-retrieval. */
export const MerchantRetrievalAdministeredV1 = eventType<Administered>('merchant-retrieval.administered.v1');

/** A request of an administrator to console. */
export const ConsoleAdministeredV1 = eventType<Administered>('console.administered.v1');

/**
 * Each service has its own type, so that RabbitMQ refuses an entry in the name of another service (ADR 26). The type
 * begins with the name of the service.
 */
export const ADMINISTERED_TYPES: readonly EventType<Administered>[] = [
  PaymentProcessorAdministeredV1,
  HostedGatewayAdministeredV1,
  WebhookDispatcherAdministeredV1,
  CodeDecoderAdministeredV1,
  PaymentHistoryAdministeredV1,
  MerchantRetrievalAdministeredV1,
  ConsoleAdministeredV1,
];
