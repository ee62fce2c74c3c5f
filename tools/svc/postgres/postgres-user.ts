/**
 * PostgreSQL refuses to run as root, and containers often have no other user. As root it runs
 *  1. in a user namespace in which root appears as an ordinary user: needs no account, and files stay root's;
 *  2. where there are none (chroot, hardened containers), as `postgres` or `nobody`, with the one capability that lets
 *     it pass through folders only root may enter (PostgreSQL asks for its user id and for its directory's owner,
 *     nothing else);
 *  3. as that user without the capability.
 * Each way is tried with the real binary and the real folder: what a kernel, a container runtime or a folder's mode
 * forbids cannot be told in advance. This is not a security boundary: the server may read what root may.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { SvcError } from '../base/svc-error.ts';

export interface PostgresUser {
  /** For progress and error lines. */
  readonly description: string;
  /** The owner that the data directory must have, as seen from here; another way of running may have changed it. */
  readonly uid: number;
  readonly gid: number;
  /** Words to put before the program's own. */
  readonly prefix: readonly string[];
  /** Whether the start itself changes to that user. */
  readonly switchesAtSpawn: boolean;
}

/** Finds a way to run the server on the data folder, or says why there is none. */
export function findPostgresUser(postgres: string, folder: string): PostgresUser {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  if (uid !== 0) return { description: 'as this user', uid, gid, prefix: [], switchesAtSpawn: false };
  const candidates = listCandidates(gid, readFileSync('/etc/passwd', 'utf8'));
  const failures: string[] = [];
  for (const candidate of candidates) {
    const failure = tryToRun(candidate, postgres, folder);
    if (failure === undefined) return candidate;
    failures.push(`${candidate.description}: ${failure}`);
  }
  throw new SvcError(`PostgreSQL does not run as root and no other way works here (${failures.join('; ')})`, {
    hint: 'run ./svc as an ordinary user',
  });
}

/** The ways to run as another user than root, best first. */
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
    ...accounts.map((account) => ({
      description: `as ${account.name}`,
      uid: account.uid,
      gid: account.gid,
      prefix: [],
      switchesAtSpawn: true,
    })),
  ];
}

interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

function withCapability(account: Account, capability: string): PostgresUser {
  return {
    description: `as ${account.name} with ${capability}`,
    uid: account.uid,
    gid: account.gid,
    prefix: [
      'setpriv',
      `--reuid=${account.uid}`,
      `--regid=${account.gid}`,
      '--clear-groups',
      // Otherwise access(2), by which the server looks for its own program, disregards the capability.
      '--securebits=+no_setuid_fixup',
      `--inh-caps=+${capability}`,
      `--ambient-caps=+${capability}`,
    ],
    switchesAtSpawn: false,
  };
}

function findAccount(name: string, passwd: string): Account[] {
  const fields = passwd
    .split('\n')
    .map((line) => line.split(':'))
    .find((columns) => columns[0] === name);
  const uid = Number(fields?.[2]);
  const gid = Number(fields?.[3]);
  return fields !== undefined && uid > 0 && gid > 0 ? [{ name, uid, gid }] : [];
}

/** Program, arguments and options for starting something as that user. */
export function asUser(user: PostgresUser, program: string, args: readonly string[]) {
  const [file, ...words] = [...user.prefix, program, ...args];
  return {
    file: file ?? program,
    args: words,
    options: {
      env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' }, // PGDATA, PGPORT and the like of the caller do not reach it
      ...(user.switchesAtSpawn ? { uid: user.uid, gid: user.gid } : {}),
    },
  };
}

/**
 * Lets the server itself look at the folder, which has no configuration: that complaint, and no earlier one, shows that
 * it found its program and its libraries and could enter the folder. (`--version` answers before any of that.)
 */
function tryToRun(user: PostgresUser, postgres: string, folder: string): string | undefined {
  const script = 'cd "$1" && exec "$2" -C port -D "$1"';
  const { file, args, options } = asUser(user, 'sh', ['-c', script, 'sh', folder, postgres]);
  const result = spawnSync(file, args, { ...options, encoding: 'utf8', timeout: 10_000 });
  if (/configuration file .*: No such file or directory/.test(result.stderr ?? '')) return undefined;
  return result.error?.message ?? (result.stderr.trim().split('\n').at(-1) || `exit code ${result.status}`);
}
