/** Schedules the runs of each mutant, and decides its verdict from their results. */
import type { Mutant } from '../mutations/catalogue.ts';
import type { RecordedSpec } from './baseline.ts';
import { compareByNearness, findTests } from './baseline.ts';
import type { LanePlan, Run } from './lanes.ts';
import type { Line, LoadedStatement } from './plan.ts';

export type Verdict =
  | {
      readonly status: 'killed' | 'timed out' | 'invalid';
      readonly spec: string;
      readonly test: string;
      readonly why: string;
    }
  | { readonly status: 'survived'; readonly specs: readonly string[] }
  | { readonly status: 'not reached' };

/** One run of one spec file. */
export interface SpecRun {
  readonly spec: RecordedSpec;
  readonly plan: LanePlan;
  readonly mutants: readonly Mutant[];
  /** For a run with only one mutant, which is active from the start: the tests to run. */
  readonly alone?: { readonly mutant: Mutant; readonly tests: readonly number[] };
}

interface PendingMutant {
  readonly mutant: Mutant;
  /** For each spec: the tests that evaluate the mutant and have not yet run with it. */
  readonly tests: Map<RecordedSpec, Set<number>>;
  /** Scheduled runs with only this mutant, because other mutants would affect the result. */
  readonly alone: { spec: RecordedSpec; tests: readonly number[] }[];
  /** The spec that is nearest to the mutant's file. */
  readonly nearest: RecordedSpec | undefined;
  /** The specs that evaluate the mutant. */
  readonly reaching: readonly string[];
  /** Whether the mutant is part of a run that has not ended. */
  isBusy: boolean;
  /** The number of runs with only this mutant in which a test failed before it evaluated the mutant. */
  inconclusiveRuns: number;
}

/** After this many failed control runs (without a mutant), a test runs with only one mutant at a time. */
const MAX_CONTROL_FAILURES = 2;
const MAX_INCONCLUSIVE_RUNS = 3;

export class Judge {
  readonly verdicts = new Map<Mutant, Verdict>();
  private readonly pending = new Map<string, PendingMutant>();
  private readonly specs: readonly RecordedSpec[];
  /** The number of failed control runs of each test. */
  private readonly controlFailures = new Map<string, number>();
  private readonly visited = new Set<RecordedSpec>();

  constructor(mutants: readonly Mutant[], specs: readonly RecordedSpec[]) {
    this.specs = specs.toSorted((a, b) => a.ms - b.ms);
    for (const mutant of mutants) {
      const pendingMutant = createPendingMutant(mutant, specs);
      if (pendingMutant.reaching.length === 0) this.verdicts.set(mutant, { status: 'not reached' });
      else this.pending.set(mutant.id, pendingMutant);
    }
  }

  /**
   * Returns the next run, or undefined when no run remains or all remaining mutants are part of other runs. First come
   * runs of the specs that are nearest to a mutant, then runs with only one mutant, then all others.
   */
  next(): SpecRun | undefined {
    const run = this.nextShared(({ nearest }, spec) => nearest === spec && !this.visited.has(spec)) ?? this.nextAlone();
    return this.markBusy(run ?? this.nextShared(() => true));
  }

  private markBusy(run: SpecRun | undefined): SpecRun | undefined {
    for (const { id } of run?.mutants ?? []) this.pending.get(id)!.isBusy = true;
    return run;
  }

  /** A run of the fastest remaining spec, with all selected mutants that this spec evaluates. */
  private nextShared(isSelected: (pendingMutant: PendingMutant, spec: RecordedSpec) => boolean): SpecRun | undefined {
    for (const spec of this.specs) {
      const selected = [...this.pending.values()].filter(
        (pendingMutant) =>
          !pendingMutant.isBusy && (pendingMutant.tests.get(spec)?.size ?? 0) > 0 && isSelected(pendingMutant, spec),
      );
      if (selected.length === 0) continue;
      this.visited.add(spec);
      const runs: Record<number, string[]> = {};
      for (const { mutant, tests } of selected)
        for (const test of tests.get(spec)!) (runs[test] ??= []).push(mutant.id);
      const mutants = selected.map(({ mutant }) => mutant);
      return {
        spec,
        mutants,
        plan: { kind: 'mutants', runs, ms: listDurations(spec), statements: listLoadedStatements(mutants, spec) },
      };
    }
    return undefined;
  }

  private nextAlone(): SpecRun | undefined {
    const pendingMutant = [...this.pending.values()].find(({ isBusy, alone }) => !isBusy && alone.length > 0);
    if (!pendingMutant) return undefined;
    const { mutant } = pendingMutant;
    const { spec, tests } = pendingMutant.alone.shift()!;
    return { ...createAloneRun(mutant, spec, tests), alone: { mutant, tests } };
  }

  /** Applies the results of a run with several mutants. */
  judgeShared({ spec, mutants }: SpecRun, run: Run): void {
    for (const { id } of mutants) this.pending.get(id)!.isBusy = false;
    const failures = new Map<string, Line & { type: 'ran' }>();
    let running: (Line & { type: 'begin' }) | undefined;
    let testRunCount = 0;
    for (const line of run.lines) {
      if (line.type === 'begin') running = line;
      if (line.type === 'ran') {
        running = undefined;
        testRunCount++;
        const pendingMutant = this.pending.get(line.mutant)!;
        pendingMutant.tests.get(spec)?.delete(line.test);
        if (line.failed) failures.set(line.mutant, line);
        else if (!line.wasReached) pendingMutant.alone.push({ spec, tests: [line.test] });
      }
      if (line.type === 'control') this.judgeControl(spec, line, failures.get(line.mutant)!);
    }
    if (running) this.judgeUnfinished(spec, running, run);
    // No test could run. Runs with only one mutant show which mutant is the cause.
    else if (testRunCount === 0) for (const { id } of mutants) this.sendAlone(this.pending.get(id), spec);
    this.closeJudged(mutants);
  }

  private judgeControl(spec: RecordedSpec, line: Line & { type: 'control' }, failure: Line & { type: 'ran' }): void {
    const pendingMutant = this.pending.get(line.mutant);
    if (!pendingMutant) return;
    if (!line.failed && failure.wasReached) return this.kill(pendingMutant.mutant, spec, failure);
    this.sendAlone(pendingMutant, spec);
    if (!line.failed) return;
    const key = `${spec.spec} ${line.test}`;
    const failureCount = (this.controlFailures.get(key) ?? 0) + 1;
    this.controlFailures.set(key, failureCount);
    if (failureCount < MAX_CONTROL_FAILURES) return;
    // The test fails when it is repeated in one process, so it runs alone with each mutant that still needs it.
    for (const remaining of this.pending.values())
      if (remaining.tests.get(spec)?.delete(line.test)) remaining.alone.push({ spec, tests: [line.test] });
  }

  private judgeUnfinished(spec: RecordedSpec, { mutant: id, test }: Line & { type: 'begin' }, { end }: Run): void {
    const pendingMutant = this.pending.get(id);
    if (!pendingMutant) return;
    if (end === 'hung')
      this.verdicts.set(pendingMutant.mutant, {
        status: 'timed out',
        spec: spec.spec,
        test: findTestName(spec, test),
        why: 'an endless loop',
      });
    else this.sendAlone(pendingMutant, spec);
  }

  private sendAlone(pendingMutant: PendingMutant | undefined, spec: RecordedSpec): void {
    if (!pendingMutant) return;
    pendingMutant.tests.delete(spec);
    pendingMutant.alone.unshift({ spec, tests: findTests(spec, pendingMutant.mutant.site) });
  }

  /**
   * Applies the result of a run with only one mutant.
   * @param passesWithoutMutant whether the same tests pass without the mutant; if not, the mutant runs again with all
   *   tests of the spec
   */
  judgeAlone({ spec, alone }: SpecRun, run: Run, passesWithoutMutant: boolean): void {
    const { mutant, tests } = alone!;
    const pendingMutant = this.pending.get(mutant.id)!;
    pendingMutant.isBusy = false;
    const failure = findFailure(run);
    if (run.end === 'hung') {
      const why = 'an endless loop';
      this.verdicts.set(mutant, { status: 'timed out', spec: spec.spec, test: '', why });
    } else if (failure !== undefined && (!passesWithoutMutant || !failure.wasReached)) {
      if (pendingMutant.inconclusiveRuns++ < MAX_INCONCLUSIVE_RUNS)
        pendingMutant.alone.unshift({ spec, tests: passesWithoutMutant ? tests : listTests(spec) });
      else
        this.verdicts.set(mutant, {
          status: 'invalid',
          spec: spec.spec,
          test: '',
          why: `a test also fails without the mutant, or before it evaluates the mutant: ${failure.error}`,
        });
    } else if (failure !== undefined) this.kill(mutant, spec, failure);
    this.closeJudged([mutant]);
  }

  private kill(mutant: Mutant, spec: RecordedSpec, failure: Line & { type: 'ran' }): void {
    const usualErrors = spec.tests.find(({ test }) => test === failure.test)?.sqlErrors ?? [];
    const sqlError = mutant.kind === 'sql' ? failure.sqlErrors.find((text) => !usualErrors.includes(text)) : undefined;
    const status = sqlError === undefined ? 'killed' : 'invalid';
    const test = findTestName(spec, failure.test);
    this.verdicts.set(mutant, { status, spec: spec.spec, test, why: sqlError ?? failure.error });
  }

  /** Removes mutants that have a verdict. A mutant without remaining tests has survived. */
  private closeJudged(mutants: readonly Mutant[]): void {
    for (const mutant of mutants) {
      const pendingMutant = this.pending.get(mutant.id);
      if (!pendingMutant) continue;
      const hasRunsLeft =
        pendingMutant.alone.length > 0 || [...pendingMutant.tests.values()].some(({ size }) => size > 0);
      if (!this.verdicts.has(mutant) && !hasRunsLeft)
        this.verdicts.set(mutant, { status: 'survived', specs: pendingMutant.reaching });
      if (this.verdicts.has(mutant)) this.pending.delete(mutant.id);
    }
  }
}

/** The first failure of a run: of a test, or of the whole file. */
export function findFailure({ lines, end, error }: Run): (Line & { type: 'ran' }) | undefined {
  const failed = lines.find((line): line is Line & { type: 'ran' } => line.type === 'ran' && line.failed);
  if (failed || (end === 'ended' && error === undefined)) return failed;
  return { type: 'ran', test: -1, mutant: '', failed: true, wasReached: true, error: error ?? end, sqlErrors: [] };
}

export function createAloneRun(mutant: Mutant | undefined, spec: RecordedSpec, tests: readonly number[]): SpecRun {
  const mutants = mutant ? [mutant] : [];
  const statements = listLoadedStatements(mutants, spec);
  const plan = { kind: 'alone' as const, mutant: mutant?.id ?? '', ms: listDurations(spec), statements, tests };
  return { spec, mutants, plan };
}

function createPendingMutant(mutant: Mutant, specs: readonly RecordedSpec[]): PendingMutant {
  const near = specs.toSorted(compareByNearness(mutant.file));
  const tests = new Map<RecordedSpec, Set<number>>();
  for (const spec of near) {
    const found = findTests(spec, mutant.site);
    if (found.length > 0) tests.set(spec, new Set(found));
  }
  // If a site is evaluated only when a file loads or a service starts, its mutant must be active from the start.
  const loading = tests.size > 0 ? [] : near.filter(({ loadSites }) => loadSites.has(mutant.site));
  const reaching = [...tests.keys(), ...loading].map(({ spec }) => spec);
  const alone = loading.map((spec) => ({ spec, tests: listTests(spec) }));
  return { mutant, tests, alone, nearest: [...tests.keys()][0], reaching, isBusy: false, inconclusiveRuns: 0 };
}

/** All tests that judge mutants: those that read query plans do not. */
function listTests({ tests }: RecordedSpec): number[] {
  return tests.map(({ test }) => test);
}

function listDurations({ tests }: RecordedSpec): Record<number, number> {
  return Object.fromEntries(tests.map(({ test, ms }) => [test, ms]));
}

function findTestName({ tests }: RecordedSpec, number: number): string {
  return tests.find(({ test }) => test === number)?.name ?? '';
}

/** The mutated statements of mutants in SQL that is built when its file loads. */
function listLoadedStatements(mutants: readonly Mutant[], spec: RecordedSpec): LoadedStatement[] {
  return mutants
    .filter(({ site, statement }) => statement && spec.loadSites.has(site))
    .map(({ id, site, statement }) => ({
      site,
      original: statement!.original,
      mutants: { [id]: statement!.mutated },
    }));
}
