import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { codeDecoderService } from '@svc/code-decoder';
import { consoleService } from '@svc/console';
import { demoShopService } from '@svc/demo-shop';
import { hostedGatewayService } from '@svc/hosted-gateway';
import { identityService } from '@svc/identity';
import { merchantRetrievalService } from '@svc/merchant-retrieval';
import { paymentHistoryService } from '@svc/payment-history';
import { paymentProcessorService } from '@svc/payment-processor';
import { ConfigError, type ServiceDefinition } from '@svc/service';
import { webhookDispatcherService } from '@svc/webhook-dispatcher';

/**
 * All services of the platform. The cast is needed because each definition has the type of its own configuration. It is
 * safe, because a service gets only the configuration that is loaded with its own class.
 */
export const SERVICES = [
  identityService,
  paymentProcessorService,
  webhookDispatcherService,
  hostedGatewayService,
  codeDecoderService,
  paymentHistoryService,
  merchantRetrievalService,
  consoleService,
  demoShopService,
] as unknown as readonly ServiceDefinition[];

/** Reads the environment of one service from its own file only, so that no service gets the secrets of another. */
export function readServiceEnv(app: string, envDir: string): Record<string, string | undefined> {
  try {
    return parseEnv(readFileSync(join(envDir, `${app}.env`), 'utf8'));
  } catch (cause) {
    throw new ConfigError(`The variables of ${app} cannot be read from ${envDir}`, { cause });
  }
}
