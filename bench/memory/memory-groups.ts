/**
 * Memory cgroups (version 1) below the group of this program: one for each app, with the memory limit of its container. The
 * kernel kills a process that exceeds the limit, as in Kubernetes.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MOUNT = '/sys/fs/cgroup/memory';
const MI = 2 ** 20;

export interface MemoryGroup {
  readonly folder: string;
  /** Number of processes that the kernel killed because of the limit. */
  countKills(): number;
  /** Number of allocations that reached the limit, after which the kernel reclaimed memory. */
  countReclaims(): number;
  /** Removes the group. All its processes must have ended. */
  remove(): void;
}

/** Returns undefined if this machine does not allow it. */
export function createMemoryGroup(name: string, limitMi: number): MemoryGroup | undefined {
  const ownPath = /^\d+:memory:(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
  if (ownPath === undefined || !existsSync(join(MOUNT, ownPath))) return undefined;
  const folder = join(MOUNT, ownPath, `svc-bench-${process.pid}-${name}`);
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, 'memory.limit_in_bytes'), String(limitMi * MI));
  } catch {
    return undefined;
  }
  const readCount = (file: string, pattern: RegExp): number =>
    Number(pattern.exec(readFileSync(join(folder, file), 'utf8'))?.[1] ?? 0);
  return {
    folder,
    countKills: () => readCount('memory.oom_control', /^oom_kill (\d+)$/m),
    countReclaims: () => readCount('memory.failcnt', /^(\d+)$/m),
    remove: () => rmdirSync(folder),
  };
}
