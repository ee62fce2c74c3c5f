/**
 * Brings node_modules to what package-lock.json says. What is there is compared with the lock file itself, not with a
 * stamp of the last run: so a folder that is missing, half deleted, half installed or stale is found,
 * and after an `npm install` by hand nothing is installed again.
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

/** The entries of a lock file of npm, by their path below the project. */
export type LockedPackages = Readonly<Record<string, LockedPackage>>;

/** Returns what was done, in words. */
export async function install(root: string, logFile: string): Promise<string> {
  if (findMissing(root) === undefined) return 'up to date';
  // npm writes this file last. Taken away first, an installation that is interrupted is never mistaken for a whole one.
  rmSync(join(root, 'node_modules', '.package-lock.json'), { force: true });
  const args = ['ci', '--include=dev', '--prefer-offline', '--no-audit', '--no-fund'];
  const { code } = await runProgram('npm', args, { cwd: root, logFile, env: npmEnvironment() }).catch(
    (error: unknown) => {
      throw new SvcError('npm is not on the PATH', {
        hint: 'it comes with Node.js: https://nodejs.org/',
        cause: error,
      });
    },
  );
  const missing = findMissing(root);
  if (code === 0 && missing === undefined) return 'installed from package-lock.json';
  for (const line of lastLines(logFile, 12)) console.error(`    ${line}`);
  const reason = code === 0 ? `npm ci ended well, but ${missing} is missing` : `npm ci failed (exit code ${code})`;
  throw new SvcError(reason, { hint: `its output is in ${logFile}` });
}

/** The first package that is not there as locked; undefined when all are. */
function findMissing(root: string): string | undefined {
  const hidden = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(hidden)) return 'node_modules';
  const machine = {
    os: process.platform as string,
    cpu: process.arch as string,
  };
  return findDifference(readPackages(join(root, 'package-lock.json')), readPackages(hidden), machine, (path) =>
    existsSync(join(root, path, 'package.json')),
  );
}

/** Compares what is locked with what npm noted as installed and with what is on the disk. */
export function findDifference(
  locked: LockedPackages,
  installed: LockedPackages,
  machine: { os: string; cpu: string },
  isOnDisk: (path: string) => boolean,
): string | undefined {
  const needed = Object.entries(locked).filter(
    ([path, entry]) => path.includes('node_modules/') && isFor(entry, machine),
  );
  const different = needed.find(([path, entry]) => {
    const found = installed[path];
    if (found === undefined || !isOnDisk(path)) return true;
    return entry.link !== true && (found.version !== entry.version || found.integrity !== entry.integrity);
  });
  return different?.[0];
}

/** npm leaves out optional packages of other platforms. It alone knows the C library of this one, so packages that name one are skipped. */
function isFor(entry: LockedPackage, machine: { os: string; cpu: string }): boolean {
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

/** NODE_ENV=production of the caller's shell would leave out the compiler and the database. */
function npmEnvironment(): NodeJS.ProcessEnv {
  const { NODE_ENV: _dropped, ...rest } = process.env;
  return rest;
}
