import { lastLines } from '../base/files.ts';
import { runProgram } from '../base/run-program.ts';
import { SvcError } from '../base/svc-error.ts';
import { findOnPath, isExecutable } from './find-on-path.ts';

/** Whether packages can be installed here without a question: Debian or Ubuntu, as root. */
export function canInstallPackages(): boolean {
  return findAptGet() !== undefined && process.getuid?.() === 0;
}

/**
 * Installs Debian packages, its output kept in a log. A service among them that could not be started by its own
 * script fails apt-get although the programs are there: the caller, who looks for the program, decides with `isThere`.
 */
export async function installPackages(
  packages: readonly string[],
  options: { root: string; logFile: string; hint: string; isThere: () => boolean },
): Promise<void> {
  const aptGet = findAptGet();
  if (aptGet === undefined) throw new SvcError('there is no apt-get on the PATH', { hint: options.hint });
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
    const { code } = await runProgram(aptGet, args, { cwd: options.root, logFile: options.logFile, env });
    if (code === 0 || (args[0] === 'install' && options.isThere())) continue;
    for (const line of lastLines(options.logFile, 8)) console.error(`    ${line}`);
    throw new SvcError(`apt-get ${args[0]} failed (exit code ${code})`, { hint: options.hint });
  }
}

/**
 * A program of this machine, installed now where it is missing.
 * @param packages alternatives, the first that can be installed counts
 * @throws SvcError where it is missing and cannot be installed
 */
export async function ensureInstalled<Found>(program: {
  readonly name: string;
  readonly find: () => Found | undefined;
  readonly packages: readonly (readonly string[])[];
  readonly root: string;
  readonly logFile: string;
  readonly hint: string;
}): Promise<Found> {
  const { name, find, packages, logFile, hint } = program;
  const found = find();
  if (found !== undefined) return found;
  if (!canInstallPackages())
    throw new SvcError(`${name} is needed, is not on this machine, and only root can install it with apt-get`, {
      hint,
    });
  console.log(`  … no ${name}: installing it with apt-get (log: ${logFile})`);
  let failure = new SvcError(`apt-get installed ${name}, but the program is not there`, { hint });
  for (const alternative of packages) {
    try {
      await installPackages(alternative, { ...program, isThere: () => find() !== undefined });
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      failure = error;
    }
    const installed = find();
    if (installed !== undefined) return installed;
  }
  throw failure;
}

function findAptGet(): string | undefined {
  return findOnPath(['apt-get'], process.env['PATH'] ?? '', isExecutable);
}
