/** The result of one run of a spec without a mutant: the sites (expressions with mutants) that each test evaluates. */
import type { Run } from './lanes.ts';
import type { Line } from './plan.ts';

export interface RecordedSpec {
  readonly spec: string;
  readonly ms: number;
  readonly tests: readonly RecordedTest[];
  /** Sites that were evaluated while no test ran: when a file was loaded or a service started. */
  readonly loadSites: ReadonlySet<string>;
}

export interface RecordedTest {
  readonly test: number;
  readonly name: string;
  readonly ms: number;
  readonly sites: ReadonlySet<string>;
  readonly sqlErrors: readonly string[];
}

/** The recorded run of a spec, or as a text the reason why the spec cannot judge mutants. */
export function createRecordedSpec(spec: string, run: Run): RecordedSpec | string {
  if (run.error !== undefined) return `${spec}: ${run.error}`;
  const tests = run.lines.filter((line) => line.type === 'test');
  if (tests.length === 0) return `${spec}: it ran no test`;
  const failed = tests.find((test) => test.failed);
  if (failed) return `${spec}: "${failed.name}" fails without a mutant: ${failed.error}`;
  const load = run.lines.findLast((line): line is Line & { type: 'load' } => line.type === 'load');
  return {
    spec,
    ms: tests.reduce((sum, { ms }) => sum + ms, 0),
    // A test that reads query plans fails when a mutant changes only the plan of a statement, and not its result.
    tests: tests
      .filter(({ readsQueryPlan }) => !readsQueryPlan)
      .map((test) => ({ ...test, sites: new Set(test.sites) })),
    loadSites: new Set(load?.sites),
  };
}

/** The numbers of the tests of a spec that evaluate a site. */
export function findTests(spec: RecordedSpec, site: string): number[] {
  return spec.tests.filter(({ sites }) => sites.has(site)).map(({ test }) => test);
}

/** Sorts specs by the number of folders that they share with the file, most first. Among equals, the fastest first. */
export function compareByNearness(file: string): (a: RecordedSpec, b: RecordedSpec) => number {
  return (a, b) => countSharedFolders(b.spec, file) - countSharedFolders(a.spec, file) || a.ms - b.ms;
}

function countSharedFolders(a: string, b: string): number {
  const [left, right] = [a.split('/').slice(0, -1), b.split('/').slice(0, -1)];
  const differs = left.findIndex((folder, index) => folder !== right[index]);
  return differs === -1 ? left.length : differs;
}
