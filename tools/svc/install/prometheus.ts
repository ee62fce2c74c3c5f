import { ensureInstalled } from './apt.ts';
import { findOnPath } from './find-on-path.ts';

interface Prometheus {
  readonly server: string;
  /** Checks and tests rules. */
  readonly promtool: string;
}

/** Returns the paths of Prometheus' programs. Debian's package starts no server where no systemd runs. */
export async function ensurePrometheus(root: string, logFile: string): Promise<Prometheus> {
  return ensureInstalled({
    name: 'Prometheus',
    find: findPrometheus,
    packages: [['prometheus']],
    root,
    logFile,
    hint: 'install Prometheus, and put prometheus and promtool on the PATH',
  });
}

function findPrometheus(): Prometheus | undefined {
  const server = findOnPath(['prometheus']);
  const promtool = findOnPath(['promtool']);
  return server === undefined || promtool === undefined ? undefined : { server, promtool };
}
