/** Reads the needs of each app from the code, to compare manifests and compose with. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HealthController } from '@svc/service';
import { CodeDecoderConfig } from '../../apps/code-decoder/src/config.js';
import { DemoShopConfig } from '../../apps/demo-shop/src/config.js';
import { HostedGatewayConfig } from '../../apps/hosted-gateway/src/config.js';
import { IdentityConfig } from '../../apps/identity/src/config.js';
import { MerchantRetrievalConfig } from '../../apps/merchant-retrieval/src/config.js';
import { PaymentHistoryConfig } from '../../apps/payment-history/src/config.js';
import { PaymentProcessorConfig } from '../../apps/payment-processor/src/config.js';
import { SimulatedAcquirerConfig } from '../../apps/simulated-acquirer/src/config.js';
import { WebhookDispatcherConfig } from '../../apps/webhook-dispatcher/src/config.js';
import { schemaOf } from '../../tools/svc/processes/env-files.ts';
import { SERVICES } from '../../tools/svc/base/settings.ts';

export interface AppInCode {
  readonly name: string;
  readonly config: new () => object;
  /** PostgreSQL schema, if the app has migrations. */
  readonly schema?: string;
  /** True if it sends or receives messages: over RabbitMQ between processes. */
  readonly usesMessaging: boolean;
}

const CONFIGS: Readonly<Record<string, new () => object>> = {
  'code-decoder': CodeDecoderConfig,
  'demo-shop': DemoShopConfig,
  'hosted-gateway': HostedGatewayConfig,
  identity: IdentityConfig,
  'merchant-retrieval': MerchantRetrievalConfig,
  'payment-history': PaymentHistoryConfig,
  'payment-processor': PaymentProcessorConfig,
  'simulated-acquirer': SimulatedAcquirerConfig,
  'webhook-dispatcher': WebhookDispatcherConfig,
};

const appsFolder = join(import.meta.dirname, '../../apps');

/**
 * Every folder of apps/ that starts a service. Not deployed are hosts, which run several services on one machine, and apps
 * that a merchant runs in a store.
 */
export function appsInCode(): AppInCode[] {
  return readdirSync(appsFolder)
    .filter((name) => existsSync(join(appsFolder, name, 'package.json')))
    .map((name) => ({ ...manifestOf(name), name }))
    .filter(({ nx }) => !nx.tags.some((tag) => tag === 'type:host' || tag === 'scope:store'))
    .map(({ name, dependencies }) => {
      const config = CONFIGS[name];
      if (!config) throw new Error(`${name} is new: add its configuration to deploy/checks/code.ts`);
      const service = SERVICES.find((known) => known === name);
      if (existsSync(join(appsFolder, name, 'src/migrations')) !== (service !== undefined))
        throw new Error(`${name}: its migrations, and the services of tools/svc/base/settings.ts, differ`);
      return {
        name,
        config,
        ...(service === undefined ? {} : { schema: schemaOf(service) }),
        usesMessaging: dependencies['@svc/contracts'] !== undefined,
      };
    });
}

function manifestOf(name: string): { dependencies: Record<string, string>; nx: { tags: string[] } } {
  return JSON.parse(readFileSync(join(appsFolder, name, 'package.json'), 'utf8')) as ReturnType<typeof manifestOf>;
}

/** The paths of a service's health checks. */
export function healthPaths(): { live: string; ready: string } {
  const pathOf = (target: object): string => String(Reflect.getMetadata('path', target));
  const methods = HealthController.prototype as unknown as Record<'live' | 'ready', object>;
  const controller = pathOf(HealthController);
  return { live: `/${controller}/${pathOf(methods.live)}`, ready: `/${controller}/${pathOf(methods.ready)}` };
}
