/**
 * PostgreSQL refuses to run as root, and containers often have no other user. When ./svc runs as root, it starts the
 * server in the first of these ways that works:
 *  1. in a user namespace that maps root to an ordinary user: needs no account, and root owns the files;
 *  2. without user namespaces (chroot, hardened containers) as `postgres` or `nobody`, with a capability to enter
 *     folders that only root can enter (PostgreSQL checks only its user id and the owner of its directory);
 *  3. as that user without the capability.
 *
 * ./svc tests each way with the real binary and folder, because the result depends on the kernel, the container runtime
 * and the modes of folders. This is not a security boundary: the server can read everything that root can.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { SvcError } from '../base/svc-error.ts';

export interface PostgresUser {
  /** For progress and error lines. */
  readonly description: string;
  /** The required owner of the data directory, as this process sees it. Another way may need another owner. */
  readonly uid: number;
  readonly gid: number;
  /** Words before the program and its arguments. */
  readonly prefix: readonly string[];
  /** Whether `spawn` changes to that user. */
  readonly switchesAtSpawn: boolean;
}

/** @throws SvcError when the server cannot run as any user */
export function findPostgresUser(postgres: string, folder: string): PostgresUser {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  if (uid !== 0) return { description: 'as this user', uid, gid, prefix: [], switchesAtSpawn: false };
  const candidates = listCandidates(gid, readFileSync('/etc/passwd', 'utf8'));
  const failures: string[] = [];
  for (const candidate of candidates) {
    const failure = findFailure(candidate, postgres, folder);
    if (failure === undefined) return candidate;
    failures.push(`${candidate.description}: ${failure}`);
  }
  throw new SvcError(`PostgreSQL does not run as root, and no other way works here (${failures.join('; ')})`, {
    hint: 'run ./svc as an ordinary user',
  });
}

/** The ways to run as a user other than root, in order of preference. */
export function listCandidates(rootGid: number, passwd: string): PostgresUser[] {
  const namespace: PostgresUser = {
    description: 'in a user namespace',
    uid: 0,
    gid: rootGid,
    prefix: ['unshare', '--user', '--map-user=1000', '--map-group=1000'],
    switchesAtSpawn: false,
  };
  const accounts = ['postgres', 'nobody'].flatMap((name) => findAccount(name, passwd));
  return [
    namespace,
    ...accounts.flatMap((account) => ['dac_override', 'dac_read_search'].map((name) => withCapability(account, name))),
    ...accounts.map(({ name, ...ids }) => ({ description: `as ${name}`, ...ids, prefix: [], switchesAtSpawn: true })),
  ];
}

interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

function withCapability({ name, uid, gid }: Account, capability: string): PostgresUser {
  return {
    description: `as ${name} with ${capability}`,
    uid,
    gid,
    prefix: [
      'setpriv',
      `--reuid=${uid}`,
      `--regid=${gid}`,
      '--clear-groups',
      // Otherwise access(2), with which the server finds its own program, ignores the capability.
      '--securebits=+no_setuid_fixup',
      `--inh-caps=+${capability}`,
      `--ambient-caps=+${capability}`,
    ],
    switchesAtSpawn: false,
  };
}

function findAccount(name: string, passwd: string): Account[] {
  const [uid = 0, gid = 0] = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(passwd)?.slice(1).map(Number) ?? [];
  return uid > 0 && gid > 0 ? [{ name, uid, gid }] : [];
}

/** Program, arguments and options for spawn. */
export function asUser(user: PostgresUser, program: string, args: readonly string[]) {
  const [file, ...words] = [...user.prefix, program, ...args];
  return {
    file: file ?? program,
    args: words,
    options: {
      env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' }, // Not the caller's PGDATA, PGPORT and similar variables.
      ...(user.switchesAtSpawn ? { uid: user.uid, gid: user.gid } : {}),
    },
  };
}

/**
 * Starts the server in a folder without configuration. The error about the missing configuration is a success: it shows
 * that the server found its program and libraries, and could enter the folder (`--version` would not show this).
 * Returns any other error.
 */
function findFailure(user: PostgresUser, postgres: string, folder: string): string | undefined {
  const script = 'cd "$1" && exec "$2" -C port -D "$1"';
  const { file, args, options } = asUser(user, 'sh', ['-c', script, 'sh', folder, postgres]);
  const result = spawnSync(file, args, { ...options, encoding: 'utf8', timeout: 10_000 });
  if (/configuration file .*: No such file or directory/.test(result.stderr ?? '')) return undefined;
  return result.error?.message ?? (result.stderr.trim().split('\n').at(-1) || `exit code ${result.status}`);
}
