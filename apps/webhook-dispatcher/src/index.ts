import { OperatorKeys1763500000040 } from '@svc/auth';
import type { ServiceDefinition } from '@svc/service';
import { WebhookDispatcherModule } from './app.module.js';
import { WebhookDispatcherConfig } from './config.js';
import { Schema1763500000500 } from './migrations/1763500000500-schema.js';

export const webhookDispatcherService: ServiceDefinition<WebhookDispatcherConfig> = {
  name: 'webhook-dispatcher',
  config: WebhookDispatcherConfig,
  module: WebhookDispatcherModule,
  // Oldest first. The names never change, because databases store them.
  migrations: [OperatorKeys1763500000040, Schema1763500000500],
};
