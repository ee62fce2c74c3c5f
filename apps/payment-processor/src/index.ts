import { OperatorKeys1763500000040, PartnerCredentials1763500000020 } from '@svc/auth';
import type { ServiceDefinition } from '@svc/service';
import { PaymentProcessorModule } from './app.module.js';
import { PaymentProcessorConfig } from './config.js';
import { Schema1763500001000 } from './migrations/1763500001000-schema.js';

/**
 * Payables, payments, attempts, refunds and the ledger; the only service that decrypts card data and calls the
 * acquirer.
 */
export const paymentProcessorService: ServiceDefinition<PaymentProcessorConfig> = {
  name: 'payment-processor',
  // Accepts long path parameters, so that a call with such a parameter gets a 404 after authentication and not a 414
  // (C3, C5).
  maxParamLength: 16_384,
  // Incoming events may be collected into batches for this short time. A payment command contains its payable, so the
  // command need not wait for the event `session.created`. But a payment by the new code of a till waits for its event.
  maxBatchWaitMs: 20,
  // The bank may have charged payments that the restored database does not contain.
  opensAfterRestore: 'by-administrator',
  config: PaymentProcessorConfig,
  module: PaymentProcessorModule,
  // These are the migrations, oldest first. Their names never change, because databases store the names.
  migrations: [PartnerCredentials1763500000020, OperatorKeys1763500000040, Schema1763500001000],
};
