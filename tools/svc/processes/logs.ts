import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { lastLines } from '../base/files.ts';
import { SvcError } from '../base/svc-error.ts';
import { pathsOf, SERVICES, type Settings } from '../settings/settings.ts';
import { formatLogLine, isLineOfService } from './log-lines.ts';

const INITIAL_LINES = 200;

/** Prints the end of a log, and with `follow` also new lines until interrupted. */
export async function showLogs(settings: Settings, service: string | undefined, follow: boolean): Promise<void> {
  const { servicesLog, postgresLog, rabbitMqLog, transformer } = pathsOf(settings);
  const servers: Readonly<Record<string, string>> = {
    postgres: postgresLog,
    rabbitmq: rabbitMqLog,
    'pos-transformer': transformer.log,
  };
  const processes = ['all-in-one', 'front', 'supervisor', 'simulated-acquirer'];
  const known = [...Object.keys(servers), ...processes, ...SERVICES];
  if (service !== undefined && !known.includes(service)) {
    throw new SvcError(`there is no service "${service}"`, { hint: `there are ${known.join(', ')}`, exitCode: 2 });
  }
  const server = servers[service ?? ''];
  const file = server ?? servicesLog;
  if (!existsSync(file) && !follow)
    throw new SvcError(`there is no log yet (${file})`, { hint: 'it is created by ./svc up' });
  const isSelected = (line: string) => service === undefined || server !== undefined || isLineOfService(line, service);
  const end = existsSync(file) ? statSync(file).size : 0;
  const lines = lastLines(file, INITIAL_LINES, isSelected);
  for (const line of lines) console.log(formatLogLine(line));
  if (lines.length === INITIAL_LINES) console.error(`(the last ${INITIAL_LINES} lines of ${file})`);
  if (follow) await followLog(file, end, (line) => isSelected(line) && console.log(formatLogLine(line)));
}

/** Calls `onLine` for each line after a byte position until the signal aborts. Also follows a rotated log. */
export async function followLog(
  file: string,
  startsAt: number,
  onLine: (line: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  const tail = spawn('tail', ['-c', `+${startsAt + 1}`, '-F', file], { stdio: ['ignore', 'pipe', 'ignore'] });
  signal?.addEventListener('abort', () => tail.kill());
  createInterface({ input: tail.stdout }).on('line', (line) => line !== '' && onLine(line));
  await once(tail, 'close');
}
