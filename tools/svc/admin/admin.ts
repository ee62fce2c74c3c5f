/** `./svc admin`: on-boards and administers through the administration API, nothing else. */
import { type Administration, createAdministration } from '../base/administration.ts';
import { readJson } from '../base/files.ts';
import type { Secrets } from '../base/secrets.ts';
import { type Settings, pathsOf, urlOf } from '../base/settings.ts';
import { SvcError } from '../base/svc-error.ts';
import { findServices } from '../platform/services.ts';
import { accountingCommands } from './accounting-commands.ts';
import { type AdminCommand, Findings, type Input, readInput, wrongInput } from './command.ts';
import { messageCommands } from './message-commands.ts';
import { onBoardingCommands } from './on-boarding-commands.ts';
import { reconcileCommand } from './reconcile-command.ts';

/** Every subcommand, in the order of the help. */
export const ADMIN_COMMANDS: readonly AdminCommand[] = [
  ...onBoardingCommands,
  ...accountingCommands,
  reconcileCommand,
  ...messageCommands,
];

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
    console.log(format(input['json'] === true ? answer.answer.json : answer.answer.table, input));
    throw answer.failure;
  }
  console.log(format(answer, input));
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

/**
 * The platform that SVC_ADMIN_URL and SVC_ADMIN_KEY name, for example a deployed one; without them the one of this folder,
 * whose key is among its secrets.
 */
function findAdministration(settings: Settings, env: NodeJS.ProcessEnv): Administration {
  const { SVC_ADMIN_URL: url, SVC_ADMIN_KEY: key } = env;
  if (url !== undefined && url !== '') {
    if (key === undefined || key === '')
      throw new SvcError('SVC_ADMIN_URL is set: set SVC_ADMIN_KEY too', { hint: 'it is the key of that platform' });
    if (!URL.canParse(url)) throw new SvcError(`SVC_ADMIN_URL is no address: ${url}`);
    return createAdministration(url.replace(/\/$/, ''), key, 'it is the one that SVC_ADMIN_URL names');
  }
  const secrets = readJson(pathsOf(settings).secrets) as Partial<Secrets> | undefined;
  if (secrets?.adminKey === undefined)
    throw new SvcError('there is no platform here yet', { hint: './svc up makes one' });
  const running = findServices(settings);
  const hint = running === undefined ? 'nothing runs here: ./svc up starts it' : './svc status says what runs';
  return createAdministration(urlOf((running ?? settings).ports.admin), secrets.adminKey, hint);
}

export function adminHelp(): string {
  const width = Math.max(...ADMIN_COMMANDS.map(({ usage }) => usage.length));
  return [
    'usage: ./svc admin <command>',
    '',
    ...ADMIN_COMMANDS.map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}`),
    '',
    'An owner of keys is an organisationId, a merchantId, or merchantId/siteId; a site is merchantId/siteId. Keys and secrets',
    'are for tests unless --live says otherwise. --json prints the whole answer, --print <member> one member of it alone.',
    '',
    'It speaks to the platform of this folder; to another one with SVC_ADMIN_URL and SVC_ADMIN_KEY.',
  ].join('\n');
}

/** As JSON, one member alone, or for a person. */
function format(answer: unknown, { json, print }: Input): string {
  if (typeof answer === 'string') return answer.trimEnd();
  if (json === true) return JSON.stringify(answer ?? null, null, 2);
  if (typeof print !== 'string') return printable(answer);
  const value = (answer as Record<string, unknown> | undefined)?.[print];
  // What was made is there, and a secret of it is shown this once.
  if (value === undefined)
    throw new SvcError(`it is done, but the answer has no "${print}"; all of it: ${JSON.stringify(answer ?? null)}`);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** For a person: a table, a list of members, or that it is done. */
export function printable(answer: unknown): string {
  if (typeof answer !== 'object' || answer === null) return 'done';
  if (!Array.isArray(answer)) return inColumns(Object.entries(answer).map(([name, value]) => [name, cell(value)]));
  const rows = answer as Record<string, unknown>[];
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return rows.length === 0 ? 'none' : inColumns([names, ...rows.map((row) => names.map((name) => cell(row[name])))]);
}

function inColumns(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  const padded = lines.map((line) => line.map((text, column) => text.padEnd(widths[column] ?? 0)));
  return padded.map((line) => line.join('  ').trimEnd()).join('\n');
}

/** On one line, whatever it is: a name that a merchant chose must not move the cursor. */
function cell(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}
