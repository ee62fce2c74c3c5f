/** Keeps what is still to be run for each mutant, and judges it by what came of that. */
import { byNearness, testsOf } from './baseline.ts';
import type { RecordedSpec } from './baseline.ts';
import type { Mutant } from '../mutations/catalogue.ts';
import type { PlanOf, Run } from './lanes.ts';
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
export interface Work {
  readonly spec: RecordedSpec;
  readonly plan: PlanOf;
  readonly mutants: readonly Mutant[];
  /** Of one mutant from the beginning on: the tests, all where it is not said. */
  readonly alone?: { readonly mutant: Mutant; readonly tests: readonly number[] | undefined };
}

interface Open {
  readonly mutant: Mutant;
  /** By spec: the tests that evaluate it and have not been run with it. */
  readonly tests: Map<RecordedSpec, Set<number>>;
  /** Runs with nothing but this mutant, where the others would be in its way. */
  readonly alone: { spec: RecordedSpec; tests: readonly number[] | undefined }[];
  readonly nearest: RecordedSpec | undefined;
  readonly reaching: readonly string[];
  isBusy: boolean;
  /** Runs alone that said nothing, because something else failed before the mutant was evaluated. */
  vainRuns: number;
}

/** A test that failed this often with a mutant and then also without is run alone from then on. */
const STRIKES_MAX = 2;
const VAIN_RUNS_MAX = 3;

export class Judge {
  readonly verdicts = new Map<Mutant, Verdict>();
  private readonly open = new Map<string, Open>();
  private readonly specs: readonly RecordedSpec[];
  private readonly strikes = new Map<string, number>();
  private readonly visited = new Set<RecordedSpec>();

  constructor(mutants: readonly Mutant[], specs: readonly RecordedSpec[]) {
    this.specs = specs.toSorted((one, other) => one.ms - other.ms);
    for (const mutant of mutants) {
      const open = opened(mutant, specs);
      if (open.reaching.length === 0) this.verdicts.set(mutant, { is: 'not reached' });
      else this.open.set(mutant.id, open);
    }
  }

  /** What to run next; undefined while others are at all that is left, or when nothing is. */
  next(): Work | undefined {
    const work =
      this.nextShared(({ nearest }, spec) => nearest === spec && !this.visited.has(spec)) ?? this.nextAlone();
    return this.begun(work ?? this.nextShared(() => true));
  }

  private begun(work: Work | undefined): Work | undefined {
    for (const { id } of work?.mutants ?? []) this.open.get(id)!.isBusy = true;
    return work;
  }

  /** First each spec with the mutants beside it; what survives that, with all the rest. */
  private nextShared(takes: (open: Open, spec: RecordedSpec) => boolean): Work | undefined {
    for (const spec of this.specs) {
      const taken = [...this.open.values()].filter(
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
        plan: { kind: 'mutants', runs, ms: durationsOf(spec), statements: loadedStatements(mutants, spec) },
      };
    }
    return undefined;
  }

  private nextAlone(): Work | undefined {
    const open = [...this.open.values()].find(({ isBusy, alone }) => !isBusy && alone.length > 0);
    if (!open) return undefined;
    const { mutant } = open;
    const { spec, tests } = open.alone.shift()!;
    return { ...aloneWork(mutant, spec, tests), alone: { mutant, tests } };
  }

  /** Takes over what came of a run with several mutants. */
  judgeShared({ spec, mutants }: Work, run: Run): void {
    for (const { id } of mutants) this.open.get(id)!.isBusy = false;
    const failures = new Map<string, Line & { type: 'ran' }>();
    let running: (Line & { type: 'begin' }) | undefined;
    let ran = 0;
    for (const line of run.lines) {
      if (line.type === 'begin') running = line;
      if (line.type === 'ran') {
        running = undefined;
        ran++;
        const open = this.open.get(line.mutant)!;
        open.tests.get(spec)?.delete(line.test);
        if (line.failed) failures.set(line.mutant, line);
        else if (!line.wasReached) open.alone.push({ spec, tests: [line.test] });
      }
      if (line.type === 'control') this.judgeControl(spec, line, failures.get(line.mutant)!);
    }
    if (running) this.judgeUnfinished(spec, running, run);
    // Not one test could be run: with a mutant alone it shows which it is.
    else if (ran === 0) for (const { id } of mutants) this.sendAlone(this.open.get(id), spec);
    this.settle(mutants);
  }

  private judgeControl(spec: RecordedSpec, line: Line & { type: 'control' }, failure: Line & { type: 'ran' }): void {
    const open = this.open.get(line.mutant);
    if (!open) return;
    if (!line.failed && failure.wasReached) return this.kill(open.mutant, spec, failure);
    this.sendAlone(open, spec);
    if (!line.failed) return;
    const key = `${spec.spec} ${line.test}`;
    const strikes = (this.strikes.get(key) ?? 0) + 1;
    this.strikes.set(key, strikes);
    if (strikes < STRIKES_MAX) return;
    // It cannot be run twice in one process.
    for (const other of this.open.values())
      if (other.tests.get(spec)?.delete(line.test)) other.alone.push({ spec, tests: [line.test] });
  }

  private judgeUnfinished(spec: RecordedSpec, { mutant: id, test }: Line & { type: 'begin' }, { end }: Run): void {
    const open = this.open.get(id);
    if (!open) return;
    if (end === 'hung')
      this.verdicts.set(open.mutant, {
        is: 'timed out',
        spec: spec.spec,
        test: nameOf(spec, test),
        why: 'an endless loop',
      });
    else this.sendAlone(open, spec);
  }

  private sendAlone(open: Open | undefined, spec: RecordedSpec): void {
    if (!open) return;
    open.tests.delete(spec);
    open.alone.unshift({ spec, tests: testsOf(spec, open.mutant.site) });
  }

  /**
   * Takes over what came of a mutant alone. `isFitWithout` says whether the same tests pass without it; where they do
   * not, all tests of the file are run.
   */
  judgeAlone({ spec, alone }: Work, run: Run, isFitWithout: boolean): void {
    const { mutant, tests } = alone!;
    const open = this.open.get(mutant.id)!;
    open.isBusy = false;
    const failure = failureOf(run);
    if (run.end === 'hung') {
      const why = 'an endless loop';
      this.verdicts.set(mutant, { is: 'timed out', spec: spec.spec, test: '', why });
    } else if (failure !== undefined && (!isFitWithout || !failure.wasReached)) {
      if (open.vainRuns++ < VAIN_RUNS_MAX) open.alone.unshift({ spec, tests: isFitWithout ? tests : undefined });
      else
        this.verdicts.set(mutant, {
          is: 'invalid',
          spec: spec.spec,
          test: '',
          why: `fails before it: ${failure.error}`,
        });
    } else if (failure !== undefined) this.kill(mutant, spec, failure);
    this.settle([mutant]);
  }

  private kill(mutant: Mutant, spec: RecordedSpec, failure: Line & { type: 'ran' }): void {
    const usual = spec.tests.find(({ test }) => test === failure.test)?.complaints ?? [];
    const complaint = mutant.kind === 'sql' ? failure.complaints.find((text) => !usual.includes(text)) : undefined;
    const is = complaint === undefined ? 'killed' : 'invalid';
    const test = nameOf(spec, failure.test);
    this.verdicts.set(mutant, { is, spec: spec.spec, test, why: complaint ?? failure.error });
  }

  /** What is judged is closed; what has nothing left to run has survived. */
  private settle(mutants: readonly Mutant[]): void {
    for (const mutant of mutants) {
      const open = this.open.get(mutant.id);
      if (!open) continue;
      const isLeft = open.alone.length > 0 || [...open.tests.values()].some(({ size }) => size > 0);
      if (!this.verdicts.has(mutant) && !isLeft) this.verdicts.set(mutant, { is: 'survived', specs: open.reaching });
      if (this.verdicts.has(mutant)) this.open.delete(mutant.id);
    }
  }
}

/** What failed with the mutant: a test, or the file as a whole. */
export function failureOf({ lines, end, error }: Run): (Line & { type: 'ran' }) | undefined {
  const failed = lines.find((line): line is Line & { type: 'ran' } => line.type === 'ran' && line.failed);
  if (failed || (end === 'ended' && error === undefined)) return failed;
  return { type: 'ran', test: -1, mutant: '', failed: true, wasReached: true, error: error ?? end, complaints: [] };
}

export function aloneWork(mutant: Mutant | undefined, spec: RecordedSpec, tests: readonly number[] | undefined): Work {
  const mutants = mutant ? [mutant] : [];
  const statements = loadedStatements(mutants, spec);
  const plan = {
    kind: 'alone' as const,
    mutant: mutant?.id ?? '',
    ms: durationsOf(spec),
    statements,
    ...(tests ? { tests } : {}),
  };
  return { spec, mutants, plan };
}

function opened(mutant: Mutant, specs: readonly RecordedSpec[]): Open {
  const near = specs.toSorted(byNearness(mutant.file));
  const tests = new Map<RecordedSpec, Set<number>>();
  for (const spec of near) {
    const found = testsOf(spec, mutant.site);
    if (found.length > 0) tests.set(spec, new Set(found));
  }
  // Evaluated only when a file is loaded or a service starts: it must be active from the beginning on.
  const loading = tests.size > 0 ? [] : near.filter(({ loadSites }) => loadSites.has(mutant.site));
  const reaching = [...tests.keys(), ...loading].map(({ spec }) => spec);
  const alone = loading.map((spec) => ({ spec, tests: undefined }));
  return { mutant, tests, alone, nearest: [...tests.keys()][0], reaching, isBusy: false, vainRuns: 0 };
}

function durationsOf({ tests }: RecordedSpec): Record<number, number> {
  return Object.fromEntries(tests.map(({ test, ms }) => [test, ms]));
}

function nameOf({ tests }: RecordedSpec, number: number): string {
  return tests.find(({ test }) => test === number)?.name ?? '';
}

/** Of mutants whose SQL is put together when its file is loaded: how the statement reads with them. */
function loadedStatements(mutants: readonly Mutant[], spec: RecordedSpec): LoadedStatement[] {
  return mutants
    .filter(({ site, statement }) => statement && spec.loadSites.has(site))
    .map(({ id, site, statement }) => ({ site, original: statement!.original, mutants: { [id]: statement!.mutated } }));
}
