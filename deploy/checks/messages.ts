/**
 * Reads from the code which messages each service sends and handles, to compare them with the table SERVICE_MESSAGES.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceMessages } from '@svc/contracts';
import * as contracts from '@svc/contracts';
import { CodeDecoderModule } from '../../apps/code-decoder/src/app.module.js';
import { ConsoleModule } from '../../apps/console/src/app.module.js';
import { HostedGatewayModule } from '../../apps/hosted-gateway/src/app.module.js';
import { IdentityModule } from '../../apps/identity/src/app.module.js';
import { MerchantRetrievalModule } from '../../apps/merchant-retrieval/src/app.module.js';
import { PaymentHistoryModule } from '../../apps/payment-history/src/app.module.js';
import { PaymentProcessorModule } from '../../apps/payment-processor/src/app.module.js';
import { WebhookDispatcherModule } from '../../apps/webhook-dispatcher/src/app.module.js';
import { readApps } from './code.ts';

const MODULES: Readonly<Record<string, object>> = {
  'code-decoder': CodeDecoderModule,
  console: ConsoleModule,
  'hosted-gateway': HostedGatewayModule,
  identity: IdentityModule,
  'merchant-retrieval': MerchantRetrievalModule,
  'payment-history': PaymentHistoryModule,
  'payment-processor': PaymentProcessorModule,
  'webhook-dispatcher': WebhookDispatcherModule,
};

/**
 * Names of all event types and commands in the contracts, by the name of their constant, such as `SessionCreatedV1`, or of a
 * table of commands, such as `ADMINISTRATION_COMMANDS`.
 */
const MESSAGE_NAMES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(contracts as Readonly<Record<string, unknown>>).flatMap(([constant, value]): [string, string[]][] => {
    if (/V\d+$/.test(constant)) return [[constant, [(value as { name: string }).name]]];
    if (!constant.endsWith('_COMMANDS')) return [];
    return [[constant, Object.values(value as Record<string, { name: string }>).map(({ name }) => name)]];
  }),
);

/** Reads the messages of every deployed service that has any. */
export function readMessages(): Map<string, ServiceMessages> {
  const commands = new Set(Object.values(MODULES).flatMap(readHandlers).flatMap(toCommand));
  const messagesByApp = readApps().map(({ name }) => [name, readMessagesOf(name, commands)] as const);
  return new Map(messagesByApp.filter(([, messages]) => Object.values(messages).flat().length > 0));
}

/** @param commands the names of all commands that a service handles */
function readMessagesOf(app: string, commands: ReadonlySet<string>): ServiceMessages {
  const source = readSource(app);
  const module = MODULES[app];
  const handlers = module === undefined ? [] : readHandlers(module);
  if (module === undefined && /@(Event|Message)Pattern\(/.test(source))
    throw new Error(`${app} handles messages: add its module to deploy/checks/messages.ts`);
  const consumes = handlers.filter(({ isEvent }) => isEvent).map(({ name }) => name);
  const answers = handlers.flatMap(toCommand);
  const mentionedNames = toMessageNames(
    source.replace(/@(Event|Message)Pattern\([^)]*\)/g, '').matchAll(/\b(\w+(?:V\d+|_COMMANDS))\b/g),
  );
  // If the code mentions a message outside the decorator of its handler, the code sends it. The console also sends a command
  // to itself. An event that is handled may be mentioned for another reason.
  const publishes = mentionedNames.filter((name) => !commands.has(name) && !consumes.includes(name));
  const requests = mentionedNames.filter((name) => commands.has(name));
  return { publishes, consumes: sortUnique(consumes), answers: sortUnique(answers), requests };
}

const toCommand = ({ name, isEvent }: Handler): string[] => (isEvent ? [] : [name]);

interface Handler {
  readonly name: string;
  readonly isEvent: boolean;
}

/** Reads the handlers from the controllers of the module and of its imports, as Nest does. */
function readHandlers(module: object): Handler[] {
  const readMetadata = (key: string): object[] => (Reflect.getMetadata(key, module) as object[] | undefined) ?? [];
  const controllers = readMetadata('controllers') as { prototype: Record<string, object> }[];
  const handlersOfControllers = controllers.flatMap(({ prototype }) =>
    Object.getOwnPropertyNames(prototype).flatMap((method) => {
      const handler = Object.getOwnPropertyDescriptor(prototype, method)?.value as object | undefined;
      const patterns = (handler && (Reflect.getMetadata('microservices:pattern', handler) as string[])) ?? [];
      const isEvent = handler && Reflect.getMetadata('microservices:handler_type', handler) === EVENT_HANDLER;
      return patterns.map((name) => ({ name, isEvent: isEvent === true }));
    }),
  );
  return [...handlersOfControllers, ...readMetadata('imports').flatMap(readHandlers)];
}

/** The value of `PatternHandler.EVENT` in Nest. */
const EVENT_HANDLER = 2;

function readSource(app: string): string {
  const folder = join(import.meta.dirname, '../../apps', app, 'src');
  if (!existsSync(folder)) return '';
  const files = globSync('**/*.ts', { cwd: folder }).filter((file) => !/spec\.ts$|migrations/.test(file));
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8'));
  return texts
    .join('\n')
    .replace(/import [^;]*;/g, '')
    .replace(/\/\*[^]*?\*\/|\/\/.*/g, '');
}

function toMessageNames(constants: Iterable<RegExpExecArray>): string[] {
  return sortUnique([...constants].flatMap(([, constant]) => MESSAGE_NAMES.get(constant ?? '') ?? []));
}

function sortUnique(names: readonly string[]): string[] {
  return [...new Set(names)].toSorted();
}

/** Lists the names of all event types and commands. */
export function listAllMessages(): string[] {
  return sortUnique([...MESSAGE_NAMES.values()].flat());
}
