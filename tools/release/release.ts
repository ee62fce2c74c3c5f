import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createSteps, type Steps } from '../svc/base/steps.ts';
import { SvcError } from '../svc/base/svc-error.ts';
import { buildBillsOfMaterials, buildManifests, buildSdk } from './artefacts.ts';
import { type CommandResult, runCommand, writeRecord } from './record.ts';
import { setVersion } from './set-version.ts';

export interface Release {
  readonly root: string;
  /** SemVer, without `v`: `1.0.0-rc.1`. */
  readonly version: string;
  /** Date in the changelog: `2026-11-27`. */
  readonly date: string;
  /** The command that builds, checks and tests everything. */
  readonly verify: readonly [string, ...string[]];
}

/** https://semver.org, without build metadata, which an image's tag cannot contain. */
const SEMVER = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/;

/**
 * Commits the version, verifies this commit, builds the files of the release into `dist/release/<version>`, and tags the
 * commit. Publishes nothing.
 * @returns the folder of the release
 */
export async function makeRelease(release: Release, steps: Steps = createSteps()): Promise<string> {
  const { root, version, verify } = release;
  const tag = `v${version}`;
  assertReleasable(release, tag);
  const folder = join(root, 'dist/release', version);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'logs'), { recursive: true });
  const results: CommandResult[] = [];
  const run = async (name: string, command: readonly [string, ...string[]]): Promise<string> => {
    const result = await runCommand(name, command, { root, logFile: join(folder, 'logs', `${name}.log`) });
    results.push(result);
    if (result.exitCode === 0) return result.lastLine;
    const hint = `its output is in ${folder}/logs/${name}.log`;
    throw new SvcError(`${command.join(' ')} failed (exit code ${result.exitCode})`, { hint });
  };

  await steps.run('version', () => setVersion(release));
  git(root, 'add', '--all');
  git(root, 'commit', '--quiet', '--message', `Release ${version}`);
  const commit = git(root, 'rev-parse', 'HEAD');
  try {
    await steps.run('verify', () => run('verify', verify));
    await steps.run('sdk', () => buildSdk(run, folder));
    await steps.run('sbom', () => buildBillsOfMaterials(run, root, folder));
    await steps.run('manifests', () => buildManifests(root, folder));
    assertClean(root, 'the checks changed files of the release');
  } catch (error) {
    console.error(`release: ${commit.slice(0, 8)} has no tag; undo this commit with: git reset --hard ${commit}~1`);
    throw error;
  } finally {
    await steps.run('record', () => writeRecord(folder, { version, commit, results }));
  }
  git(root, 'tag', '--annotate', tag, '--message', `Release ${version}`);
  return folder;
}

function assertReleasable({ root, version }: Release, tag: string): void {
  if (!SEMVER.test(version))
    throw new SvcError(`"${version}" is not a version such as 1.0.0 or 1.0.0-rc.1`, { exitCode: 2 });
  assertClean(root, 'the tree has changes that are not committed');
  if (git(root, 'tag', '--list', tag) !== '') throw new SvcError(`the tag ${tag} exists already`);
  try {
    git(root, 'var', 'GIT_COMMITTER_IDENT');
  } catch {
    const hint = 'set them with: git config user.name "…" and git config user.email "…"';
    throw new SvcError('a release is a commit, and Git has no name and address for its author', { hint });
  }
}

function assertClean(root: string, message: string): void {
  const changes = git(root, 'status', '--porcelain');
  if (changes !== '') throw new SvcError(`${message}:\n${changes}`);
}

function git(root: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
}
