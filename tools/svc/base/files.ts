import { existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { SvcError } from './svc-error.ts';

/** The mode of files with secrets. */
export const OWNER_ONLY = 0o600;

/** Replaces the file so that a reader, even after a crash, finds the whole old content or the whole new content. */
export function writeAtomically(file: string, content: string, mode: number): void {
  const temporaryFile = `${file}.${process.pid}.new`;
  mkdirSync(dirname(file), { recursive: true });
  try {
    writeFileSync(temporaryFile, content, { mode, flush: true });
    renameSync(temporaryFile, file);
  } catch (error) {
    rmSync(temporaryFile, { force: true }); // When the disk is full, the file may contain a part of the secrets.
    throw error;
  }
}

/** Undefined when the file cannot be read, for example because it does not exist. */
export function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Undefined when the file does not exist. */
export function readJson(file: string): unknown {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new SvcError(`${file} cannot be read: ${(error as Error).message}`, {
      hint: 'restore it, or remove it: ./svc then creates a new one',
      cause: error,
    });
  }
}

/** The last `count` non-empty lines that pass the filter, from the last 8 MB of the file. */
export function lastLines(file: string, count: number, isSelected: (line: string) => boolean = () => true): string[] {
  if (!existsSync(file)) return [];
  const text = readFrom(file, Math.max(0, statSync(file).size - 8 * 1024 * 1024));
  return text
    .split('\n')
    .filter((line) => line.trim() !== '' && isSelected(line))
    .slice(-count);
}

/** The text of the file after a byte position. */
export function readFrom(file: string, position: number): string {
  return existsSync(file) ? readFileSync(file).subarray(position).toString('utf8') : '';
}

const MAX_LOG_BYTES = 50 * 1024 * 1024;

/** Opens a log for appending. A log over the limit is first renamed to `.1`, which replaces an older `.1`. */
export function openLog(file: string): { handle: number; startsAt: number } {
  mkdirSync(dirname(file), { recursive: true });
  if (existsSync(file) && statSync(file).size > MAX_LOG_BYTES) renameSync(file, `${file}.1`);
  const handle = openSync(file, 'a', OWNER_ONLY);
  return { handle, startsAt: statSync(file).size };
}
