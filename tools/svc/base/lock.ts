import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isRunning, type ProcessRecord } from './background-process.ts';
import { readText } from './files.ts';
import { findIdentity } from './process-identity.ts';

export interface Lock {
  release(): void;
}

/**
 * Acquires a lock file that records this process, or returns the process that holds it. A lock is free when its process
 * has ended (kill -9). A hard link creates the file together with its content, so that a reader never sees a partial
 * file. This function renames the file of an ended process before it removes it. It restores the file if another
 * process has replaced it in between.
 *
 * No package is suitable. ./svc needs the first lock before packages are installed. A lock that a timer renews is lost
 * while the program waits synchronously for a child process.
 */
export function acquireLock(file: string): Lock | { heldBy: number } {
  mkdirSync(dirname(file), { recursive: true });
  const ownRecord = JSON.stringify({ pid: process.pid, identity: findIdentity(process.pid) });
  const temporaryFile = `${file}.${process.pid}.new`;
  writeFileSync(temporaryFile, ownRecord, { mode: 0o600 });
  try {
    while (!linkIfAbsent(temporaryFile, file)) {
      const holder = readHolder(file);
      if (isRunning(holder)) return { heldBy: holder.pid };
      removeStale(file);
    }
  } finally {
    rmSync(temporaryFile, { force: true });
  }
  return {
    release() {
      if (readText(file) === ownRecord) rmSync(file, { force: true });
    },
  };
}

function removeStale(file: string): void {
  const renamedFile = `${file}.${process.pid}.dead`;
  try {
    renameSync(file, renamedFile);
  } catch {
    return; // Another process has already removed or renamed it.
  }
  if (isRunning(readHolder(renamedFile))) linkIfAbsent(renamedFile, file);
  rmSync(renamedFile, { force: true });
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
    return JSON.parse(readText(file) ?? '') as Partial<ProcessRecord>;
  } catch {
    return undefined;
  }
}
