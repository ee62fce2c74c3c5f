/** `./svc admin`: on-boards and administers through the administration API, nothing else. */
import { parseArgs } from 'node:util';
import type { Settings } from '../base/settings.ts';
import { SvcError } from '../base/svc-error.ts';
import { findAdministration } from './administration.ts';
import { type AdminCommand, Findings, type Input, wrongInput } from './command.ts';
import { ADMIN_COMMANDS } from './commands.ts';
import { printable } from './print.ts';

/** Members of an answer that are shown once and kept nowhere. */
const SECRETS = ['apiKey', 'apiToken', 'webhookSecret', 'webhookSecrets'];

/** Runs one subcommand, or shows what there is. */
export async function admin(settings: Settings, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  if (args.length === 0 || ['help', '-h', '--help'].includes(args[0] ?? '')) {
    console.log(adminHelp());
    return;
  }
  const command = findCommand(args);
  const input = readInput(command, args.slice(command.name.split(' ').length));
  const answer = await command.run(findAdministration(settings, env), input);
  if (answer instanceof Findings) {
    console.log(asAsked(input.options['json'] === true ? answer.answer.json : answer.answer.table, input));
    throw answer.failure;
  }
  console.log(asAsked(answer, input));
  const shownOnce = SECRETS.find((name) => typeof answer === 'object' && answer !== null && name in answer);
  if (shownOnce !== undefined)
    console.error(`The ${shownOnce} ${shownOnce.endsWith('s') ? 'are' : 'is'} shown this once.`);
}

export function findCommand([first = '', second = '']: readonly string[]): AdminCommand {
  const found = ADMIN_COMMANDS.find(({ name }) => name === `${first} ${second}` || name === first);
  if (found !== undefined) return found;
  const siblings = ADMIN_COMMANDS.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name);
  if (siblings.length > 0) throw wrongInput(`there is "${siblings.join('", "')}"`);
  throw wrongInput(`there is no command "admin ${first}"`);
}

/** Parameters and options of a command, or what is wrong with them. */
export function readInput(command: AdminCommand, args: readonly string[]): Input {
  const options = { print: 'text', json: 'flag', ...command.options } as const;
  const { positionals, values } = parse(args, options);
  const { length } = command.parameters;
  const takesMore = command.parameters.at(-1)?.endsWith('…') === true;
  if (positionals.length < length || (positionals.length > length && !takesMore))
    throw wrongInput(`usage: ./svc admin ${usageOf(command)}`);
  return { parameters: positionals, options: values };
}

function parse(args: readonly string[], options: Readonly<Record<string, 'text' | 'flag'>>) {
  const known = Object.entries(options).map(([name, kind]) => [name, { type: kind === 'flag' ? 'boolean' : 'string' }]);
  try {
    return parseArgs({
      args: [...args],
      options: Object.fromEntries(known) as Record<string, { type: 'boolean' | 'string' }>,
      allowPositionals: true,
    });
  } catch (error) {
    throw wrongInput((error as Error).message.split('. ')[0] ?? 'this cannot be understood');
  }
}

/** As JSON, one member alone, or for a person. */
function asAsked(answer: unknown, { options }: Input): string {
  if (typeof answer === 'string') return answer.trimEnd();
  const { json, print } = options;
  if (json === true) return JSON.stringify(answer ?? null, null, 2);
  if (typeof print !== 'string') return printable(answer);
  const value = (answer as Record<string, unknown> | undefined)?.[print];
  // What was made is there, and a secret of it is shown this once.
  if (value === undefined)
    throw new SvcError(`it is done, but the answer has no "${print}"; all of it: ${JSON.stringify(answer ?? null)}`);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function usageOf({ name, parameters, options = {} }: AdminCommand): string {
  const shown = Object.entries(options).map(([option, kind]) => `[--${option}${kind === 'text' ? ' …' : ''}]`);
  return [name, ...parameters.map((text) => `<${text}>`), ...shown].join(' ');
}

export function adminHelp(): string {
  const lines = ADMIN_COMMANDS.map((command) => [usageOf(command), command.summary] as const);
  const width = Math.max(...lines.map(([usage]) => usage.length));
  return [
    'usage: ./svc admin <command>',
    '',
    ...lines.map(([usage, summary]) => `  ${usage.padEnd(width)}  ${summary}`),
    '',
    'An owner of keys is an organisationId, a merchantId, or merchantId/siteId. Keys and secrets are for tests unless --live',
    'says otherwise. --json prints the whole answer, --print <member> one member of it alone.',
    '',
    'It speaks to the platform of this folder; to another one with SVC_ADMIN_URL and SVC_ADMIN_KEY.',
  ].join('\n');
}
