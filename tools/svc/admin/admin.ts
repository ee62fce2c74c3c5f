/** `./svc admin`: calls the administration API only, never a database or a file. */
import { type Administration, createAdministration, readOperatorKey } from '../administration-api/administration.ts';
import { readJson } from '../base/files.ts';
import { SvcError } from '../base/svc-error.ts';
import { findServices } from '../platform/services.ts';
import type { Secrets } from '../settings/secrets.ts';
import { pathsOf, type Settings, urlOf } from '../settings/settings.ts';
import { accountingCommands } from './accounting-commands.ts';
import { type AdminCommand, type Input, readInput, usageError } from './command.ts';
import { fraudCommands } from './fraud-commands.ts';
import { lookCommands } from './look-commands.ts';
import { messageCommands } from './message-commands.ts';
import { onBoardingCommands } from './on-boarding-commands.ts';
import { operatorCommands } from './operator-commands.ts';
import { peopleCommands } from './people-commands.ts';
import { reconcileCommand } from './reconcile-command.ts';
import { restoreCommands } from './restore/restore-commands.ts';
import { timelineCommand } from './timeline/timeline-command.ts';

/** The commands, in the order of the help. */
export const ADMIN_COMMANDS: readonly AdminCommand[] = [
  ...onBoardingCommands,
  ...lookCommands,
  ...peopleCommands,
  ...operatorCommands,
  ...accountingCommands,
  ...fraudCommands,
  reconcileCommand,
  timelineCommand,
  ...restoreCommands,
  ...messageCommands,
];

/** Members of a response that contain a secret. The API returns each secret only once. */
const SECRETS = ['operatorKey', 'apiKey', 'apiToken', 'webhookSecret', 'webhookSecrets'];

export async function admin(settings: Settings, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  if (args.length === 0 || ['help', '-h', '--help'].includes(args[0] ?? '')) {
    console.log(adminHelp());
    return;
  }
  const command = findCommand(args);
  const input = readInput(command, args.slice(command.name.split(' ').length));
  const api = findAdministration(settings, env);
  const output = await command.run(api, input).catch(async (error: unknown) => {
    if (error instanceof SvcError && error.output)
      console.log(await format(error.output[input['json'] ? 'json' : 'table'], input, command.name));
    throw error;
  });
  console.log(await format(output, input, command.name));
  const secret = SECRETS.find((name) => typeof output === 'object' && output !== null && name in output);
  if (secret !== undefined) console.error(`The ${secret} ${secret.endsWith('s') ? 'are' : 'is'} shown only once.`);
  // The command has succeeded, so a failure of this request is not an error.
  const remark = await command.remark?.(api, input).catch(() => undefined);
  if (remark !== undefined) console.error(remark);
}

export function findCommand([first = '', second = '']: readonly string[]): AdminCommand {
  const found = ADMIN_COMMANDS.find(({ name }) => name === `${first} ${second}` || name === first);
  if (found !== undefined) return found;
  const siblings = ADMIN_COMMANDS.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name);
  if (siblings.length > 0) throw usageError(`there is "${siblings.join('", "')}"`);
  throw usageError(`there is no command "admin ${first}"`);
}

/**
 * A client of the platform at SVC_ADMIN_URL. Without this variable, a client of the platform of the data folder. The key is
 * that of a person, if SVC_OPERATOR_KEY is set.
 */
function findAdministration(settings: Settings, env: NodeJS.ProcessEnv): Administration {
  const { SVC_ADMIN_URL: url } = env;
  const operatorKey = readOperatorKey(env);
  if (url !== undefined && url !== '') {
    const key = operatorKey ?? env['SVC_ADMIN_KEY'];
    if (key === undefined || key === '')
      throw new SvcError('SVC_ADMIN_URL is set: set SVC_OPERATOR_KEY too', {
        hint: 'it is your key for that platform; before its first operator set SVC_ADMIN_KEY',
      });
    if (!URL.canParse(url)) throw new SvcError(`SVC_ADMIN_URL is not a URL: ${url}`);
    return createAdministration(url.replace(/\/$/, ''), key, 'check SVC_ADMIN_URL');
  }
  const secrets = readJson(pathsOf(settings).secrets) as Partial<Secrets> | undefined;
  if (secrets?.adminKey === undefined)
    throw new SvcError('the platform has not been started yet', { hint: 'start it with ./svc up' });
  const running = findServices(settings);
  const hint = running === undefined ? 'start the platform with ./svc up' : 'check ./svc status';
  return createAdministration(urlOf((running ?? settings).ports.admin), operatorKey ?? secrets.adminKey, hint);
}

export function adminHelp(): string {
  return [
    'usage: ./svc admin <command>',
    '',
    ...ADMIN_COMMANDS.flatMap(({ usage, summary }) => [...wrap(usage, 2), ...wrap(summary, 6)]),
    '',
    'An <owner> of keys is an organisationId, a merchantId, or merchantId/siteId; a <site> is merchantId/siteId. Keys and',
    'secrets are of mode "test" unless --live is given. Tables show the most important members, amounts in Rand and local',
    'times. --json prints the whole response with cents and UTC, --print <member> only one member.',
    '',
    'The commands use the platform of this data folder, or the one at SVC_ADMIN_URL. They send your own',
    'key SVC_OPERATOR_KEY. Before the first operator has one, they send the shared key: of this platform, or SVC_ADMIN_KEY.',
  ].join('\n');
}

const HELP_WIDTH = 120;

/** Breaks a text at its spaces. Every line after the first is indented by four spaces more. */
function wrap(text: string, indent: number): string[] {
  const lines: string[] = [];
  let line = ' '.repeat(indent - 1);
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > HELP_WIDTH) {
      lines.push(line);
      line = ' '.repeat(indent + 3);
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}

async function format(output: unknown, { json, print }: Input, name: string): Promise<string> {
  if (typeof output === 'string') return output.trimEnd();
  if (json === true) return JSON.stringify(output ?? null, null, 2);
  if (typeof print !== 'string') {
    // Imported here, because it needs a package, and this file is loaded before packages are installed.
    const { formatForPerson } = await import('./output/format-output.ts');
    return formatForPerson(output, name);
  }
  const value = (output as Record<string, unknown> | undefined)?.[print];
  // Print the whole response, because the API may have created a secret, which it does not return again.
  if (value === undefined)
    throw new SvcError(`the command succeeded, but the response has no "${print}": ${JSON.stringify(output ?? null)}`);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
