/** Selects the files to mutate, and the specs that test them. */
import { execFileSync } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { SvcError } from '../svc/base/svc-error.ts';

/** Whether the file is production code of an app or a lib: no test or test helper, no migration, no start-up file. */
export function isProduction(file: string): boolean {
  return (
    /^(tools\/mutants\/fixtures\/)?(apps|libs)\/[^/]+\/(src|browser)\/.*\.tsx?$/.test(file) &&
    !/\.(spec|int-spec|d)\.tsx?$|\/(migrations|test)\/|\/(main|migrate|build)\.ts$/.test(file) &&
    !file.startsWith('libs/testing/')
  );
}

/** The production files below the given folders and files, sorted. */
export function findProductionFiles(root: string, paths: readonly string[]): string[] {
  const files = paths.flatMap((path) => {
    const relativePath = relative(root, join(root, path)).split(sep).join('/');
    const stats = statSync(join(root, relativePath), { throwIfNoEntry: false });
    if (!stats) throw new SvcError(`there is no ${path}`, { exitCode: 2 });
    if (stats.isFile()) return [relativePath];
    const pattern = `${relativePath === '' ? '' : `${relativePath}/`}**/*.{ts,tsx}`;
    return globSync(pattern, { cwd: root, exclude: isExcludedFolder }).map((file) => file.split(sep).join('/'));
  });
  return [...new Set(files)].filter(isProduction).toSorted();
}

function isExcludedFolder(path: string): boolean {
  return /(^|[\\/])(node_modules|dist|\.data|\.git)$/.test(path);
}

/** The app or lib of a file, such as `apps/identity`. Only the tests of this app or lib judge a mutant of the file. */
export function findPackage(file: string): string {
  return file.split('/').slice(0, 2).join('/');
}

/** This spec compares schemas with a dump of the oldest PostgreSQL, and mutants run on the newest. */
const ONLY_ON_OLDEST_POSTGRES = 'apps/all-in-one/src/schemas.int-spec.ts';

export function findSpecs(root: string, folder: string): string[] {
  return globSync(`${folder}/**/*.{spec,int-spec}.ts`, { cwd: root, exclude: isExcludedFolder })
    .map((file) => file.split(sep).join('/'))
    .filter((file) => file !== ONLY_ON_OLDEST_POSTGRES)
    .toSorted();
}

/** Whether the spec is slow or starts servers. Such a spec runs only for mutants that no other spec kills. */
export function isLastResort(spec: string): boolean {
  return spec.includes('.timed.') || /\/rabbitmq[^/]*\.int-spec\.ts$/.test(spec);
}

/** The lines that differ from `base`, by file. Includes uncommitted changes and new files. */
export function findChangedLines(root: string, base: string): ReadonlyMap<string, ReadonlySet<number>> {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
  const start = git('merge-base', base, 'HEAD').trim();
  const changed = parseDiff(git('diff', '--unified=0', '--no-color', '--no-ext-diff', '--relative', start));
  // All lines of a new file have changed.
  for (const file of git('ls-files', '--others', '--exclude-standard')
    .split('\n')
    .filter((line) => line !== ''))
    changed.set(file, new Set(Array.from({ length: 10_000 }, (_, at) => at + 1)));
  return changed;
}

export function parseDiff(diff: string): Map<string, Set<number>> {
  const lines = new Map<string, Set<number>>();
  let current = new Set<number>();
  for (const line of diff.split('\n')) {
    const file = /^\+\+\+ b\/(.*)$/.exec(line)?.[1];
    if (file !== undefined) {
      current = new Set();
      lines.set(file, current);
    }
    const hunk = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk) for (let at = 0; at < Number(hunk[2] ?? 1); at++) current.add(Number(hunk[1]) + at);
  }
  return lines;
}
