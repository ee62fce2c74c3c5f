import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../svc/base/svc-error.ts';
import type { Release } from './release.ts';

/** Files outside the packages that contain the version, and the text around it. */
export const VERSIONED_FILES: readonly (readonly [file: string, before: string])[] = [
  ['package.json', '"version": "'],
  ['package-lock.json', '"name": "svc-payments",\n  "version": "'],
  ['package-lock.json', '"name": "svc-payments",\n      "version": "'],
  ['deploy/overlays/example/release/kustomization.yaml', 'newTag: '],
  ['deploy/overlays/production/release/kustomization.yaml', 'newTag: '],
  ['libs/sdk/README.md', 'svc-sdk-'],
  ['libs/service/src/version.ts', "VERSION = '"],
];

const LEAVE_GIT_ALONE = ['--git-commit=false', '--git-tag=false', '--stage-changes=false'];

/**
 * Writes the version into every package, the lock file, the image tags and the changelog, and makes the released
 * reference the one that later changes are compared with.
 */
export function setVersion({ root, version, date }: Release): string {
  const { version: current } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  if (current === version) throw new SvcError(`the packages have the version ${version} already`);
  // nx also updates the versions that packages of this repository require of each other, and the lock file.
  runNode(root, 'node_modules/nx/dist/bin/nx.js', 'release', 'version', version, ...LEAVE_GIT_ALONE);
  for (const [file, before] of VERSIONED_FILES)
    edit(root, file, (text) => text.replaceAll(`${before}${current}`, `${before}${version}`));
  edit(root, 'CHANGELOG.md', (text) => releaseChangelog(text, version, date));
  runNode(root, 'tools/reference/generate.ts', '--release');
  return `${current} → ${version}`;
}

/**
 * Names the unreleased changes after the release, and leaves an empty list for the next ones.
 * @throws SvcError if there is no unreleased change
 */
export function releaseChangelog(text: string, version: string, date: string): string {
  const [heading] = /^## Unreleased\n/m.exec(text) ?? [];
  if (heading === undefined) throw new SvcError('CHANGELOG.md has no heading "## Unreleased"');
  const changes = text.slice(text.indexOf(heading) + heading.length).split(/^## /m)[0] ?? '';
  if (changes.trim() === '') throw new SvcError('CHANGELOG.md lists no unreleased change');
  return text.replace(heading, `${heading}\n## ${version} (${date})\n`);
}

function edit(root: string, file: string, change: (text: string) => string): void {
  const path = join(root, file);
  const before = readFileSync(path, 'utf8');
  const after = change(before);
  if (after === before) throw new SvcError(`${file} does not contain the version where it is expected`);
  writeFileSync(path, after);
}

function runNode(root: string, script: string, ...args: string[]): void {
  if (!existsSync(join(root, script))) throw new SvcError(`${script} is missing`, { hint: 'run ./svc npm run build' });
  try {
    const env = { ...process.env, NX_DAEMON: 'false', NX_TUI: 'false' };
    execFileSync(process.execPath, [script, ...args], { cwd: root, env, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new SvcError(`${script} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}
