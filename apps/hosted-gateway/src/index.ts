import { Credentials1763500000010 } from '@svc/auth';
import type { ServiceDefinition } from '@svc/service';
import { HostedGatewayModule } from './app.module.js';
import { HostedGatewayConfig } from './config.js';
import { gatewayErrorBody } from './gateway-error-body.js';
import { Sessions1763500003000 } from './migrations/1763500003000-sessions.js';
import { SessionTraces1763500003001 } from './migrations/1763500003001-session-traces.js';
import { ReversedPayments1763500003002 } from './migrations/1763500003002-reversed-payments.js';
import { NotificationFeed1763500003020 } from './migrations/1763500003020-notification-feed.js';
import { SessionCodes1763500003030 } from './migrations/1763500003030-session-codes.js';
import { TillCodes1763500003040 } from './migrations/1763500003040-till-codes.js';
import { SessionBounds1763500003050 } from './migrations/1763500003050-session-bounds.js';
import { SessionBoundsHold1763500003051 } from './migrations/1763500003051-session-bounds-hold.js';
import { KnownWebhookSecrets1763500003060 } from './migrations/1763500003060-known-webhook-secrets.js';
import { RoomForUpdates1763500003070 } from './migrations/1763500003070-room-for-updates.js';
import { PaymentsByDate1763500003120 } from './migrations/1763500003120-payments-by-date.js';
import { SessionLocale1763500003140 } from './migrations/1763500003140-session-locale.js';
import { TillInvoices1763500003150 } from './migrations/1763500003150-till-invoices.js';
import { SessionExtended1763500003160 } from './migrations/1763500003160-session-extended.js';
import { MaximumAmount1763500003170 } from './migrations/1763500003170-maximum-amount.js';
import { TillOfStaticCodes1763500003171 } from './migrations/1763500003171-till-of-static-codes.js';

/** Hosted sessions, the API with which merchants read their payments, and the payer's page. */
export const hostedGatewayService: ServiceDefinition<HostedGatewayConfig> = {
  name: 'hosted-gateway',
  // Accepts long path parameters, so that they are a 404 after authentication rather than a 400 before it (C5).
  maxParamLength: 16_384,
  // Events may wait this long for a larger batch, because they only update read models. Requests write their own
  // results immediately.
  maxBatchWaitMs: 20,
  config: HostedGatewayConfig,
  module: HostedGatewayModule,
  // These are the migrations, oldest first. Their names never change, because databases store the names.
  migrations: [
    Credentials1763500000010,
    Sessions1763500003000,
    SessionTraces1763500003001,
    ReversedPayments1763500003002,
    NotificationFeed1763500003020,
    SessionCodes1763500003030,
    TillCodes1763500003040,
    SessionBounds1763500003050,
    SessionBoundsHold1763500003051,
    KnownWebhookSecrets1763500003060,
    RoomForUpdates1763500003070,
    PaymentsByDate1763500003120,
    SessionLocale1763500003140,
    TillInvoices1763500003150,
    SessionExtended1763500003160,
    MaximumAmount1763500003170,
    TillOfStaticCodes1763500003171,
  ],
  errorBody: gatewayErrorBody,
};
