/**
 * Mutation tests of the files that unit tests alone cover:
 * `./svc npm run stryker -- [--concurrency <n>] [--incremental] [folder or file …]`.
 * Stryker changes one expression at a time and runs the unit tests that reach it. A mutant survives if no test fails, and
 * then the command fails. A mutant that no test can kill has an entry with the reason in `equivalent.json`. Reports:
 * `.data/mutants/`.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { describeMutant, readEquivalents } from '../equivalents.ts';
import { findFoldersWithPureFiles, findPureFiles } from './pure-files.ts';
import { readResults } from './results.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const REPORTS = '.data/mutants';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    concurrency: { type: 'string', default: String(cpus().length) },
    /** Reuses results of unchanged mutants and tests: for use while tests are written, not for a release. */
    incremental: { type: 'boolean', default: false },
  },
});

process.chdir(root);
mkdirSync(REPORTS, { recursive: true });
const equivalents = readEquivalents(import.meta.dirname);
let isClean = true;
const summaries: string[] = [];
for (const { folder, files } of selectTargets(positionals)) {
  console.log(`\n${folder}: ${files.length} files`);
  const results = await mutate(folder, files);
  const { survived, unneeded, summary } = readResults(folder, results, equivalents, (file) =>
    readFileSync(file, 'utf8'),
  );
  for (const mutant of survived) console.log(`survived: ${describeMutant(mutant)}`);
  for (const entry of unneeded)
    console.log(`equivalent.json has an entry without a survivor: ${describeMutant(entry)}`);
  isClean &&= survived.length + unneeded.length === 0;
  summaries.push(summary);
}
console.log(`\n${summaries.join('\n')}`);
process.exit(isClean ? 0 : 1);

/** The files to mutate, grouped by app and lib. */
function selectTargets(paths: readonly string[]): { folder: string; files: string[] }[] {
  if (paths.length === 0) return findFoldersWithPureFiles(root);
  const found = new Map<string, string[]>();
  for (const path of paths.map((text) => text.replace(/^\.\/|\/+$/g, ''))) {
    const [folder] = /^(?:apps|libs)\/[^/]+/.exec(path) ?? [];
    if (folder === undefined || !existsSync(path)) throw new Error(`${path} is not a folder or file of apps or libs`);
    const files = path.endsWith('.ts')
      ? [path]
      : findPureFiles(root, folder).filter((file) => file.startsWith(`${path}/`));
    if (files.length === 0) throw new Error(`${path} has no files that unit tests alone cover`);
    found.set(folder, [...(found.get(folder) ?? []), ...files]);
  }
  return [...found].map(([folder, files]) => ({ folder, files }));
}

async function mutate(folder: string, files: string[]): ReturnType<Stryker['runMutationTest']> {
  const report = join(REPORTS, `stryker-${folder.replaceAll('/', '-')}`);
  const others = ['apps', 'libs'].map((group) => `/${group}/*`);
  const results = await new Stryker({
    configFile: 'tools/mutants/stryker/stryker.config.mjs',
    mutate: files,
    // Only this package has mutants; it imports the other packages unchanged through node_modules. Tests of messaging
    // read the schemas of contracts as files.
    ignorePatterns: ['/.data', '/.nx', '**/dist', ...others, '!/libs/contracts', `!/${folder}`],
    jest: { config: { roots: [`<rootDir>/${folder}`] } },
    concurrency: Number(values.concurrency),
    jsonReporter: { fileName: `${report}.json` },
    tempDirName: `${report}.sandbox`,
    incremental: values.incremental,
    incrementalFile: `${report}.incremental.json`,
  }).runMutationTest();
  return results.map((result) => ({ ...result, fileName: relative(root, result.fileName) }));
}
