/**
 * Reads from the code which configuration, schema and messaging each app has, to compare it with the manifests and
 * compose.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HealthController } from '@svc/service';
import { CodeDecoderConfig } from '../../apps/code-decoder/src/config.js';
import { ConsoleConfig } from '../../apps/console/src/config.js';
import { DemoShopConfig } from '../../apps/demo-shop/src/config.js';
import { HostedGatewayConfig } from '../../apps/hosted-gateway/src/config.js';
import { IdentityConfig } from '../../apps/identity/src/config.js';
import { MerchantRetrievalConfig } from '../../apps/merchant-retrieval/src/config.js';
import { PaymentHistoryConfig } from '../../apps/payment-history/src/config.js';
import { PaymentProcessorConfig } from '../../apps/payment-processor/src/config.js';
import { SimulatedAcquirerConfig } from '../../apps/simulated-acquirer/src/config.js';
import { WebhookDispatcherConfig } from '../../apps/webhook-dispatcher/src/config.js';
import { schemaOf } from '../../tools/svc/processes/env-files.ts';
import { SERVICES } from '../../tools/svc/settings/settings.ts';

export interface AppInCode {
  readonly name: string;
  readonly config: new () => object;
  /** PostgreSQL schema, if the app has migrations. */
  readonly schema?: string;
  /** True if the app sends or receives messages, for which separate processes need RabbitMQ. */
  readonly usesMessaging: boolean;
}

const CONFIGS: Readonly<Record<string, new () => object>> = {
  'code-decoder': CodeDecoderConfig,
  console: ConsoleConfig,
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
 * Reads every deployed app of apps/. Not deployed are apps with the tag `type:host`, which run several services on one
 * machine, and apps with the tag `scope:store`, which a merchant runs in a store.
 */
export function readApps(): AppInCode[] {
  return readdirSync(appsFolder)
    .filter((name) => existsSync(join(appsFolder, name, 'package.json')))
    .map((name) => ({ ...readManifest(name), name }))
    .filter(({ nx }) => !nx.tags.some((tag) => tag === 'type:host' || tag === 'scope:store'))
    .map(({ name, dependencies }) => {
      const config = CONFIGS[name];
      if (!config) throw new Error(`${name} is new: add its configuration to deploy/checks/code.ts`);
      const service = SERVICES.find((serviceName) => serviceName === name);
      if (existsSync(join(appsFolder, name, 'src/migrations')) !== (service !== undefined))
        throw new Error(`${name}: its migrations, and the services of tools/svc/settings/settings.ts, differ`);
      return {
        name,
        config,
        ...(service === undefined ? {} : { schema: schemaOf(service) }),
        usesMessaging: dependencies['@svc/contracts'] !== undefined,
      };
    });
}

function readManifest(name: string): { dependencies: Record<string, string>; nx: { tags: string[] } } {
  return JSON.parse(readFileSync(join(appsFolder, name, 'package.json'), 'utf8')) as ReturnType<typeof readManifest>;
}

/** Reads the paths of the health checks from the controller that all services use. */
export function readHealthPaths(): { live: string; ready: string } {
  const getPath = (target: object): string => String(Reflect.getMetadata('path', target));
  const methods = HealthController.prototype as unknown as Record<'live' | 'ready', object>;
  const controller = getPath(HealthController);
  return { live: `/${controller}/${getPath(methods.live)}`, ready: `/${controller}/${getPath(methods.ready)}` };
}
