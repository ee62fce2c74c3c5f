import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isRunning, type ProcessRecord } from './background-process.ts';
import { findIdentity } from './process-identity.ts';

export interface Lock {
  release(): void;
}

/**
 * Acquires a lock file that records this process, or returns the process that holds it. The lock of an ended process (kill -9)
 * does not count. A hard link creates the file together with its content, so that a reader never sees a partial file. The file
 * of an ended process is renamed before it is removed, and restored if another process replaced it in between. No package
 * fits: ./svc needs the first lock before packages are installed, and a lock that a timer renews is lost during a synchronous
 * wait for a child process.
 */
export function acquireLock(file: string): Lock | { heldBy: number } {
  mkdirSync(dirname(file), { recursive: true });
  const mine = JSON.stringify({ pid: process.pid, identity: findIdentity(process.pid) });
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, mine, { mode: 0o600 });
  try {
    while (!linkIfAbsent(draft, file)) {
      const holder = readHolder(file);
      if (isRunning(holder)) return { heldBy: holder.pid };
      removeStale(file);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    release() {
      if (readText(file) === mine) rmSync(file, { force: true });
    },
  };
}

function removeStale(file: string): void {
  const aside = `${file}.${process.pid}.dead`;
  try {
    renameSync(file, aside);
  } catch {
    return; // Another process was faster.
  }
  if (isRunning(readHolder(aside))) linkIfAbsent(aside, file);
  rmSync(aside, { force: true });
}

function linkIfAbsent(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readHolder(file: string): Partial<ProcessRecord> | undefined {
  try {
    return JSON.parse(readText(file)) as Partial<ProcessRecord>;
  } catch {
    return undefined;
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // Removed, perhaps with the whole data folder.
  }
}
