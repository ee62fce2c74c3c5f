/** Selects the files to mutate, their lines, and the specs that judge their mutants. */
import { execFileSync } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { SvcError } from '../svc/base/svc-error.ts';

/** Whether the file is production code of an app or a lib: no test or test helper, and no migration. */
function isProduction(file: string): boolean {
  return (
    /^(apps|libs)\/[^/]+\/src\/.*\.ts$/.test(file) &&
    !/spec\.ts$|\/(migrations|test)\//.test(file) &&
    !file.startsWith('libs/testing/')
  );
}

/** The production files of the given folders and files, sorted. */
export function findProductionFiles(root: string, paths: readonly string[]): string[] {
  const files = paths.flatMap((path) => {
    const stats = statSync(`${root}/${path}`, { throwIfNoEntry: false });
    if (!stats) throw new SvcError(`there is no ${path}`, { exitCode: 2 });
    return stats.isFile() ? [path] : globSync(`${path.replace(/\/$/, '')}/**/*.ts`, { cwd: root });
  });
  return [...new Set(files)].filter(isProduction).toSorted();
}

/** These specs measure time, need RabbitMQ, or fail if only the plan of a statement changes. */
const UNSUITABLE = /\.timed\.|\/rabbitmq[^/]*\.int-spec|\/(plans|partitions|planner-settings|schemas)\.int-spec/;

/** The specs of the file's app or lib that load the file, the nearest first. */
export function selectSpecs(file: string, related: readonly string[]): string[] {
  const ofPackage = related.filter((spec) => packageOf(spec) === packageOf(file) && !UNSUITABLE.test(spec));
  return ofPackage.toSorted((a, b) => countSharedFolders(b, file) - countSharedFolders(a, file) || (a < b ? -1 : 1));
}

/** The app or lib of a file, such as `apps/identity`. */
export function packageOf(file: string): string {
  return file.split('/').slice(0, 2).join('/');
}

function countSharedFolders(a: string, b: string): number {
  const [left, right] = [dirname(a).split('/'), dirname(b).split('/')];
  const differs = left.findIndex((folder, index) => folder !== right[index]);
  return differs === -1 ? left.length : differs;
}

/** The lines that differ from the commit, by file. Includes uncommitted changes; every line of a new file differs. */
export function findChangedLines(root: string, commit: string): (file: string, line: number) => boolean {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
  const start = git('merge-base', commit, 'HEAD').trim();
  const changed = parseDiff(git('diff', '--unified=0', '--no-color', '--no-ext-diff', '--relative', start));
  const added = new Set(git('ls-files', '--others', '--exclude-standard').split('\n'));
  return (file, line) => added.has(file) || changed.get(file)?.has(line) === true;
}

export function parseDiff(diff: string): Map<string, Set<number>> {
  const lines = new Map<string, Set<number>>();
  let current = new Set<number>();
  for (const line of diff.split('\n')) {
    const file = /^\+\+\+ b\/(.*)$/.exec(line)?.[1];
    if (file !== undefined) lines.set(file, (current = new Set()));
    const hunk = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk) for (let at = 0; at < Number(hunk[2] ?? 1); at++) current.add(Number(hunk[1]) + at);
  }
  return lines;
}
