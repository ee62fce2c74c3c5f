import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** A reader who opens a folder must see the names of all its files at a glance. */
const MAX_FILES = 10;

/** Folders that may contain more files, each with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {};

const SPEC = /\.(?:spec|int-spec|e2e-spec)\.tsx?$/;
/** Migrations are never removed, and fixtures are examples. */
const EXEMPT = /(?:^|\/)(?:migrations|fixtures)(?:\/|$)/;

/** Returns the folders of the repository that directly contain more than ten production files. */
export function findOverfullFolders(root: string): string[] {
  const { stdout } = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.tsx'], {
    cwd: root,
    encoding: 'utf8',
  });
  return checkFolderSizes(
    stdout.split('\n').filter((path) => path !== '' && existsSync(join(root, path))),
    EXCEPTIONS,
  );
}

/** Returns the problems of these files: folders that contain too many, and exceptions that are not needed. */
export function checkFolderSizes(paths: readonly string[], exceptions: Readonly<Record<string, string>>): string[] {
  const sizes = new Map<string, number>();
  for (const path of new Set(paths.filter(isProduction))) sizes.set(dirname(path), (sizes.get(dirname(path)) ?? 0) + 1);
  const tooLarge = [...sizes].filter(([, size]) => size > MAX_FILES);
  const reported = tooLarge.filter(([folder]) => !(folder in exceptions));
  const unneeded = Object.keys(exceptions).filter((folder) => !tooLarge.some(([name]) => name === folder));
  return [
    ...reported
      .sort()
      .map(([folder, size]) => `${folder} contains ${size} files, more than ${MAX_FILES}: divide it by feature`),
    ...unneeded.map((folder) => `${folder} contains at most ${MAX_FILES} files: remove its exception`),
  ];
}

function isProduction(path: string): boolean {
  return /\.tsx?$/.test(path) && !SPEC.test(path) && basename(path) !== 'index.ts' && !EXEMPT.test(dirname(path));
}
