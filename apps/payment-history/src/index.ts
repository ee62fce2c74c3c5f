import { OperatorKeys1763500000040, PartnerCredentials1763500000020 } from '@svc/auth';
import { Generations1763500000030 } from '@svc/messaging';
import type { ServiceDefinition } from '@svc/service';
import { PaymentHistoryModule } from './app.module.js';
import { PaymentHistoryConfig } from './config.js';
import { Schema1763500007000 } from './migrations/1763500007000-schema.js';

/** Shows partners and their customers their payments: a single payment, or the history in pages. */
export const paymentHistoryService: ServiceDefinition<PaymentHistoryConfig> = {
  name: 'payment-history',
  // Accepts long path parameters, so that a request with a long parameter is authenticated before it gets a 404 (C3,
  // C5).
  maxParamLength: 16_384,
  config: PaymentHistoryConfig,
  module: PaymentHistoryModule,
  // Events may be gathered for this time, because a payment that a partner waits for arrives earlier, by the command
  // show-payment.
  maxBatchWaitMs: 100,
  // These are the migrations, oldest first. Their names never change, because databases store the names.
  migrations: [
    PartnerCredentials1763500000020,
    Generations1763500000030,
    OperatorKeys1763500000040,
    Schema1763500007000,
  ],
};
