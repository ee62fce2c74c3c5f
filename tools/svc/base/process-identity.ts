/**
 * Whether a process id still belongs to the same process. A process file outlives its process (kill -9, power cut), and its number is given to
 * another process sooner or later: stopping by the number alone would stop another program. So a file keeps the number and
 * the moment that process started, and both must agree. Linux is asked through /proc: slim images have no ps.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

const isLinux = process.platform === 'linux';

/** A text that no other process of this machine will ever have with the same id; undefined when nothing runs there. */
export function findIdentity(pid: number): string | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  if (!isLinux) return ps('state=', pid)?.startsWith('Z') ? undefined : ps('lstart=', pid);
  const stat = readText(`/proc/${pid}/stat`);
  // The second field is the program's name in parentheses and may itself contain blanks and parentheses.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? ['X'];
  if (['Z', 'X'].includes(fields[0] ?? '')) return undefined;
  return `${readText('/proc/sys/kernel/random/boot_id')?.trim() ?? ''}/${fields[19] ?? ''}`;
}

/** Whether the process of that id is still the one whose identity was kept. */
export function isAlive(pid: number, identity: string): boolean {
  return findIdentity(pid) === identity;
}

/** The command line, words joined by blanks; empty when nothing runs there or it cannot be read. */
export function readCommandLine(pid: number): string {
  if (findIdentity(pid) === undefined) return '';
  return (isLinux ? readText(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim() : ps('command=', pid)) ?? '';
}

/** Memory of a process and of all below it, in megabytes; shared pages are counted once where the system tells. */
export function readMemoryMegabytes(pid: number): number | undefined {
  const kilobytes = isLinux
    ? familyOf(pid).reduce((sum, member) => sum + memoryKilobytes(member), 0)
    : Number(ps('rss=', pid) ?? 0);
  return kilobytes > 0 ? Math.round(kilobytes / 1024) : undefined;
}

function memoryKilobytes(pid: number): number {
  const rollup = /^Pss:\s+(\d+)/m.exec(readText(`/proc/${pid}/smaps_rollup`) ?? '');
  const resident = rollup ?? /^VmRSS:\s+(\d+)/m.exec(readText(`/proc/${pid}/status`) ?? '');
  return Number(resident?.[1] ?? 0);
}

function familyOf(pid: number): number[] {
  const children = threadsOf(pid).flatMap((thread) => readText(`${thread}/children`)?.match(/\d+/g) ?? []);
  return [pid, ...children.flatMap((child) => familyOf(Number(child)))];
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`);
  } catch {
    return []; // It has ended in the meantime.
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function ps(column: string, pid: number): string | undefined {
  try {
    const args = ['-o', column, '-p', String(pid)];
    return execFileSync('ps', args, { encoding: 'utf8', stdio: 'pipe' }).trim() || undefined;
  } catch {
    return undefined;
  }
}
