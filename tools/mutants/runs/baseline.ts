/** The result of one run of all specs without a mutant: the sites that each test evaluates. */
import type { Run } from './lanes.ts';
import type { Line } from './plan.ts';

export interface RecordedSpec {
  readonly spec: string;
  readonly ms: number;
  readonly tests: readonly RecordedTest[];
  /** Evaluated while no test ran: when the file was loaded or a service started. */
  readonly loadSites: ReadonlySet<string>;
}

export interface RecordedTest {
  readonly test: number;
  readonly name: string;
  readonly ms: number;
  readonly sites: ReadonlySet<string>;
  readonly complaints: readonly string[];
}

/** The recorded run of a spec, or the reason why it cannot judge mutants. */
export function createRecordedSpec(spec: string, run: Run): RecordedSpec | string {
  if (run.error !== undefined) return `${spec}: ${run.error}`;
  const tests = run.lines.filter((line) => line.type === 'test');
  if (tests.length === 0) return `${spec}: it ran no test`;
  const failed = tests.find((test) => test.failed);
  if (failed) return `${spec}: "${failed.name}" fails without a mutant`;
  const load = run.lines.findLast((line): line is Line & { type: 'load' } => line.type === 'load');
  return {
    spec,
    ms: tests.reduce((sum, { ms }) => sum + ms, 0),
    // A guard may change the plan of a statement and still be correct.
    tests: tests.filter(({ readsQueryPlan: isPlan }) => !isPlan).map((test) => ({ ...test, sites: new Set(test.sites) })),
    loadSites: new Set(load?.sites),
  };
}

/** The numbers of the tests of a spec that evaluate a site. */
export function findTests(spec: RecordedSpec, site: string): number[] {
  return spec.tests.filter(({ sites }) => sites.has(site)).map(({ test }) => test);
}

/** The nearest specs first: beside the file, then the fastest. */
export function compareByNearness(file: string): (one: RecordedSpec, other: RecordedSpec) => number {
  return (one, other) => countSharedFolders(other.spec, file) - countSharedFolders(one.spec, file) || one.ms - other.ms;
}

function countSharedFolders(one: string, other: string): number {
  const [left, right] = [one.split('/').slice(0, -1), other.split('/').slice(0, -1)];
  const differs = left.findIndex((folder, at) => folder !== right[at]);
  return differs === -1 ? left.length : differs;
}
