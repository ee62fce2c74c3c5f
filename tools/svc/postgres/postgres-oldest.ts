/** The oldest PostgreSQL that is supported, from Debian's packages: what is new in 18 must not slip in unseen. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled } from '../install/apt.ts';
import { isExecutable } from '../install/find-on-path.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { SvcError } from '../base/svc-error.ts';

export const OLDEST_POSTGRES = '15';
const BIN = `/usr/lib/postgresql/${OLDEST_POSTGRES}/bin`;
const PACKAGED_CLUSTER = `/var/lib/postgresql/${OLDEST_POSTGRES}/main`;

/** The server's programs, installed now where that can be done; or, in words, why there are none. */
export async function ensureOldestPostgres(root: string, logFile: string): Promise<PostgresBinaries | string> {
  const binaries = { initdb: join(BIN, 'initdb'), postgres: join(BIN, 'postgres'), major: OLDEST_POSTGRES };
  const find = () => (isExecutable(binaries.postgres) && isExecutable(binaries.initdb) ? binaries : undefined);
  const name = `postgresql-${OLDEST_POSTGRES}`;
  const wasThere = find() !== undefined || existsSync(PACKAGED_CLUSTER);
  try {
    return await ensureInstalled({ name, find, packages: [[name]], root, logFile, hint: '' });
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return error.message; // Another release of Debian, or a distribution that has no 15.
  } finally {
    // The package makes a cluster and starts it on port 5432, although only the programs are needed.
    if (!wasThere && find() !== undefined)
      spawnSync('pg_ctlcluster', [OLDEST_POSTGRES, 'main', 'stop'], { stdio: 'ignore', timeout: 30_000 });
  }
}
