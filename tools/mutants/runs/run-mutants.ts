/** Runs mutants against the tests of their package, in as many lanes as there are servers. */
import { SvcError } from '../../svc/base/svc-error.ts';
import { needsOf } from '../../svc/test/test.ts';
import type { Mutant } from '../mutations/catalogue.ts';
import { isLastResort } from '../selection.ts';
import type { RecordedSpec } from './baseline.ts';
import { createRecordedSpec } from './baseline.ts';
import type { BaselineCache } from './baseline-cache.ts';
import type { Verdict, SpecRun } from './judge.ts';
import { createAloneRun, findFailure, Judge } from './judge.ts';
import type { Lane } from './lanes.ts';
import type { LoadedStatement } from './plan.ts';
import type { Lanes } from './servers.ts';

export interface Progress {
  /** Called now and then; `done` of `all` are judged. */
  judged(done: number, all: number, survived: number): void;
  /** Called at once, because a long run may be ended before its report. */
  survived(mutant: Mutant): void;
  /** A spec of the last resort that fails without a mutant: mutants that only it reaches stay not reached. */
  failedLastResort(reason: string): void;
  recorded(spec: string, done: number, all: number): void;
}

/** An app or a lib: the mutants to judge, and the specs that judge them. */
export interface Package {
  readonly mutants: readonly Mutant[];
  readonly specs: readonly string[];
  /** All mutants of the package, also those outside the selection. */
  readonly allMutants: readonly Mutant[];
}

/** Judges mutants by the specs of their package. */
export async function runMutants(
  { mutants, specs, allMutants: known }: Package,
  { all: lanes, startBroker }: Lanes,
  cache: BaselineCache,
  progress: Progress,
): Promise<ReadonlyMap<Mutant, Verdict>> {
  const first = await recordSpecs(
    specs.filter((spec) => !isLastResort(spec)),
    known,
    lanes,
    cache,
    progress,
  );
  const verdicts = new Map(await judgeMutants(mutants, first, lanes, progress));
  const unreached = mutants.filter((mutant) => verdicts.get(mutant)?.is === 'not reached');
  const rest = specs.filter(isLastResort);
  if (unreached.length === 0 || rest.length === 0) return verdicts;
  if (needsOf(rest).broker === 'started') await startBroker();
  const last = await recordSpecs(rest, known, lanes, cache, progress).catch((error: unknown): RecordedSpec[] => {
    // A busy machine can cause this, and it must not cost all other verdicts.
    if (!(error instanceof SvcError)) throw error;
    progress.failedLastResort(error.message);
    return [];
  });
  for (const [mutant, verdict] of await judgeMutants(unreached, last, lanes, progress)) verdicts.set(mutant, verdict);
  return verdicts;
}

/** Runs every spec once, without a mutant. Throws if one fails, because it could judge nothing. */
async function recordSpecs(
  specs: readonly string[],
  known: readonly Mutant[],
  lanes: readonly Lane[],
  cache: BaselineCache,
  progress: Progress,
): Promise<RecordedSpec[]> {
  const sites = new Map(known.filter(({ statement }) => statement).map((mutant) => [mutant.site, mutant]));
  const statements = [...sites].map(([site, { statement }]) => ({ site, original: statement!.original, mutants: {} }));
  const found: RecordedSpec[] = [];
  const wrong: string[] = [];
  const queue = [...specs];
  const work = async (lane: Lane): Promise<void> => {
    for (let spec = queue.shift(); spec !== undefined; spec = queue.shift()) {
      const result = cache.find(spec) ?? (await recordSpec(lane, spec, statements));
      if (typeof result === 'string') wrong.push(result);
      else {
        found.push(result);
        cache.store(result);
      }
      progress.recorded(spec, found.length + wrong.length, specs.length);
    }
  };
  await Promise.all(lanes.map(work));
  if (wrong.length > 0) throw new SvcError(`these tests must pass first: ${wrong.join('; ')}`);
  return found;
}

async function recordSpec(
  lane: Lane,
  spec: string,
  statements: readonly LoadedStatement[],
): Promise<RecordedSpec | string> {
  const plan = { kind: 'record' as const, statements };
  const result = createRecordedSpec(spec, await lane.run(spec, plan));
  // Other load on the machine may be the cause.
  return typeof result === 'string' ? createRecordedSpec(spec, await lane.run(spec, plan)) : result;
}

async function judgeMutants(
  mutants: readonly Mutant[],
  specs: readonly RecordedSpec[],
  lanes: readonly Lane[],
  progress: Progress,
): Promise<ReadonlyMap<Mutant, Verdict>> {
  const bench = new Judge(mutants, specs);
  const controls = new Map<string, boolean>();
  const idle: (() => void)[] = [];
  const said = new Set<Mutant>();
  let running = 0;
  const work = async (lane: Lane): Promise<void> => {
    for (;;) {
      const next = bench.next();
      if (next === undefined && running === 0) return idle.splice(0).forEach((wake) => wake());
      if (next === undefined) {
        await new Promise<void>((resolve) => idle.push(resolve));
        continue;
      }
      running++;
      await runAndJudge(lane, bench, next, controls);
      running--;
      const survived = [...bench.verdicts].filter(([, { is }]) => is === 'survived').map(([mutant]) => mutant);
      for (const mutant of survived) if (!said.has(mutant)) progress.survived(mutant);
      for (const mutant of survived) said.add(mutant);
      progress.judged(bench.verdicts.size, mutants.length, survived.length);
      idle.splice(0).forEach((wake) => wake());
    }
  };
  await Promise.all(lanes.map(work));
  return bench.verdicts;
}

async function runAndJudge(lane: Lane, bench: Judge, work: SpecRun, controls: Map<string, boolean>): Promise<void> {
  const run = await lane.run(work.spec.spec, work.plan);
  if (!work.alone) return bench.judgeShared(work, run);
  const { tests } = work.alone;
  const isSuspect = run.end !== 'hung' && findFailure(run) !== undefined && tests !== undefined;
  bench.judgeAlone(work, run, !isSuspect || (await passesWithoutMutant(lane, work.spec, tests, controls)));
}

/** True if some tests pass without those before them; all tests together pass, as the first run has shown. */
async function passesWithoutMutant(
  lane: Lane,
  spec: RecordedSpec,
  tests: readonly number[],
  controls: Map<string, boolean>,
): Promise<boolean> {
  const key = `${spec.spec} ${tests.join()}`;
  const known = controls.get(key);
  if (known !== undefined) return known;
  const { spec: file } = spec;
  const passes = findFailure(await lane.run(file, createAloneRun(undefined, spec, tests).plan)) === undefined;
  controls.set(key, passes);
  return passes;
}
