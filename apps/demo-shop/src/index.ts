import type { ServiceDefinition } from '@svc/service';
import { DemoShopModule } from './app.module.js';
import { DemoShopConfig } from './config.js';
import { Orders1763500005000 } from './migrations/1763500005000-orders.js';

/**
 * The shop of a merchant, for demonstrations. Like any merchant it uses the platform only through the public API and
 * webhooks.
 */
export const demoShopService: ServiceDefinition<DemoShopConfig> = {
  name: 'demo-shop',
  config: DemoShopConfig,
  module: DemoShopModule,
  // These are the migrations, oldest first. Their names never change, because databases store the names.
  migrations: [Orders1763500005000],
};
