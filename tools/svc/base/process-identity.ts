/**
 * Who a process id belongs to. A process file outlives its process (kill -9, power cut), and its number is given to
 * somebody else sooner or later: stopping by the number alone would stop a stranger. So a file keeps the number and
 * the moment that process started, and both must agree.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

const isLinux = process.platform === 'linux';

/** A text that no other process of this machine will ever have with the same id; undefined when nothing runs there. */
export function findIdentity(pid: number): string | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  if (!isLinux) return ps('lstart=', pid);
  const stat = readStat(pid);
  if (stat === undefined || stat.state === 'Z' || stat.state === 'X') return undefined;
  return `${readText('/proc/sys/kernel/random/boot_id')?.trim() ?? ''}/${stat.startTicks}`;
}

/** Whether the process of that id is still the one whose identity was kept. */
export function isAlive(pid: number, identity: string): boolean {
  return findIdentity(pid) === identity;
}

/** The command line, words in order; empty when nothing runs there or it cannot be read. */
export function readCommandLine(pid: number): string[] {
  if (findIdentity(pid) === undefined) return [];
  if (isLinux) return (readText(`/proc/${pid}/cmdline`) ?? '').split('\0').filter((word) => word !== '');
  return (ps('command=', pid) ?? '').split(' ').filter((word) => word !== '');
}

/** Memory of a process and of all below it, in megabytes; shared pages are counted once where the system tells. */
export function readMemoryMegabytes(pid: number): number | undefined {
  if (!isLinux) {
    const kilobytes = Number(ps('rss=', pid));
    return Number.isFinite(kilobytes) && kilobytes > 0 ? Math.round(kilobytes / 1024) : undefined;
  }
  const kilobytes = familyOf(pid).reduce((sum, member) => sum + memoryKilobytes(member), 0);
  return kilobytes > 0 ? Math.round(kilobytes / 1024) : undefined;
}

function memoryKilobytes(pid: number): number {
  const rollup = /^Pss:\s+(\d+)/m.exec(readText(`/proc/${pid}/smaps_rollup`) ?? '');
  const resident = rollup ?? /^VmRSS:\s+(\d+)/m.exec(readText(`/proc/${pid}/status`) ?? '');
  return Number(resident?.[1] ?? 0);
}

function familyOf(pid: number): number[] {
  const childrenOf = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = readStat(Number(entry));
    if (stat !== undefined) childrenOf.set(stat.parent, [...(childrenOf.get(stat.parent) ?? []), Number(entry)]);
  }
  const family = [pid];
  for (const member of family) family.push(...(childrenOf.get(member) ?? []));
  return family;
}

function readStat(pid: number): { state: string; parent: number; startTicks: string } | undefined {
  const text = readText(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The second field is the program's name in parentheses and may itself contain blanks and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', parent: Number(fields[1]), startTicks: fields[19] ?? '' };
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function ps(column: string, pid: number): string | undefined {
  const read = (format: string) =>
    execFileSync('ps', ['-o', format, '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    return read('state=').startsWith('Z') ? undefined : read(column) || undefined;
  } catch {
    return undefined;
  }
}
