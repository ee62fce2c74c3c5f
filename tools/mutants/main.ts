import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { acquireLock } from '../svc/base/lock.ts';
import { PATIENCE } from '../svc/base/patience.ts';
import { createSteps } from '../svc/base/steps.ts';
import { reportError, SvcError } from '../svc/base/svc-error.ts';
import { buildPage } from '../svc/install/build.ts';
import { prepare } from '../svc/install/prepare.ts';
import { createDataDir, readSettings } from '../svc/settings/settings.ts';
import { createTestServers } from '../svc/test/test-servers.ts';
import { describeMutant, readEquivalents, separateEquivalents } from './equivalents.ts';
import { Judge } from './judge.ts';
import { findMutants, type Mutant } from './mutations/find-mutants.ts';
import { findChangedLines, findProductionFiles, packageOf } from './selection.ts';

const USAGE = `usage: ./svc npm run mutants -- [folder or file …] [--changed] [--base <commit>] [--list]

Drops and weakens each guard on owner, mode, version, state, lease and expiry in the SQL of production code, one at a
time, and lists the mutants that no test of the same app or lib notices. Exit code 1 if there are any.

  --changed        only mutants on lines that differ from the base, committed or not
  --base <commit>  default: main
  --list           shows the mutants and runs nothing`;

const root = join(import.meta.dirname, '..', '..');
/** The number of mutants that run at the same time, each with its own PostgreSQL. Two load two processors. */
const LANES = 2;

const settings = createDataDir(readSettings(root, process.env, process.cwd()));
const dataDir = join(settings.dataDir, 'mutants');
try {
  process.exitCode = await run();
} catch (error) {
  process.exitCode = reportError(error, dataDir);
}

async function run(): Promise<number> {
  const { values, positionals } = readOptions();
  if (values.help || (positionals.length === 0 && !values.changed)) {
    console.log(USAGE);
    return values.help ? 0 : 2;
  }
  const files = findProductionFiles(root, positionals.length > 0 ? positionals : ['apps', 'libs']);
  const all = files.flatMap((file) => findMutants(file, readFileSync(join(root, file), 'utf8')));
  const isChanged = values.changed ? findChangedLines(root, values.base) : () => true;
  const { equivalent, others, unneeded } = separateEquivalents(all, readEquivalents(import.meta.dirname), files);
  if (unneeded.length > 0)
    throw new SvcError(`equivalent.json has entries without a mutant: ${unneeded.map(describeMutant).join('; ')}`);
  const mutants = others.filter(({ file, line }) => isChanged(file, line));
  if (values.list) {
    for (const mutant of mutants) console.log(describeMutant(mutant));
    return 0;
  }
  const survived = mutants.length === 0 ? 0 : await judge(mutants);
  console.log(`${mutants.length} mutants, ${survived} survived; equivalent.json has ${equivalent.length} others`);
  return survived === 0 ? 0 : 1;
}

function readOptions() {
  const boolean = { type: 'boolean', default: false } as const;
  const options = {
    changed: boolean,
    base: { type: 'string', default: 'main' },
    list: boolean,
    help: boolean,
  } as const;
  try {
    return parseArgs({ allowPositionals: true, options });
  } catch (error) {
    throw new SvcError((error as Error).message, { hint: '--help shows the options', exitCode: 2, cause: error });
  }
}

/** Returns how many mutants survived. */
async function judge(mutants: readonly Mutant[]): Promise<number> {
  const steps = createSteps();
  await prepare(settings, steps, { build: false });
  mkdirSync(dataDir, { recursive: true });
  const lock = acquireLock(join(dataDir, 'svc.lock'));
  if (!('release' in lock)) throw new SvcError(`mutants are already being judged here (process ${lock.heldBy})`);
  const filesOf = Map.groupBy(new Set(mutants.map(({ file }) => file)), packageOf);
  const judges = new Map([...filesOf].map(([name, files]) => [name, new Judge(root, files)]));
  const servers = createTestServers({ ...settings, dataDir });
  try {
    let urls: string[] = [];
    if ([...judges.values()].some(({ needsPostgres }) => needsPostgres)) {
      await steps.run('page', () => buildPage(root, join(dataDir, 'build.log')));
      urls = (await steps.run('PostgreSQL', () => servers.startPostgres(LANES))).address.split(' ');
    }
    let next = 0;
    let survived = 0;
    const runLane = async (lane: number) => {
      const env = { SVC_PATIENCE: String(PATIENCE), SVC_TEST_DATABASE_URLS: urls[lane] ?? '' };
      for (let mutant = mutants[next++]; mutant; mutant = mutants[next++]) {
        const survives = await judges.get(packageOf(mutant.file))!.survives(mutant, env);
        if (survives) survived++;
        console.log(`  ${survives ? 'SURVIVED' : 'killed  '}  ${describeMutant(mutant)}`);
      }
    };
    await Promise.all(Array.from({ length: LANES }, (_, lane) => runLane(lane)));
    return survived;
  } finally {
    await servers.stop();
    lock.release();
  }
}
