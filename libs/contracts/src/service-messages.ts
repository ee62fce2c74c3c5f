/**
 * The event types that each service publishes and consumes, the commands to which it responds (`answers`), and the
 * commands that it sends (`requests`). The permissions of each service's RabbitMQ user are generated only from this
 * table (ADR 26). Each event type has one publisher, and each command has one service that responds to it. Remove a
 * line one release after the last code that uses it, because both releases run during a rollout.
 *
 * This file imports nothing, so that tools can run it without a build. A test compares it with the code of the
 * services.
 */
export interface ServiceMessages {
  readonly publishes: readonly string[];
  readonly consumes: readonly string[];
  readonly answers: readonly string[];
  readonly requests: readonly string[];
}

export const SERVICE_MESSAGES = {
  identity: {
    publishes: [
      'api-key.changed.v1',
      'credentials.heartbeat.v1',
      'customer.registered.v1',
      'merchant.changed.v1',
      'partner-key.changed.v1',
      'signing-secret.changed.v1',
      'site.changed.v1',
      'token-key.changed.v1',
      'webhook-secret.changed.v1',
    ],
    consumes: [
      'code-decoder.administered.v1',
      'hosted-gateway.administered.v1',
      'merchant-retrieval.administered.v1',
      'payment-history.administered.v1',
      'payment-processor.administered.v1',
      'sealing-key.published.v1',
      'webhook-dispatcher.administered.v1',
    ],
    answers: [],
    requests: [],
  },
  'payment-processor': {
    publishes: [
      'card-key.published.v1',
      'payable.closed.v1',
      'payment-processor.administered.v1',
      'payment.failed.v1',
      'payment.processing.v1',
      'payment.reversed.v1',
      'payment.succeeded.v1',
      'payment.verification-required.v1',
      'refund.failed.v1',
      'refund.succeeded.v1',
    ],
    consumes: [
      'api-key.changed.v1',
      'credentials.heartbeat.v1',
      'customer.registered.v1',
      'invoice.created.v1',
      'merchant.changed.v1',
      'partner-key.changed.v1',
      'session.created.v1',
      'session.extended.v1',
      'site.changed.v1',
      'token-key.changed.v1',
    ],
    answers: [
      'charge-card.v1',
      'charge-invoice.v1',
      'check-payments.v1',
      'close-payable.v1',
      'find-payable.v1',
      'open-payable.v1',
    ],
    requests: [
      'digest-history.v1',
      'digest-notifications.v1',
      'digest-retrieval.v1',
      'digest-sessions.v1',
      'find-till-invoice.v1',
      'list-history.v1',
      'list-notifications.v1',
      'list-notified-sites.v1',
      'list-retrieval.v1',
      'list-sessions.v1',
      'show-payment.v1',
    ],
  },
  'hosted-gateway': {
    publishes: ['hosted-gateway.administered.v1', 'session.created.v1', 'session.extended.v1'],
    consumes: [
      'api-key.changed.v1',
      'card-key.published.v1',
      'credentials.heartbeat.v1',
      'invoice.created.v1',
      'merchant.changed.v1',
      'payable.closed.v1',
      'payment.failed.v1',
      'payment.processing.v1',
      'payment.reversed.v1',
      'payment.succeeded.v1',
      'payment.verification-required.v1',
      'site.changed.v1',
      'till-code.created.v1',
      'webhook-secret.changed.v1',
    ],
    answers: ['digest-sessions.v1', 'list-sessions.v1'],
    requests: [
      'charge-card.v1',
      'charge-invoice.v1',
      'check-payments.v1',
      'close-payable.v1',
      'find-payable.v1',
      'find-till-invoice.v1',
      'get-delivery.v1',
      'list-deliveries.v1',
      'resend-delivery.v1',
    ],
  },
  'webhook-dispatcher': {
    publishes: ['sealing-key.published.v1', 'webhook-dispatcher.administered.v1'],
    consumes: [
      'credentials.heartbeat.v1',
      'payment.failed.v1',
      'payment.reversed.v1',
      'payment.succeeded.v1',
      'refund.failed.v1',
      'refund.succeeded.v1',
      'signing-secret.changed.v1',
      'site.changed.v1',
    ],
    answers: [
      'digest-notifications.v1',
      'get-delivery.v1',
      'list-deliveries.v1',
      'list-notifications.v1',
      'list-notified-sites.v1',
      'resend-delivery.v1',
    ],
    requests: [],
  },
  'code-decoder': {
    publishes: ['code-decoder.administered.v1', 'invoice.created.v1', 'till-code.created.v1'],
    consumes: [
      'api-key.changed.v1',
      'credentials.heartbeat.v1',
      'merchant.changed.v1',
      'partner-key.changed.v1',
      'payable.closed.v1',
      'payment.failed.v1',
      'payment.processing.v1',
      'payment.succeeded.v1',
      'session.created.v1',
      'session.extended.v1',
      'site.changed.v1',
      'token-key.changed.v1',
    ],
    answers: ['find-till-invoice.v1'],
    requests: ['close-payable.v1', 'find-payable.v1', 'open-payable.v1'],
  },
  'payment-history': {
    publishes: ['payment-history.administered.v1'],
    consumes: [
      'credentials.heartbeat.v1',
      'partner-key.changed.v1',
      'payment.failed.v1',
      'payment.processing.v1',
      'payment.succeeded.v1',
      'payment.verification-required.v1',
      'token-key.changed.v1',
    ],
    answers: ['digest-history.v1', 'list-history.v1', 'show-payment.v1'],
    requests: [],
  },
  'merchant-retrieval': {
    publishes: ['merchant-retrieval.administered.v1'],
    consumes: [
      'api-key.changed.v1',
      'credentials.heartbeat.v1',
      'payment.failed.v1',
      'payment.reversed.v1',
      'payment.succeeded.v1',
      'refund.failed.v1',
      'refund.succeeded.v1',
      'site.changed.v1',
    ],
    answers: ['digest-retrieval.v1', 'list-retrieval.v1'],
    requests: [],
  },
} as const satisfies Readonly<Record<string, ServiceMessages>>;

/** The services that have a RabbitMQ user. */
export type MessagingService = keyof typeof SERVICE_MESSAGES;

/** The names of these services, in the order of the table. */
export const MESSAGING_SERVICES = Object.keys(SERVICE_MESSAGES) as MessagingService[];
