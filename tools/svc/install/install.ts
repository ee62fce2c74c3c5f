/**
 * Installs the packages that package-lock.json lists. It compares node_modules with the lock file itself, not with a
 * stamp of the last run. This detects a missing, incomplete or stale folder, and accepts a manual `npm install`.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lastLines } from '../base/files.ts';
import { runProgram } from '../base/run-program.ts';
import { SvcError } from '../base/svc-error.ts';

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly link?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

/** The entries of a package-lock.json, by their path below the project. */
export type LockedPackages = Readonly<Record<string, LockedPackage>>;

/** Returns the result as a text. */
export async function install(root: string, logFile: string): Promise<string> {
  if (findMissingPackage(root) === undefined) return 'up to date';
  // npm writes this file last. Remove it first, so that an interrupted installation counts as incomplete.
  rmSync(join(root, 'node_modules', '.package-lock.json'), { force: true });
  const args = ['ci', '--include=dev', '--prefer-offline', '--no-audit', '--no-fund'];
  // With NODE_ENV=production npm would omit the compiler and the database.
  const { NODE_ENV: _dropped, ...env } = process.env;
  const code = await runProgram('npm', args, { cwd: root, logFile, env }).catch((cause: unknown) => {
    throw new SvcError('npm is not on the PATH', { hint: 'it comes with Node.js: https://nodejs.org/', cause });
  });
  const missing = findMissingPackage(root);
  if (code === 0 && missing === undefined) return 'installed from package-lock.json';
  for (const line of lastLines(logFile, 12)) console.error(`    ${line}`);
  const reason = code === 0 ? `npm ci succeeded, but ${missing} is missing` : `npm ci failed (exit code ${code})`;
  throw new SvcError(reason, { hint: `its output is in ${logFile}` });
}

/** Returns the first package that is not installed as locked, or undefined when all packages are. */
function findMissingPackage(root: string): string | undefined {
  const installedList = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedList)) return 'node_modules';
  const machine = { os: process.platform, cpu: process.arch };
  return findDifference(readPackages(join(root, 'package-lock.json')), readPackages(installedList), machine, (path) =>
    existsSync(join(root, path, 'package.json')),
  );
}

/** Compares the locked packages with npm's record of installed ones, and with the disk. */
export function findDifference(
  locked: LockedPackages,
  installed: LockedPackages,
  machine: { os: string; cpu: string },
  isOnDisk: (path: string) => boolean,
): string | undefined {
  const needed = Object.entries(locked).filter(
    ([path, entry]) => path.includes('node_modules/') && isNeededOn(entry, machine),
  );
  const different = needed.find(([path, entry]) => {
    const found = installed[path];
    if (found === undefined || !isOnDisk(path)) return true;
    return entry.link !== true && (found.version !== entry.version || found.integrity !== entry.integrity);
  });
  return different?.[0];
}

/** npm omits optional packages of other platforms. Only npm detects the C library, so `libc` is not compared. */
function isNeededOn(entry: LockedPackage, machine: { os: string; cpu: string }): boolean {
  if (entry.optional !== true) return true;
  return (
    entry.libc === undefined &&
    entry.os?.includes(machine.os) === true &&
    (entry.cpu === undefined || entry.cpu.includes(machine.cpu))
  );
}

function readPackages(file: string): LockedPackages {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { packages?: LockedPackages }).packages ?? {};
  } catch (error) {
    throw new SvcError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
