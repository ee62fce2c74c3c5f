import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { findIdentity, isAlive } from './process-identity.ts';

export interface Lock {
  release(): void;
}

interface Holder {
  readonly pid: number;
  readonly identity: string;
}

/**
 * Holds a file that says who is at work, or tells who holds it. A holder that is gone (kill -9) holds nothing. The
 * file appears with its content in one step (a link), so nobody reads half of it; a dead holder's file is taken away
 * by renaming, and put back if it turns out that somebody living had replaced it in between.
 */
export function takeLock(file: string): Lock | { heldBy: number } {
  mkdirSync(dirname(file), { recursive: true });
  const mine = JSON.stringify({ pid: process.pid, identity: findIdentity(process.pid) });
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, mine, { mode: 0o600 });
  try {
    while (!linkIfAbsent(draft, file)) {
      const holder = readHolder(file);
      if (holder !== undefined && isAlive(holder.pid, holder.identity)) return { heldBy: holder.pid };
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
    return; // Somebody else was faster.
  }
  const holder = readHolder(aside);
  if (holder !== undefined && isAlive(holder.pid, holder.identity)) linkIfAbsent(aside, file);
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

function readHolder(file: string): Holder | undefined {
  try {
    const content = JSON.parse(readText(file) ?? '') as Partial<Holder>;
    if (typeof content.pid !== 'number' || typeof content.identity !== 'string') return undefined;
    return { pid: content.pid, identity: content.identity };
  } catch {
    return undefined;
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // Gone, with the whole data folder perhaps.
  }
}
