import { Credentials1763500000010, OperatorKeys1763500000040 } from '@svc/auth';
import { Generations1763500000030 } from '@svc/messaging';
import type { ServiceDefinition } from '@svc/service';
import { MerchantRetrievalModule } from './app.module.js';
import { MerchantRetrievalConfig } from './config.js';
import { Schema1763500008000 } from './migrations/1763500008000-schema.js';

/**
 * Lets merchants find their payments by invoice, by their own reference and by service payment id. Also lets merchants
 * read a stream of payments.
 */
export const merchantRetrievalService: ServiceDefinition<MerchantRetrievalConfig> = {
  name: 'merchant-retrieval',
  // Accepts long path parameters, so that a request with a long parameter is authenticated before it gets an empty list
  // (C5, M1).
  maxParamLength: 16_384,
  config: MerchantRetrievalConfig,
  module: MerchantRetrievalModule,
  // Events may be gathered for this time. A payment must be visible within a second (M1).
  maxBatchWaitMs: 100,
  // These are the migrations, oldest first. Their names never change, because databases store the names.
  migrations: [Credentials1763500000010, Generations1763500000030, OperatorKeys1763500000040, Schema1763500008000],
};
