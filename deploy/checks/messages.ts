/** Reads from the code which messages each service sends and handles, to compare the table of permissions with. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceMessages } from '@svc/contracts';
import * as contracts from '@svc/contracts';
import { CodeDecoderModule } from '../../apps/code-decoder/src/app.module.js';
import { HostedGatewayModule } from '../../apps/hosted-gateway/src/app.module.js';
import { IdentityModule } from '../../apps/identity/src/app.module.js';
import { MerchantRetrievalModule } from '../../apps/merchant-retrieval/src/app.module.js';
import { PaymentHistoryModule } from '../../apps/payment-history/src/app.module.js';
import { PaymentProcessorModule } from '../../apps/payment-processor/src/app.module.js';
import { WebhookDispatcherModule } from '../../apps/webhook-dispatcher/src/app.module.js';
import { appsInCode } from './code.ts';

const MODULES: Readonly<Record<string, object>> = {
  'code-decoder': CodeDecoderModule,
  'hosted-gateway': HostedGatewayModule,
  identity: IdentityModule,
  'merchant-retrieval': MerchantRetrievalModule,
  'payment-history': PaymentHistoryModule,
  'payment-processor': PaymentProcessorModule,
  'webhook-dispatcher': WebhookDispatcherModule,
};

/** Names of event types and commands in the contracts, by the constant that code uses. */
const NAMES = new Map(
  Object.entries(contracts as Readonly<Record<string, unknown>>).flatMap(([constant, value]) =>
    /V\d+$/.test(constant) ? [[constant, (value as { name: string }).name] as const] : [],
  ),
);

/** Deployed services with messages. */
export function messagesInCode(): Map<string, ServiceMessages> {
  const found = appsInCode().map(({ name }) => [name, messagesOf(name)] as const);
  return new Map(found.filter(([, messages]) => Object.values(messages).flat().length > 0));
}

function messagesOf(app: string): ServiceMessages {
  const source = sourceOf(app);
  const module = MODULES[app];
  const handled = module === undefined ? [] : handlersOf(module);
  if (module === undefined && /@(Event|Message)Pattern\(/.test(source))
    throw new Error(`${app} handles messages: add its module to deploy/checks/messages.ts`);
  const consumes = handled.filter(({ isEvent }) => isEvent).map(({ name }) => name);
  const answers = handled.filter(({ isEvent }) => !isEvent).map(({ name }) => name);
  const requests = namesIn(source.matchAll(/\brequest\(\s*(\w+V\d+)\b/g));
  const named = namesIn(source.replace(/@(Event|Message)Pattern\([^)]*\)/g, '').matchAll(/\b(\w+V\d+)\b/g));
  // A service that mentions a type otherwise does so in its log, or requests a replay of a type that it consumes.
  const publishes = named.filter((name) => ![...consumes, ...answers, ...requests].includes(name));
  return { publishes, consumes: sorted(consumes), answers: sorted(answers), requests };
}

interface Handler {
  readonly name: string;
  readonly isEvent: boolean;
}

/** Like Nest: in the controllers of the module and of its imports. */
function handlersOf(module: object): Handler[] {
  const listed = (key: string): object[] => (Reflect.getMetadata(key, module) as object[] | undefined) ?? [];
  const controllers = listed('controllers') as { prototype: Record<string, object> }[];
  const own = controllers.flatMap(({ prototype }) =>
    Object.getOwnPropertyNames(prototype).flatMap((method) => {
      const handler = Object.getOwnPropertyDescriptor(prototype, method)?.value as object | undefined;
      const patterns = (handler && (Reflect.getMetadata('microservices:pattern', handler) as string[])) ?? [];
      const isEvent = handler && Reflect.getMetadata('microservices:handler_type', handler) === EVENT_HANDLER;
      return patterns.map((name) => ({ name, isEvent: isEvent === true }));
    }),
  );
  return [...own, ...listed('imports').flatMap(handlersOf)];
}

/** PatternHandler.EVENT of Nest. */
const EVENT_HANDLER = 2;

function sourceOf(app: string): string {
  const folder = join(import.meta.dirname, '../../apps', app, 'src');
  if (!existsSync(folder)) return '';
  const files = globSync('**/*.ts', { cwd: folder }).filter((file) => !/spec\.ts$|migrations/.test(file));
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8'));
  return texts
    .join('\n')
    .replace(/import [^;]*;/g, '')
    .replace(/\/\*[^]*?\*\/|\/\/.*/g, '');
}

function namesIn(constants: Iterable<RegExpExecArray>): string[] {
  return sorted([...constants].flatMap(([, constant]) => NAMES.get(constant ?? '') ?? []));
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].toSorted();
}

/** All event types and commands. */
export function messagesInContracts(): string[] {
  return sorted([...NAMES.values()]);
}
