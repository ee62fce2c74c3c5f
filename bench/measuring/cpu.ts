/** Reads the CPU time and the memory of groups of processes from /proc, so it runs only on Linux. */
import { readdirSync, readFileSync } from 'node:fs';

/** Linux reports CPU time in hundredths of a second, on every kernel. */
const TICK_MS = 10;

/** Process ids by name of the group. */
export type ProcessGroups = Readonly<Record<string, readonly number[]>>;
/** Milliseconds of CPU by name of the group. */
export type CpuMs = Readonly<Record<string, number>>;

/** Milliseconds of CPU that the processes of each group and their descendants have used so far. */
export function readCpuMs(groups: ProcessGroups): CpuMs {
  const stats = readStats();
  return Object.fromEntries(
    Object.entries(groups).map(([group, pids]) => {
      const ticks = withDescendants(pids, stats).reduce((sum, pid) => sum + (stats.get(pid)?.ticks ?? 0), 0);
      return [group, ticks * TICK_MS];
    }),
  );
}

export function subtractCpu(after: CpuMs, before: CpuMs): CpuMs {
  return Object.fromEntries(Object.entries(after).map(([group, used]) => [group, used - (before[group] ?? 0)]));
}

/**
 * Memory of processes and their descendants, in megabytes (PSS: a page that n processes share counts as 1/n for each of
 * them).
 */
export function readMemoryMb(pids: readonly number[]): number {
  const kilobytes = withDescendants(pids, readStats()).reduce((sum, pid) => {
    const match = /^Pss:\s+(\d+) kB/m.exec(readText(`/proc/${pid}/smaps_rollup`));
    return sum + Number(match?.[1] ?? 0);
  }, 0);
  return kilobytes / 1024;
}

/** The processes and all their descendants. */
function withDescendants(pids: readonly number[], stats: ReadonlyMap<number, ProcessStat>): number[] {
  const found = new Set(pids);
  // A child may be listed before its parent, so repeat until no further process is found.
  for (let size = -1; size !== found.size;) {
    size = found.size;
    for (const [pid, { parent }] of stats) if (found.has(parent)) found.add(pid);
  }
  return [...found];
}

interface ProcessStat {
  readonly parent: number;
  /** CPU time in ticks: of the process itself, and of its children that have exited. */
  readonly ticks: number;
}

function readStats(): Map<number, ProcessStat> {
  const stats = new Map<number, ProcessStat>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const text = readText(`/proc/${entry}/stat`);
    if (text === '') continue;
    // The second field is the program's name in parentheses, which may contain blanks and parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // The user and system time of the process, then those of its children.
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

/** Number of bytes that the loopback interface has received since the machine started. */
export function readLoopbackBytes(): number {
  const line = readText('/proc/net/dev')
    .split('\n')
    .find((candidate) => candidate.trim().startsWith('lo:'));
  return Number(line?.split(':')[1]?.trim().split(/\s+/)[0] ?? NaN);
}
