/** `./svc admin <area> <command>`: what an administrator does by hand, over the administration API like everybody else. */
import { readJson } from '../files.ts';
import { pathsOf } from '../settings.ts';
import type { Settings } from '../settings.ts';
import { SvcError } from '../svc-error.ts';
import type { AdminArea } from './admin-area.ts';
import { createAdministrationCall } from './administration-call.ts';
import { webhooks } from './webhooks.ts';

/** The only list of areas. */
const AREAS: Readonly<Record<string, AdminArea>> = { webhooks };

export async function admin(settings: Settings, args: readonly string[], env = process.env): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === 'help' || name === '--help') {
    process.stdout.write(adminHelp());
    return 0;
  }
  const area = Object.hasOwn(AREAS, name) ? AREAS[name] : undefined;
  if (area === undefined)
    throw new SvcError(`"admin" does not know "${name}"`, { hint: './svc admin lists what it knows', exitCode: 2 });
  const lines = await area.run(rest, createAdministrationCall(...whereTo(settings, env)));
  for (const line of lines) process.stdout.write(`${line}\n`);
  return 0;
}

export function adminHelp(): string {
  const commands = Object.values(AREAS).flatMap(({ help }) => help);
  const width = Math.max(...commands.map(([command]) => command.length));
  const lines = commands.map(([command, meaning]) => `  ${command.padEnd(width)}  ${meaning}`);
  return [
    'usage: ./svc admin <command>',
    '',
    ...lines,
    '',
    'Of the platform of this folder; of another one with SVC_ADMIN_URL and SVC_ADMIN_KEY.',
    '',
  ].join('\n');
}

/** The platform that `./svc up` started here, unless another one is named. */
function whereTo(settings: Settings, env: NodeJS.ProcessEnv): [url: string, key: string] {
  const { SVC_ADMIN_URL: url, SVC_ADMIN_KEY: key } = env;
  if (url !== undefined && url !== '' && key !== undefined && key !== '') return [url.replace(/\/$/, ''), key];
  const demo = readJson(pathsOf(settings).demo) as { adminUrl?: unknown; adminKey?: unknown } | undefined;
  if (typeof demo?.adminUrl !== 'string' || typeof demo.adminKey !== 'string') {
    throw new SvcError('nothing was ever started here', { hint: './svc up -d starts the platform' });
  }
  return [demo.adminUrl, demo.adminKey];
}
