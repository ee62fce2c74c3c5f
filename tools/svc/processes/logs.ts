import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { lastLines } from '../base/files.ts';
import { formatLogLine, isFrom } from './log-lines.ts';
import { SERVICES, pathsOf, type Settings } from '../base/settings.ts';
import { SvcError } from '../base/svc-error.ts';

const SHOWN_AT_FIRST = 200;

/** Shows the end of the services' log, or of a server's, and with `follow` what is added, until interrupted. */
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
  if (!existsSync(file) && !follow) throw new SvcError(`there is no log yet (${file})`, { hint: './svc up makes it' });
  const isWanted = (line: string) => service === undefined || server !== undefined || isFrom(line, service);
  const end = existsSync(file) ? statSync(file).size : 0;
  const shown = lastLines(file, SHOWN_AT_FIRST, isWanted);
  for (const line of shown) console.log(formatLogLine(line));
  if (shown.length === SHOWN_AT_FIRST) console.error(`(the last ${SHOWN_AT_FIRST} lines; all of it is in ${file})`);
  if (follow) await followLog(file, end, (line) => isWanted(line) && console.log(formatLogLine(line)));
}

/** Hands over each line that is added to a file after a position, until the signal comes; also when the file is begun anew. */
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
