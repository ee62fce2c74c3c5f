import { Credentials1763500000010, OperatorKeys1763500000040 } from '@svc/auth';
import type { ServiceDefinition } from '@svc/service';
import { HostedGatewayModule } from './app.module.js';
import { HostedGatewayConfig } from './config.js';
import { gatewayErrorBody } from './gateway-error-body.js';
import { Schema1763500003000 } from './migrations/1763500003000-schema.js';

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
  migrations: [Credentials1763500000010, OperatorKeys1763500000040, Schema1763500003000],
  errorBody: gatewayErrorBody,
};
