/** Processor time as the operating system counts it, by group of processes. Linux only: reads /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** Linux reports hundredths of a second, whatever the kernel's own tick is. */
const TICK_MS = 10;

export type Groups = Readonly<Record<string, readonly number[]>>;
export type CpuMs = Readonly<Record<string, number>>;

/** Milliseconds of CPU that the processes of each group and their descendants have used so far. */
export function cpuOf(groups: Groups): CpuMs {
  const stats = readStats();
  return Object.fromEntries(
    Object.entries(groups).map(([group, pids]) => {
      const ticks = familyOf(pids, stats).reduce((sum, pid) => sum + (stats.get(pid)?.ticks ?? 0), 0);
      return [group, ticks * TICK_MS];
    }),
  );
}

export function difference(after: CpuMs, before: CpuMs): CpuMs {
  return Object.fromEntries(Object.entries(after).map(([group, used]) => [group, used - (before[group] ?? 0)]));
}

/** Memory of processes and their descendants, in megabytes; a page that n of them share counts 1/n for each. */
export function memoryOf(pids: readonly number[]): number {
  const kilobytes = familyOf(pids, readStats()).reduce((sum, pid) => {
    const match = /^Pss:\s+(\d+) kB/m.exec(readText(`/proc/${pid}/smaps_rollup`));
    return sum + Number(match?.[1] ?? 0);
  }, 0);
  return kilobytes / 1024;
}

function familyOf(pids: readonly number[], stats: ReadonlyMap<number, Stat>): number[] {
  const family = new Set(pids);
  // A child may be listed before its parent: repeat until the family no longer grows.
  for (let size = -1; size !== family.size;) {
    size = family.size;
    for (const [pid, { parent }] of stats) if (family.has(parent)) family.add(pid);
  }
  return [...family];
}

interface Stat {
  readonly parent: number;
  /** Of the process and its children that have ended. */
  readonly ticks: number;
}

function readStats(): Map<number, Stat> {
  const stats = new Map<number, Stat>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const text = readText(`/proc/${entry}/stat`);
    if (text === '') continue;
    // The second field is the program's name in parentheses, which may contain blanks and parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field] ?? 0), 0);
    stats.set(Number(entry), { parent: Number(fields[1]), ticks });
  }
  return stats;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // the process has ended
  }
}

/** Bytes over the loopback interface since the machine started. */
export function loopbackBytes(): number {
  const line = readText('/proc/net/dev')
    .split('\n')
    .find((candidate) => candidate.trim().startsWith('lo:'));
  return Number(line?.split(':')[1]?.trim().split(/\s+/)[0] ?? NaN);
}
