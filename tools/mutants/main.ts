/** The entry point of `npm run mutants`; options.ts has its usage. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { acquireLock } from '../svc/base/lock.ts';
import { createSteps } from '../svc/base/steps.ts';
import { asSvcError, SvcError } from '../svc/base/svc-error.ts';
import { prepare } from '../svc/install/prepare.ts';
import { createDataDir, readSettings } from '../svc/settings/settings.ts';
import { matchEquivalents, readEquivalents } from './equivalents.ts';
import type { Mutant } from './mutations/catalogue.ts';
import { readMutants } from './mutations/catalogue.ts';
import type { Options } from './options.ts';
import { parseOptions, USAGE } from './options.ts';
import { createProgress } from './progress.ts';
import type { Outcome } from './report.ts';
import { describeMutant, formatJsonReport, formatReport } from './report.ts';
import { openBaselineCache } from './runs/baseline-cache.ts';
import type { Verdict } from './runs/judge.ts';
import { runMutants } from './runs/run-mutants.ts';
import { startLanes } from './runs/servers.ts';
import { findChangedLines, findPackage, findProductionFiles, findSpecs } from './selection.ts';

const root = join(import.meta.dirname, '..', '..');
/** The tests of these apps load the built payment page, and some of them the built API references. */
const READS_BUILT_FILES = ['apps/all-in-one', 'apps/hosted-gateway'];
/** An invalid mutant is a mistake of this tool, and its guard is not proven. */
const FAILURES: ReadonlySet<string> = new Set(['survived', 'not reached', 'invalid']);

try {
  process.exitCode = process.argv.includes('--help') ? help() : await run(parseOptions(process.argv.slice(2)));
} catch (error) {
  const known = asSvcError(error, 'see the message');
  if (!known) throw error;
  console.error(known.message === USAGE ? USAGE : `mutants: ${known.line}`);
  process.exitCode = known.exitCode;
}
// Otherwise open handles of tests would keep the command running. A pipe must have received all output before.
process.stdout.write('', () => process.exit());

function help(): number {
  console.log(USAGE);
  return 0;
}

async function run(options: Options): Promise<number> {
  const files = findProductionFiles(root, options.paths);
  const all = files.flatMap((file) => readMutants(root, file));
  const { reasons, stale, ambiguous } = matchEquivalents(all, readEquivalents(), files);
  if (stale.length + ambiguous.length > 0) {
    const entries = [...stale, ...ambiguous].map(
      ({ file, within, original, what }) => `${file} ${within}: ${original}, ${what}`,
    );
    throw new SvcError(
      `equivalent.json has entries without a mutant, without a reason, or with several mutants (add its number as "occurrence"): ${entries.join('; ')}`,
    );
  }
  const numbered = selectChanged(all, options).map((mutant, index) => ({ mutant, number: index + 1 }));
  const selected = numbered.filter(({ number }) => options.only?.includes(number) ?? true);
  if (options.isList) {
    for (const { mutant, number } of selected) console.log(`${String(number).padStart(5)}  ${describeMutant(mutant)}`);
    return 0;
  }
  const mutants = selected.map(({ mutant }) => mutant);
  if (options.isExcused) return checkExcused(mutants.filter((mutant) => reasons.has(mutant)));
  const verdicts = await judgeMutants(mutants.filter((mutant) => !reasons.has(mutant)));
  const outcomes = mutants.map((mutant): [Mutant, Outcome] => {
    const reason = reasons.get(mutant);
    return [mutant, reason === undefined ? verdicts.get(mutant)! : { status: 'equivalent', reason }];
  });
  const name = options.paths
    .map((path) => path.replaceAll(/[^a-zA-Z0-9.-]+/g, '-'))
    .join('+')
    .slice(0, 100);
  const report = join(root, '.data', 'mutants', `${name}.json`);
  mkdirSync(dirname(report), { recursive: true });
  writeFileSync(report, formatJsonReport(outcomes));
  console.log(`\n${formatReport(outcomes)}\n\nreport: ${report}`);
  return outcomes.some(([, { status }]) => FAILURES.has(status)) ? 1 : 0;
}

/** A test that kills an excused mutant contradicts the reason of its entry. */
async function checkExcused(excused: readonly Mutant[]): Promise<number> {
  const killed = [...(await judgeMutants(excused))].filter(([, { status }]) => status === 'killed');
  for (const [mutant] of killed) console.log(`a test kills it: ${describeMutant(mutant)}`);
  console.log(`${excused.length} mutants have an entry in equivalent.json, tests kill ${killed.length} of them`);
  return killed.length === 0 ? 0 : 1;
}

function selectChanged(mutants: readonly Mutant[], { changedSince }: Options): readonly Mutant[] {
  if (changedSince === undefined) return mutants;
  const lines = findChangedLines(root, changedSince);
  return mutants.filter(({ file, line }) => lines.get(file)?.has(line));
}

async function judgeMutants(mutants: readonly Mutant[]): Promise<ReadonlyMap<Mutant, Verdict>> {
  const verdicts = new Map<Mutant, Verdict>();
  if (mutants.length === 0) return verdicts;
  const settings = createDataDir(readSettings(root, process.env, process.cwd()));
  const steps = createSteps();
  const folders = [...new Set(mutants.map(({ file }) => findPackage(file)))];
  await prepare(settings, steps, { build: folders.some((folder) => READS_BUILT_FILES.includes(folder)) });
  const packages = folders.map((folder) => ({
    folder,
    mutants: mutants.filter(({ file }) => findPackage(file) === folder),
    allMutants: findProductionFiles(root, [folder]).flatMap((file) => readMutants(root, file)),
    specs: findSpecs(root, folder),
  }));
  const lock = acquireLock(join(settings.dataDir, 'mutants', 'svc.lock'));
  if (!('release' in lock))
    throw new SvcError(`mutants are already being judged here (process ${lock.heldBy})`, {
      hint: 'wait for them: both runs would use the same servers',
    });
  const cache = openBaselineCache(root, join(settings.dataDir, 'mutants', 'baseline'));
  const specs = packages.flatMap(({ specs: specsOfPackage }) => specsOfPackage);
  const lanes = await startLanes(settings, specs, steps);
  try {
    for (const each of packages) {
      const judged = await runMutants(each, lanes, cache, createProgress(each.folder));
      for (const [mutant, verdict] of judged) verdicts.set(mutant, verdict);
    }
  } finally {
    await lanes.stop();
    lock.release();
  }
  return verdicts;
}
