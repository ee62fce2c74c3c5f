/** The oldest supported PostgreSQL, from Debian's packages: tests on it detect the use of newer features. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../base/svc-error.ts';
import { ensureInstalled } from '../install/apt.ts';
import { isExecutable } from '../install/find-on-path.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';

export const OLDEST_POSTGRES = '15';
const BIN = `/usr/lib/postgresql/${OLDEST_POSTGRES}/bin`;
const PACKAGED_CLUSTER = `/var/lib/postgresql/${OLDEST_POSTGRES}/main`;

/** Finds or installs the server's programs. When that is impossible, it returns the reason as a text. */
export async function ensureOldestPostgres(root: string, logFile: string): Promise<PostgresBinaries | string> {
  const binaries = { initdb: join(BIN, 'initdb'), postgres: join(BIN, 'postgres'), major: OLDEST_POSTGRES };
  const find = () => (isExecutable(binaries.postgres) && isExecutable(binaries.initdb) ? binaries : undefined);
  const name = `postgresql-${OLDEST_POSTGRES}`;
  const wasInstalled = find() !== undefined || existsSync(PACKAGED_CLUSTER);
  try {
    return await ensureInstalled({ name, find, packages: [[name]], root, logFile, hint: `install ${name}` });
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return error.message; // For example a distribution without this version.
  } finally {
    // The package creates a cluster and starts it on port 5432.
    if (!wasInstalled && find() !== undefined)
      spawnSync('pg_ctlcluster', [OLDEST_POSTGRES, 'main', 'stop'], { stdio: 'ignore', timeout: 30_000 });
  }
}
