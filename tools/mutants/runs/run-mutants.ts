/** Runs mutants against the tests of their package, in several lanes: child processes with a PostgreSQL server each. */
import { SvcError } from '../../svc/base/svc-error.ts';
import { needsOf } from '../../svc/test/test.ts';
import type { Mutant } from '../mutations/catalogue.ts';
import { isLastResort } from '../selection.ts';
import type { RecordedSpec } from './baseline.ts';
import { createRecordedSpec } from './baseline.ts';
import type { BaselineCache } from './baseline-cache.ts';
import type { SpecRun, Verdict } from './judge.ts';
import { createAloneRun, findFailure, Judge } from './judge.ts';
import type { Lane } from './lanes.ts';
import type { LoadedStatement } from './plan.ts';
import type { Lanes } from './servers.ts';

export interface Progress {
  /** Called after each run; `done` of `all` mutants have a verdict. */
  judged(done: number, all: number, survived: number): void;
  /** Called immediately, because a person may interrupt a long run before its report. */
  survived(mutant: Mutant): void;
  /**
   * Called when a slow spec (`isLastResort`) fails without a mutant. It then judges no mutant, so those that only this
   * spec kills are "not reached" or "survived".
   */
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
  { mutants, specs, allMutants }: Package,
  { all: lanes, startBroker }: Lanes,
  cache: BaselineCache,
  progress: Progress,
): Promise<ReadonlyMap<Mutant, Verdict>> {
  const fastSpecs = await recordSpecs(
    specs.filter((spec) => !isLastResort(spec)),
    allMutants,
    lanes,
    cache,
    progress,
  );
  const verdicts = new Map(await judgeMutants(mutants, fastSpecs, lanes, progress));
  const notKilled = mutants.filter((mutant) => ['not reached', 'survived'].includes(verdicts.get(mutant)!.status));
  const slowSpecs = specs.filter(isLastResort);
  if (notKilled.length === 0 || slowSpecs.length === 0) return verdicts;
  if (needsOf(slowSpecs).broker === 'started') await startBroker();
  const recordedSlowSpecs = await recordSpecs(slowSpecs, allMutants, lanes, cache, progress).catch(
    (error: unknown): RecordedSpec[] => {
      // A busy machine can make a spec fail, and the verdicts so far must not be lost.
      if (!(error instanceof SvcError)) throw error;
      progress.failedLastResort(error.message);
      return [];
    },
  );
  for (const [mutant, verdict] of await judgeMutants(notKilled, recordedSlowSpecs, lanes, progress))
    if (verdict.status !== 'not reached') verdicts.set(mutant, verdict);
  return verdicts;
}

/** Runs every spec once, without a mutant. Throws if a spec fails, because a failing spec cannot judge a mutant. */
async function recordSpecs(
  specs: readonly string[],
  allMutants: readonly Mutant[],
  lanes: readonly Lane[],
  cache: BaselineCache,
  progress: Progress,
): Promise<RecordedSpec[]> {
  const sites = new Map(allMutants.filter(({ statement }) => statement).map((mutant) => [mutant.site, mutant]));
  const statements = [...sites].map(([site, { statement }]) => ({ site, original: statement!.original, mutants: {} }));
  const recorded: RecordedSpec[] = [];
  const failures: string[] = [];
  const queue = [...specs];
  const runLane = async (lane: Lane): Promise<void> => {
    for (let spec = queue.shift(); spec !== undefined; spec = queue.shift()) {
      const result = cache.find(spec) ?? (await recordSpec(lane, spec, statements));
      if (typeof result === 'string') failures.push(result);
      else {
        recorded.push(result);
        cache.store(result);
      }
      progress.recorded(spec, recorded.length + failures.length, specs.length);
    }
  };
  await Promise.all(lanes.map(runLane));
  if (failures.length > 0) throw new SvcError(`these tests must pass first: ${failures.join('; ')}`);
  return recorded;
}

async function recordSpec(
  lane: Lane,
  spec: string,
  statements: readonly LoadedStatement[],
): Promise<RecordedSpec | string> {
  const plan = { kind: 'record' as const, statements };
  const result = createRecordedSpec(spec, await lane.run(spec, plan));
  // A failed spec runs again, because a busy machine may have been the cause.
  return typeof result === 'string' ? createRecordedSpec(spec, await lane.run(spec, plan)) : result;
}

async function judgeMutants(
  mutants: readonly Mutant[],
  specs: readonly RecordedSpec[],
  lanes: readonly Lane[],
  progress: Progress,
): Promise<ReadonlyMap<Mutant, Verdict>> {
  const judge = new Judge(mutants, specs);
  const controls = new Map<string, boolean>();
  const wakeIdleLanes: (() => void)[] = [];
  const reported = new Set<Mutant>();
  let running = 0;
  const runLane = async (lane: Lane): Promise<void> => {
    for (;;) {
      const next = judge.next();
      if (next === undefined && running === 0) return wakeIdleLanes.splice(0).forEach((wake) => wake());
      if (next === undefined) {
        await new Promise<void>((resolve) => wakeIdleLanes.push(resolve));
        continue;
      }
      running++;
      await runAndJudge(lane, judge, next, controls);
      running--;
      const survived = [...judge.verdicts].filter(([, { status }]) => status === 'survived').map(([mutant]) => mutant);
      for (const mutant of survived) if (!reported.has(mutant)) progress.survived(mutant);
      for (const mutant of survived) reported.add(mutant);
      progress.judged(judge.verdicts.size, mutants.length, survived.length);
      wakeIdleLanes.splice(0).forEach((wake) => wake());
    }
  };
  await Promise.all(lanes.map(runLane));
  return judge.verdicts;
}

async function runAndJudge(lane: Lane, judge: Judge, planned: SpecRun, controls: Map<string, boolean>): Promise<void> {
  const run = await lane.run(planned.spec.spec, planned.plan);
  if (!planned.alone) return judge.judgeShared(planned, run);
  const { tests } = planned.alone;
  const isSuspect = run.end !== 'hung' && findFailure(run) !== undefined;
  judge.judgeAlone(planned, run, !isSuspect || (await passesWithoutMutant(lane, planned.spec, tests, controls)));
}

/** Whether these tests pass without a mutant, and without the other tests of the spec. */
async function passesWithoutMutant(
  lane: Lane,
  spec: RecordedSpec,
  tests: readonly number[],
  controls: Map<string, boolean>,
): Promise<boolean> {
  const key = `${spec.spec} ${tests.join()}`;
  const cached = controls.get(key);
  if (cached !== undefined) return cached;
  const { spec: file } = spec;
  const passes = findFailure(await lane.run(file, createAloneRun(undefined, spec, tests).plan)) === undefined;
  controls.set(key, passes);
  return passes;
}
