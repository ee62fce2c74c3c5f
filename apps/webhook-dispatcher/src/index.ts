import type { ServiceDefinition } from '@svc/service';
import { WebhookDispatcherModule } from './app.module.js';
import { WebhookDispatcherConfig } from './config.js';
import { Notifications1763500000500 } from './migrations/1763500000500-notifications.js';
import { SigningSecrets1763500000501 } from './migrations/1763500000501-signing-secrets.js';
import { NotificationTraces1763500000502 } from './migrations/1763500000502-notification-traces.js';
import { RecordNotifications1763500000503 } from './migrations/1763500000503-record-notifications.js';
import { Circuits1763500000504 } from './migrations/1763500000504-circuits.js';
import { LookUps1763500000505 } from './migrations/1763500000505-look-ups.js';
import { LockSessions1763500000506 } from './migrations/1763500000506-lock-sessions.js';
import { UnsignedNotifications1763500000507 } from './migrations/1763500000507-unsigned-notifications.js';
import { SiteWebhooks1763500000508 } from './migrations/1763500000508-site-webhooks.js';
import { RecordByLookUps1763500000509 } from './migrations/1763500000509-record-by-look-ups.js';
import { NotifiedSince1763500000550 } from './migrations/1763500000550-notified-since.js';
import { DeliveriesOfSites1763500000560 } from './migrations/1763500000560-deliveries-of-sites.js';
import { ReplayedBy1763500000568 } from './migrations/1763500000568-replayed-by.js';

export const webhookDispatcherService: ServiceDefinition<WebhookDispatcherConfig> = {
  name: 'webhook-dispatcher',
  config: WebhookDispatcherConfig,
  module: WebhookDispatcherModule,
  // These are the migrations, oldest first. Their names never change, because databases store the names.
  migrations: [
    Notifications1763500000500,
    SigningSecrets1763500000501,
    NotificationTraces1763500000502,
    RecordNotifications1763500000503,
    Circuits1763500000504,
    LookUps1763500000505,
    LockSessions1763500000506,
    UnsignedNotifications1763500000507,
    SiteWebhooks1763500000508,
    RecordByLookUps1763500000509,
    NotifiedSince1763500000550,
    DeliveriesOfSites1763500000560,
    ReplayedBy1763500000568,
  ],
};
