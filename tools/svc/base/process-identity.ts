/**
 * A process file outlives its process (kill -9, power cut), and the system later assigns the process id to another
 * process. ./svc could therefore stop another program if it used the id alone. So the file also records the start time
 * of the process, and both must match. On Linux it is read from /proc, because slim images have no ps.
 */
import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { readText } from './files.ts';

const isLinux = process.platform === 'linux';

/** A text that no earlier or later process with this id has; undefined when no process with this id runs. */
export function findIdentity(pid: number): string | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  if (!isLinux) return ps('state=', pid)?.startsWith('Z') ? undefined : ps('lstart=', pid);
  const stat = readText(`/proc/${pid}/stat`);
  // The second field is the program's name in parentheses, which may itself contain spaces and parentheses.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? ['X'];
  // Z is the state of a zombie, X of a dead process.
  if (['Z', 'X'].includes(fields[0] ?? '')) return undefined;
  // `fields[19]` is the start time of the process.
  return `${readText('/proc/sys/kernel/random/boot_id')?.trim() ?? ''}/${fields[19] ?? ''}`;
}

export function isAlive(pid: number, identity: string): boolean {
  return findIdentity(pid) === identity;
}

/** The command line, joined by spaces; empty when the process does not run or its command line cannot be read. */
export function readCommandLine(pid: number): string {
  if (findIdentity(pid) === undefined) return '';
  return (isLinux ? readText(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim() : ps('command=', pid)) ?? '';
}

/** Memory of a process and all its descendants. On Linux, pages that they share count once. */
export function readMemoryMegabytes(pid: number): number | undefined {
  const kilobytes = isLinux
    ? processTree(pid).reduce((sum, id) => sum + memoryKilobytes(id), 0)
    : Number(ps('rss=', pid) ?? 0);
  return kilobytes > 0 ? Math.round(kilobytes / 1024) : undefined;
}

function memoryKilobytes(pid: number): number {
  const rollup = /^Pss:\s+(\d+)/m.exec(readText(`/proc/${pid}/smaps_rollup`) ?? '');
  const resident = rollup ?? /^VmRSS:\s+(\d+)/m.exec(readText(`/proc/${pid}/status`) ?? '');
  return Number(resident?.[1] ?? 0);
}

function processTree(pid: number): number[] {
  const children = globSync(`/proc/${pid}/task/*/children`).flatMap((file) => readText(file)?.match(/\d+/g) ?? []);
  return [pid, ...children.flatMap((child) => processTree(Number(child)))];
}

function ps(column: string, pid: number): string | undefined {
  try {
    const args = ['-o', column, '-p', String(pid)];
    return execFileSync('ps', args, { encoding: 'utf8', stdio: 'pipe' }).trim() || undefined;
  } catch {
    return undefined;
  }
}
