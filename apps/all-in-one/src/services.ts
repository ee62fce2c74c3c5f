import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { codeDecoderService } from '@svc/code-decoder';
import { demoShopService } from '@svc/demo-shop';
import { hostedGatewayService } from '@svc/hosted-gateway';
import { identityService } from '@svc/identity';
import { merchantRetrievalService } from '@svc/merchant-retrieval';
import { paymentHistoryService } from '@svc/payment-history';
import { paymentProcessorService } from '@svc/payment-processor';
import { ConfigError, type ServiceDefinition } from '@svc/service';
import { webhookDispatcherService } from '@svc/webhook-dispatcher';

/** Every service of the platform, in the order in which they start. */
export const SERVICES = [
  identityService,
  paymentProcessorService,
  webhookDispatcherService,
  hostedGatewayService,
  codeDecoderService,
  paymentHistoryService,
  merchantRetrievalService,
  demoShopService,
] as unknown as readonly ServiceDefinition[];

/** The environment of one service: its own file and nothing of the process's, so that no secret strays. */
export function envOf(app: string, envDir: string): Record<string, string | undefined> {
  try {
    return parseEnv(readFileSync(join(envDir, `${app}.env`), 'utf8'));
  } catch (cause) {
    throw new ConfigError(`The variables of ${app} cannot be read from ${envDir}`, { cause });
  }
}
