import { OperatorKeys1763500000040 } from '@svc/auth';
import { Generations1763500000030 } from '@svc/messaging';
import type { ServiceDefinition } from '@svc/service';
import { ConsoleModule } from './app.module.js';
import { ConsoleConfig } from './config.js';
import { Schema1763500009000 } from './migrations/1763500009000-schema.js';

/** The pages on which the people of a merchant look at payments, give money back and manage their shop. */
export const consoleService: ServiceDefinition<ConsoleConfig> = {
  name: 'console',
  // Events may wait this long for a larger batch, because people look at the pages, not programs.
  maxBatchWaitMs: 100,
  planner: 'custom-look-ups',
  config: ConsoleConfig,
  module: ConsoleModule,
  // These are the migrations, oldest first. Their names never change, because databases store the names.
  migrations: [Generations1763500000030, OperatorKeys1763500000040, Schema1763500009000],
};
