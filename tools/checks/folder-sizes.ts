import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** A reader who opens a folder must be able to read the names of its files at once. */
const MAX_FILES = 10;

/** Folders that may hold more, each with the reason. */
export const EXCEPTIONS: Readonly<Record<string, string>> = {};

const SPEC = /\.(?:spec|int-spec|e2e-spec)\.tsx?$/;
/** A list of migrations only grows, and fixtures are examples. */
const EXEMPT = /(?:^|\/)(?:migrations|fixtures)(?:\/|$)/;

/** Returns the folders of the repository that directly hold more than ten production files. */
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

/** Returns what is wrong with these paths of files: folders that hold too many, and exceptions that are not needed. */
export function checkFolderSizes(paths: readonly string[], exceptions: Readonly<Record<string, string>>): string[] {
  const sizes = new Map<string, number>();
  for (const path of new Set(paths.filter(isProduction))) sizes.set(dirname(path), (sizes.get(dirname(path)) ?? 0) + 1);
  const over = [...sizes].filter(([, size]) => size > MAX_FILES);
  const tooLarge = over.filter(([folder]) => !(folder in exceptions));
  const unneeded = Object.keys(exceptions).filter((folder) => !over.some(([found]) => found === folder));
  return [
    ...tooLarge
      .sort()
      .map(([folder, size]) => `${folder} holds ${size} files, more than ${MAX_FILES}: divide it by feature`),
    ...unneeded.map((folder) => `${folder} holds at most ${MAX_FILES} files: remove its exception`),
  ];
}

function isProduction(path: string): boolean {
  return /\.tsx?$/.test(path) && !SPEC.test(path) && basename(path) !== 'index.ts' && !EXEMPT.test(dirname(path));
}
