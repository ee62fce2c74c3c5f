import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { lastLines } from '../base/files.ts';
import { formatLogLine, isFrom } from './log-lines.ts';
import { SERVICES, pathsOf } from '../base/settings.ts';
import type { Settings } from '../base/settings.ts';
import { SvcError } from '../base/svc-error.ts';

const SHOWN_AT_FIRST = 200;
const FOLLOW_EVERY_MILLISECONDS = 200;

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

/** Hands over each line that is added to a file after a position, until the signal comes. */
export async function followLog(
  file: string,
  startsAt: number,
  onLine: (line: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  let position = startsAt;
  let rest = Buffer.alloc(0);
  while (signal?.aborted !== true) {
    const size = existsSync(file) ? statSync(file).size : 0;
    if (size < position) [position, rest] = [0, Buffer.alloc(0)]; // put aside at a start, and begun anew
    if (size > position) {
      const added = readRange(file, position, size);
      position += added.length;
      const bytes = Buffer.concat([rest, added]);
      const lastBreak = bytes.lastIndexOf(0x0a);
      rest = bytes.subarray(lastBreak + 1);
      for (const line of bytes
        .subarray(0, lastBreak + 1)
        .toString('utf8')
        .split('\n'))
        if (line !== '') onLine(line);
    }
    await pause(FOLLOW_EVERY_MILLISECONDS, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  }
}

function readRange(file: string, from: number, to: number): Buffer {
  const bytes = Buffer.alloc(Math.min(to - from, 1024 * 1024));
  const handle = openSync(file, 'r');
  try {
    return bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, from));
  } finally {
    closeSync(handle);
  }
}
