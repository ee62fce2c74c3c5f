import type { Mutant } from '../mutations/catalogue.ts';
import { findMutants } from '../mutations/catalogue.ts';
import type { RecordedSpec } from './baseline.ts';
import { createRecordedSpec } from './baseline.ts';
import type { SpecRun } from './judge.ts';
import { Judge } from './judge.ts';
import type { Run } from './lanes.ts';
import type { Line } from './plan.ts';

const mutants = findMutants('apps/x/src/a/a.ts', 'function f() { return a.mode === b.mode; }');
const [first, second] = mutants as [Mutant, Mutant];
const { site } = first;

function createSpec(
  name: string,
  ...tests: { sites: string[]; sqlErrors?: string[]; readsQueryPlan?: boolean }[]
): RecordedSpec {
  const lines = tests.map((test, index): Line => {
    return {
      type: 'test',
      test: index,
      name: `t${index}`,
      ms: 1,
      failed: false,
      error: '',
      readsQueryPlan: false,
      sqlErrors: [],
      ...test,
    };
  });
  return createRecordedSpec(name, createRun(...lines, { type: 'load', sites: [] })) as RecordedSpec;
}
function createRun(...lines: Line[]): Run {
  return { lines, end: 'ended', error: undefined };
}
const createRanLine = (mutant: Mutant, test: number, failed: boolean, fields: object = {}): Line & { type: 'ran' } => {
  return { type: 'ran', test, mutant: mutant.id, failed, wasReached: true, error: 'e', sqlErrors: [], ...fields };
};
const createControlLine = (mutant: Mutant, test: number, failed: boolean): Line => ({
  type: 'control',
  test,
  mutant: mutant.id,
  failed,
});
/** The spec of a run, and the tests in which its mutant runs alone. */
const describeAloneRun = (run: SpecRun | undefined) => run && [run.spec.spec, run.alone?.tests];

const NEAR = 'apps/x/src/a/a.spec.ts';
const FAR = 'apps/x/src/b/b.int-spec.ts';

it('the verdict is "not reached" if no test evaluates the mutant', () => {
  const judge = new Judge([first], [createSpec(NEAR, { sites: [] })]);
  expect(judge.verdicts.get(first)).toEqual({ status: 'not reached' });
  expect(judge.next()).toBeUndefined();
});

it('a mutant runs only with the tests that evaluate it, the nearest first, until one fails', () => {
  const judge = new Judge(mutants, [
    createSpec(FAR, { sites: [site] }),
    createSpec(NEAR, { sites: [] }, { sites: [site] }),
  ]);
  const near = judge.next()!;
  expect(near.spec.spec).toBe(NEAR);
  expect(near.plan).toMatchObject({ kind: 'mutants', runs: { 1: [first.id, second.id] } });
  expect(judge.next()).toBeUndefined();
  judge.judgeShared(
    near,
    createRun(createRanLine(first, 1, true), createControlLine(first, 1, false), createRanLine(second, 1, false)),
  );
  expect(judge.verdicts.get(first)).toMatchObject({ status: 'killed', spec: NEAR, test: 't1' });

  const far = judge.next()!;
  expect(far.plan).toMatchObject({ runs: { 0: [second.id] } });
  judge.judgeShared(far, createRun(createRanLine(second, 0, false)));
  expect(judge.verdicts.get(second)).toEqual({ status: 'survived', specs: [NEAR, FAR] });
});

it('a mutant runs alone after a test failed with the mutant and then also without it', () => {
  const judge = new Judge([first], [createSpec(NEAR, { sites: [site] })]);
  judge.judgeShared(judge.next()!, createRun(createRanLine(first, 0, true), createControlLine(first, 0, true)));
  const alone = judge.next()!;
  expect(describeAloneRun(alone)).toEqual([NEAR, [0]]);
  judge.judgeAlone(alone, createRun(createRanLine(first, 0, false)), true);
  expect(judge.verdicts.get(first)).toMatchObject({ status: 'survived' });
});

it('a mutant runs with the whole spec if the tests that evaluate it depend on earlier tests', () => {
  const judge = new Judge([first], [createSpec(NEAR, { sites: [] }, { sites: [site] })]);
  judge.judgeShared(judge.next()!, createRun(createRanLine(first, 1, false, { wasReached: false })));
  judge.judgeAlone(judge.next()!, createRun(createRanLine(first, 1, true)), false);
  const whole = judge.next()!;
  expect(whole.alone).toEqual({ mutant: first, tests: [0, 1] });
  judge.judgeAlone(whole, createRun(createRanLine(first, 1, true)), true);
  expect(judge.verdicts.get(first)).toMatchObject({ status: 'killed' });
});

it('a mutant is not killed by a spec that also fails without the mutant', () => {
  const judge = new Judge([first], [createSpec(NEAR, { sites: [site] })]);
  judge.judgeShared(judge.next()!, createRun(createRanLine(first, 0, false, { wasReached: false })));
  for (let run = judge.next(); run !== undefined; run = judge.next())
    judge.judgeAlone(run, createRun(createRanLine(first, 0, true)), false);
  expect(judge.verdicts.get(first)).toMatchObject({ status: 'invalid', why: expect.stringContaining('without') });
});

it('a test that reads a query plan judges no mutant, also not in a run with only one mutant', () => {
  const loadingSpec = {
    ...createSpec(NEAR, { sites: [] }, { sites: [], readsQueryPlan: true }, { sites: [] }),
    loadSites: new Set([site]),
  };
  expect(describeAloneRun(new Judge([first], [loadingSpec]).next())).toEqual([NEAR, [0, 2]]);
});

it('a mutant runs alone if its test does not evaluate it when the test is repeated', () => {
  const judge = new Judge([first], [createSpec(NEAR, { sites: [site] })]);
  judge.judgeShared(judge.next()!, createRun(createRanLine(first, 0, false, { wasReached: false })));
  expect(describeAloneRun(judge.next())).toEqual([NEAR, [0]]);
});

it('a mutant that is evaluated only when a file loads is active from the start of its run', () => {
  const loadingSpec = { ...createSpec(NEAR, { sites: [] }), loadSites: new Set([site]) };
  const judge = new Judge([first], [loadingSpec]);
  expect(judge.next()).toMatchObject({ alone: { mutant: first }, plan: { kind: 'alone', mutant: first.id } });
});

it('the verdict is "timed out" for an endless loop, and the other mutants run afterwards', () => {
  const judge = new Judge(mutants, [createSpec(NEAR, { sites: [site] })]);
  const begin: Line = { type: 'begin', test: 0, mutant: first.id };
  judge.judgeShared(judge.next()!, { lines: [begin], end: 'hung', error: 'hung' });
  expect(judge.verdicts.get(first)).toMatchObject({ status: 'timed out' });
  expect(judge.next()).toMatchObject({ mutants: [second] });
});

it('the verdict is "invalid" if PostgreSQL rejects the mutated statement, unless the test itself provokes this error', () => {
  const [sql] = findMutants('apps/x/src/a/a.ts', 'const q = `SELECT 1 FROM t WHERE mode = $1`;') as [Mutant];
  const sqlErrors = ['42601: syntax error'];
  const failedRun = createRun(createRanLine(sql, 0, true, { sqlErrors }), createControlLine(sql, 0, false));
  for (const [errorsWithoutMutant, status] of [
    [[], 'invalid'],
    [sqlErrors, 'killed'],
  ] as const) {
    const judge = new Judge([sql], [createSpec(NEAR, { sites: [sql.site], sqlErrors: [...errorsWithoutMutant] })]);
    judge.judgeShared(judge.next()!, failedRun);
    expect(judge.verdicts.get(sql)).toMatchObject({ status });
  }
});

it('the verdict is "killed" if a mutant prevents all tests of a spec from running', () => {
  const judge = new Judge([first], [createSpec(NEAR, { sites: [site] })]);
  judge.judgeShared(judge.next()!, { lines: [], end: 'ended', error: 'broken' });
  judge.judgeAlone(judge.next()!, { lines: [], end: 'ended', error: 'broken' }, true);
  expect(judge.verdicts.get(first)).toMatchObject({ status: 'killed', why: 'broken' });
  expect(judge.next()).toBeUndefined();
});
