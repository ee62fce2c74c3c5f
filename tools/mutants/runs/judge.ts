/** Schedules the remaining runs of each mutant, and judges it by their results. */
import type { Mutant } from '../mutations/catalogue.ts';
import type { RecordedSpec } from './baseline.ts';
import { compareByNearness, findTests } from './baseline.ts';
import type { LanePlan, Run } from './lanes.ts';
import type { Line, LoadedStatement } from './plan.ts';

export type Verdict =
  | {
      readonly is: 'killed' | 'timed out' | 'invalid';
      readonly spec: string;
      readonly test: string;
      readonly why: string;
    }
  | { readonly is: 'survived'; readonly specs: readonly string[] }
  | { readonly is: 'not reached' };

/** One run of one spec file. */
export interface SpecRun {
  readonly spec: RecordedSpec;
  readonly plan: LanePlan;
  readonly mutants: readonly Mutant[];
  /** One mutant from the start: the given tests, by default all. */
  readonly alone?: { readonly mutant: Mutant; readonly tests: readonly number[] | undefined };
}

interface PendingMutant {
  readonly mutant: Mutant;
  /** By spec: the tests that evaluate it and have not run with it. */
  readonly tests: Map<RecordedSpec, Set<number>>;
  /** Runs alone, because other mutants would interfere. */
  readonly alone: { spec: RecordedSpec; tests: readonly number[] | undefined }[];
  readonly nearest: RecordedSpec | undefined;
  readonly reaching: readonly string[];
  isBusy: boolean;
  /** Runs alone without a result, because something else failed before the mutant was evaluated. */
  inconclusiveRuns: number;
}

/** A test that failed this often with a mutant and then also without it runs alone from then on. */
const MAX_STRIKES = 2;
const MAX_INCONCLUSIVE_RUNS = 3;

export class Judge {
  readonly verdicts = new Map<Mutant, Verdict>();
  private readonly pending = new Map<string, PendingMutant>();
  private readonly specs: readonly RecordedSpec[];
  private readonly strikes = new Map<string, number>();
  private readonly visited = new Set<RecordedSpec>();

  constructor(mutants: readonly Mutant[], specs: readonly RecordedSpec[]) {
    this.specs = specs.toSorted((one, other) => one.ms - other.ms);
    for (const mutant of mutants) {
      const open = createPendingMutant(mutant, specs);
      if (open.reaching.length === 0) this.verdicts.set(mutant, { is: 'not reached' });
      else this.pending.set(mutant.id, open);
    }
  }

  /** The next work; undefined while others run everything that is left, or when nothing is left. */
  next(): SpecRun | undefined {
    const work =
      this.nextShared(({ nearest }, spec) => nearest === spec && !this.visited.has(spec)) ?? this.nextAlone();
    return this.markBusy(work ?? this.nextShared(() => true));
  }

  private markBusy(work: SpecRun | undefined): SpecRun | undefined {
    for (const { id } of work?.mutants ?? []) this.pending.get(id)!.isBusy = true;
    return work;
  }

  /** First each spec with the mutants beside it, then with all surviving ones. */
  private nextShared(takes: (open: PendingMutant, spec: RecordedSpec) => boolean): SpecRun | undefined {
    for (const spec of this.specs) {
      const taken = [...this.pending.values()].filter(
        (open) => !open.isBusy && (open.tests.get(spec)?.size ?? 0) > 0 && takes(open, spec),
      );
      if (taken.length === 0) continue;
      this.visited.add(spec);
      const runs: Record<number, string[]> = {};
      for (const { mutant, tests } of taken) for (const test of tests.get(spec)!) (runs[test] ??= []).push(mutant.id);
      const mutants = taken.map(({ mutant }) => mutant);
      return {
        spec,
        mutants,
        plan: { kind: 'mutants', runs, ms: listDurations(spec), statements: listLoadedStatements(mutants, spec) },
      };
    }
    return undefined;
  }

  private nextAlone(): SpecRun | undefined {
    const open = [...this.pending.values()].find(({ isBusy, alone }) => !isBusy && alone.length > 0);
    if (!open) return undefined;
    const { mutant } = open;
    const { spec, tests } = open.alone.shift()!;
    return { ...createAloneRun(mutant, spec, tests), alone: { mutant, tests } };
  }

  /** Applies the results of a run with several mutants. */
  judgeShared({ spec, mutants }: SpecRun, run: Run): void {
    for (const { id } of mutants) this.pending.get(id)!.isBusy = false;
    const failures = new Map<string, Line & { type: 'ran' }>();
    let running: (Line & { type: 'begin' }) | undefined;
    let ran = 0;
    for (const line of run.lines) {
      if (line.type === 'begin') running = line;
      if (line.type === 'ran') {
        running = undefined;
        ran++;
        const open = this.pending.get(line.mutant)!;
        open.tests.get(spec)?.delete(line.test);
        if (line.failed) failures.set(line.mutant, line);
        else if (!line.wasReached) open.alone.push({ spec, tests: [line.test] });
      }
      if (line.type === 'control') this.judgeControl(spec, line, failures.get(line.mutant)!);
    }
    if (running) this.judgeUnfinished(spec, running, run);
    // Not one test could be run: with a mutant alone it shows which it is.
    else if (ran === 0) for (const { id } of mutants) this.sendAlone(this.pending.get(id), spec);
    this.closeJudged(mutants);
  }

  private judgeControl(spec: RecordedSpec, line: Line & { type: 'control' }, failure: Line & { type: 'ran' }): void {
    const open = this.pending.get(line.mutant);
    if (!open) return;
    if (!line.failed && failure.wasReached) return this.kill(open.mutant, spec, failure);
    this.sendAlone(open, spec);
    if (!line.failed) return;
    const key = `${spec.spec} ${line.test}`;
    const strikes = (this.strikes.get(key) ?? 0) + 1;
    this.strikes.set(key, strikes);
    if (strikes < MAX_STRIKES) return;
    // It cannot run twice in one process.
    for (const other of this.pending.values())
      if (other.tests.get(spec)?.delete(line.test)) other.alone.push({ spec, tests: [line.test] });
  }

  private judgeUnfinished(spec: RecordedSpec, { mutant: id, test }: Line & { type: 'begin' }, { end }: Run): void {
    const open = this.pending.get(id);
    if (!open) return;
    if (end === 'hung')
      this.verdicts.set(open.mutant, {
        is: 'timed out',
        spec: spec.spec,
        test: findTestName(spec, test),
        why: 'an endless loop',
      });
    else this.sendAlone(open, spec);
  }

  private sendAlone(open: PendingMutant | undefined, spec: RecordedSpec): void {
    if (!open) return;
    open.tests.delete(spec);
    open.alone.unshift({ spec, tests: findTests(spec, open.mutant.site) });
  }

  /**
   * Applies the result of a mutant that ran alone. `isFitWithout`: the same tests pass without it; if not, all tests of the
   * file run.
   */
  judgeAlone({ spec, alone }: SpecRun, run: Run, isFitWithout: boolean): void {
    const { mutant, tests } = alone!;
    const open = this.pending.get(mutant.id)!;
    open.isBusy = false;
    const failure = findFailure(run);
    if (run.end === 'hung') {
      const why = 'an endless loop';
      this.verdicts.set(mutant, { is: 'timed out', spec: spec.spec, test: '', why });
    } else if (failure !== undefined && (!isFitWithout || !failure.wasReached)) {
      if (open.inconclusiveRuns++ < MAX_INCONCLUSIVE_RUNS)
        open.alone.unshift({ spec, tests: isFitWithout ? tests : undefined });
      else
        this.verdicts.set(mutant, {
          is: 'invalid',
          spec: spec.spec,
          test: '',
          why: `fails before it: ${failure.error}`,
        });
    } else if (failure !== undefined) this.kill(mutant, spec, failure);
    this.closeJudged([mutant]);
  }

  private kill(mutant: Mutant, spec: RecordedSpec, failure: Line & { type: 'ran' }): void {
    const usual = spec.tests.find(({ test }) => test === failure.test)?.complaints ?? [];
    const complaint = mutant.kind === 'sql' ? failure.complaints.find((text) => !usual.includes(text)) : undefined;
    const is = complaint === undefined ? 'killed' : 'invalid';
    const test = findTestName(spec, failure.test);
    this.verdicts.set(mutant, { is, spec: spec.spec, test, why: complaint ?? failure.error });
  }

  /** Closes judged mutants; a mutant without remaining tests has survived. */
  private closeJudged(mutants: readonly Mutant[]): void {
    for (const mutant of mutants) {
      const open = this.pending.get(mutant.id);
      if (!open) continue;
      const isLeft = open.alone.length > 0 || [...open.tests.values()].some(({ size }) => size > 0);
      if (!this.verdicts.has(mutant) && !isLeft) this.verdicts.set(mutant, { is: 'survived', specs: open.reaching });
      if (this.verdicts.has(mutant)) this.pending.delete(mutant.id);
    }
  }
}

/** The failure with the mutant: of a test, or of the file as a whole. */
export function findFailure({ lines, end, error }: Run): (Line & { type: 'ran' }) | undefined {
  const failed = lines.find((line): line is Line & { type: 'ran' } => line.type === 'ran' && line.failed);
  if (failed || (end === 'ended' && error === undefined)) return failed;
  return { type: 'ran', test: -1, mutant: '', failed: true, wasReached: true, error: error ?? end, complaints: [] };
}

export function createAloneRun(mutant: Mutant | undefined, spec: RecordedSpec, tests: readonly number[] | undefined): SpecRun {
  const mutants = mutant ? [mutant] : [];
  const statements = listLoadedStatements(mutants, spec);
  const plan = {
    kind: 'alone' as const,
    mutant: mutant?.id ?? '',
    ms: listDurations(spec),
    statements,
    ...(tests ? { tests } : {}),
  };
  return { spec, mutants, plan };
}

function createPendingMutant(mutant: Mutant, specs: readonly RecordedSpec[]): PendingMutant {
  const near = specs.toSorted(compareByNearness(mutant.file));
  const tests = new Map<RecordedSpec, Set<number>>();
  for (const spec of near) {
    const found = findTests(spec, mutant.site);
    if (found.length > 0) tests.set(spec, new Set(found));
  }
  // Evaluated only when a file loads or a service starts, so it must be active from the start.
  const loading = tests.size > 0 ? [] : near.filter(({ loadSites }) => loadSites.has(mutant.site));
  const reaching = [...tests.keys(), ...loading].map(({ spec }) => spec);
  const alone = loading.map((spec) => ({ spec, tests: undefined }));
  return { mutant, tests, alone, nearest: [...tests.keys()][0], reaching, isBusy: false, inconclusiveRuns: 0 };
}

function listDurations({ tests }: RecordedSpec): Record<number, number> {
  return Object.fromEntries(tests.map(({ test, ms }) => [test, ms]));
}

function findTestName({ tests }: RecordedSpec, number: number): string {
  return tests.find(({ test }) => test === number)?.name ?? '';
}

/** For mutants of SQL that is built when its file loads: their mutated statements. */
function listLoadedStatements(mutants: readonly Mutant[], spec: RecordedSpec): LoadedStatement[] {
  return mutants
    .filter(({ site, statement }) => statement && spec.loadSites.has(site))
    .map(({ id, site, statement }) => ({ site, original: statement!.original, mutants: { [id]: statement!.applyMutation } }));
}
