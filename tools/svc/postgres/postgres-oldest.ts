/** The oldest PostgreSQL that is supported, from Debian's packages: what is new in 18 must not slip in unseen. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { canInstallPackages, installPackages } from '../install/apt.ts';
import { isExecutable } from '../install/find-on-path.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { SvcError } from '../base/svc-error.ts';

export const OLDEST_POSTGRES = '15';
const BIN = `/usr/lib/postgresql/${OLDEST_POSTGRES}/bin`;
const PACKAGED_CLUSTER = `/var/lib/postgresql/${OLDEST_POSTGRES}/main`;

/** The server's programs, installed now where that can be done; or, in words, why there are none. */
export async function ensureOldestPostgres(root: string, aptLog: string): Promise<PostgresBinaries | string> {
  if (!isThere()) {
    if (!canInstallPackages()) return `it is not in ${BIN}, and packages can only be installed as root with apt-get`;
    const hadCluster = existsSync(PACKAGED_CLUSTER);
    const name = `postgresql-${OLDEST_POSTGRES}`;
    console.log(`  … no PostgreSQL ${OLDEST_POSTGRES}: installing ${name} with apt-get (log: ${aptLog})`);
    try {
      await installPackages([name], { root, logFile: aptLog, hint: '', isThere });
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      return error.message; // Another release of Debian, or a distribution that has no 15.
    }
    // The package makes a cluster and starts it on port 5432; it was not there before, and nobody asked for it.
    if (!hadCluster)
      spawnSync('pg_ctlcluster', [OLDEST_POSTGRES, 'main', 'stop'], { stdio: 'ignore', timeout: 30_000 });
  }
  return { initdb: join(BIN, 'initdb'), postgres: join(BIN, 'postgres'), major: OLDEST_POSTGRES };
}

function isThere(): boolean {
  return isExecutable(join(BIN, 'postgres')) && isExecutable(join(BIN, 'initdb'));
}
