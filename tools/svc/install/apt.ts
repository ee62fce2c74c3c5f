import { lastLines } from '../base/files.ts';
import { runProgram } from '../base/run-program.ts';
import { SvcError } from '../base/svc-error.ts';
import { findOnPath } from './find-on-path.ts';

/** True after this process has updated the lists of packages, which is enough for all its installations. */
let areListsUpdated = false;

/**
 * Installs Debian packages. `apt-get install` also fails when a package's script cannot start its service. If the
 * program is nevertheless installed, `isInstalled` returns true, and the failure is ignored.
 */
export async function installPackages(
  packages: readonly string[],
  options: { root: string; logFile: string; hint: string; isInstalled: () => boolean },
): Promise<void> {
  const aptGet = findAptGet();
  if (aptGet === undefined) throw new SvcError('there is no apt-get on the PATH', { hint: options.hint });
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const update = areListsUpdated ? [] : [['update']];
  for (const args of [...update, ['install', '-y', '--no-install-recommends', ...packages]]) {
    const code = await runProgram(aptGet, args, { cwd: options.root, logFile: options.logFile, env });
    if (code === 0) areListsUpdated = true;
    if (code === 0 || (args[0] === 'install' && options.isInstalled())) continue;
    for (const line of lastLines(options.logFile, 8)) console.error(`    ${line}`);
    throw new SvcError(`apt-get ${args[0]} failed (exit code ${code})`, { hint: options.hint });
  }
}

/**
 * Finds a program, or installs it, which needs Debian or Ubuntu and root.
 * @param program.packages lists of packages that each contain the program, in order of preference
 * @throws SvcError when the program is missing and cannot be installed
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
  if (findAptGet() === undefined || process.getuid?.() !== 0)
    throw new SvcError(`${name} is not installed, and only root can install it with apt-get`, { hint });
  console.log(`  … installing ${name} with apt-get (log: ${logFile})`);
  let failure = new SvcError(`apt-get installed ${name}, but the program is missing`, { hint });
  for (const alternative of packages) {
    try {
      await installPackages(alternative, { ...program, isInstalled: () => find() !== undefined });
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
  return findOnPath(['apt-get']);
}
