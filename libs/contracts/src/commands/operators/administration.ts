import { commandType } from '../../events/envelope.js';
import type { SERVICE_MESSAGES } from '../../service-messages.js';

/** An operator of the platform, as the console has authenticated the person. */
export interface AdministeringOperator {
  /** @schema uuid */
  personId: string;
  /** Whether the operator may change something. Otherwise only requests with GET are accepted. */
  mayChange: boolean;
}

/** A request of the administration API (A10), sent by an operator in the console. */
export interface AdministrationRequest {
  operator: AdministeringOperator;
  /**
   * `x-request-id` of the console's response (C8), which the audit log contains.
   * @schema uuid
   */
  requestId: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with its query, below `/admin/v1`: at most 2 000 characters. */
  path: string;
  /** JSON text of at most 100 000 characters. Absent without a body. */
  body?: string;
}

export interface AdministrationResponse {
  /** Status of HTTP. */
  statusCode: number;
  /** JSON text, empty without a body. The response of an error has the body of the API's error. */
  body: string;
}

/** Longest path with its query, and longest body, in characters. */
export const MAX_ADMINISTRATION_PATH_LENGTH = 2_000;
export const MAX_ADMINISTRATION_BODY_LENGTH = 100_000;

/*
 * One command for each service: the service handles the request as one of its administration API, with the same checks,
 * the same use cases and the same audit log. Only the console may send them (ADR 26), after it has authenticated the
 * operator. The response to a refused request is a reply with its status, not a refusal of the command.
 */

export const AdministerIdentityV1 = commandType<AdministrationRequest, AdministrationResponse>(
  'administer-identity.v1',
);
export const AdministerPaymentProcessorV1 = commandType<AdministrationRequest, AdministrationResponse>(
  'administer-payment-processor.v1',
);
export const AdministerHostedGatewayV1 = commandType<AdministrationRequest, AdministrationResponse>(
  'administer-hosted-gateway.v1',
);
export const AdministerWebhookDispatcherV1 = commandType<AdministrationRequest, AdministrationResponse>(
  'administer-webhook-dispatcher.v1',
);
export const AdministerCodeDecoderV1 = commandType<AdministrationRequest, AdministrationResponse>(
  'administer-code-decoder.v1',
);
export const AdministerPaymentHistoryV1 = commandType<AdministrationRequest, AdministrationResponse>(
  'administer-payment-history.v1',
);
export const AdministerMerchantRetrievalV1 = commandType<AdministrationRequest, AdministrationResponse>(
  'administer-merchant-retrieval.v1',
);
export const AdministerConsoleV1 = commandType<AdministrationRequest, AdministrationResponse>('administer-console.v1');

/** The command of each service that has an administration API. */
export const ADMINISTRATION_COMMANDS = {
  identity: AdministerIdentityV1,
  'payment-processor': AdministerPaymentProcessorV1,
  'hosted-gateway': AdministerHostedGatewayV1,
  'webhook-dispatcher': AdministerWebhookDispatcherV1,
  'code-decoder': AdministerCodeDecoderV1,
  'payment-history': AdministerPaymentHistoryV1,
  'merchant-retrieval': AdministerMerchantRetrievalV1,
  console: AdministerConsoleV1,
} as const satisfies Record<keyof typeof SERVICE_MESSAGES, object>;

export type AdministeredService = keyof typeof ADMINISTRATION_COMMANDS;
