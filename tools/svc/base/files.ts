import { existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { SvcError } from './svc-error.ts';

/** Files that hold secrets: for their owner alone. */
export const OWNER_ONLY = 0o600;

/** Writes a file so that a reader, or a power cut, sees the old content or the new one, never half of it. */
export function writeAtomically(file: string, content: string, mode: number): void {
  const draft = `${file}.${process.pid}.new`;
  mkdirSync(dirname(file), { recursive: true });
  try {
    writeFileSync(draft, content, { mode, flush: true });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true }); // A full disk would keep it, secrets and all.
    throw error;
  }
}

/** The parsed content of a JSON file of ours; undefined when there is none. */
export function readJson(file: string): unknown {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new SvcError(`${file} cannot be read: ${(error as Error).message}`, {
      hint: 'restore it, or remove it to have it made anew',
      cause: error,
    });
  }
}

/** The end of a text file: the last `count` lines that are wanted, of its last 8 MB. */
export function lastLines(file: string, count: number, isWanted: (line: string) => boolean = () => true): string[] {
  if (!existsSync(file)) return [];
  const text = readFrom(file, Math.max(0, statSync(file).size - 8 * 1024 * 1024));
  return text
    .split('\n')
    .filter((line) => line.trim() !== '' && isWanted(line))
    .slice(-count);
}

/** What was written to a file after that position. */
export function readFrom(file: string, position: number): string {
  return existsSync(file) ? readFileSync(file).subarray(position).toString('utf8') : '';
}

/** Opens a log for appending; one that has grown over the bound is put aside, and the one put aside before goes. */
export function openLog(file: string, rotateOverMegabytes = 50): { handle: number; startsAt: number } {
  mkdirSync(dirname(file), { recursive: true });
  if (existsSync(file) && statSync(file).size > rotateOverMegabytes * 1024 * 1024) renameSync(file, `${file}.1`);
  const handle = openSync(file, 'a', OWNER_ONLY);
  return { handle, startsAt: statSync(file).size };
}
