import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type KnownProcess, isRunning } from './background-process.ts';
import { findIdentity } from './process-identity.ts';

export interface Lock {
  release(): void;
}

/**
 * Takes a file that names the process at work, or returns the process that has it. A process that has ended (kill -9) locks
 * nothing. The file appears with its content in one step (a link), so a reader never sees half of it. A dead process's file is
 * renamed before it is removed, and put back if another process had replaced it in between. No package does this: the
 * first lock is taken before packages are installed, and a lock that is renewed by a timer is lost while a child process
 * is waited for synchronously.
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
      removeDead(file);
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

function removeDead(file: string): void {
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

function readHolder(file: string): Partial<KnownProcess> | undefined {
  try {
    return JSON.parse(readText(file)) as Partial<KnownProcess>;
  } catch {
    return undefined;
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // Gone, with the whole data folder perhaps.
  }
}
