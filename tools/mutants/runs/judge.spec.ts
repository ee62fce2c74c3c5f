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

function spec(name: string, ...tests: { sites: string[]; complaints?: string[] }[]): RecordedSpec {
  const lines = tests.map((test, at): Line => {
    return { type: 'test', test: at, name: `t${at}`, ms: 1, failed: false, readsQueryPlan: false, sqlErrors: [], ...test };
  });
  return createRecordedSpec(name, run(...lines, { type: 'load', sites: [] })) as RecordedSpec;
}
function run(...lines: Line[]): Run {
  return { lines, end: 'ended', error: undefined };
}
const ran = (mutant: Mutant, test: number, failed: boolean, more: object = {}): Line & { type: 'ran' } => {
  return { type: 'ran', test, mutant: mutant.id, failed, wasReached: true, error: 'e', complaints: [], ...more };
};
const control = (mutant: Mutant, test: number, failed: boolean): Line => ({
  type: 'control',
  test,
  mutant: mutant.id,
  failed,
});
const planned = (work: SpecRun | undefined) => work && [work.spec.spec, work.alone?.tests ?? work.plan];

const NEAR = 'apps/x/src/a/a.spec.ts';
const FAR = 'apps/x/src/b/b.int-spec.ts';

it('calls a mutant not reached if no test evaluates it', () => {
  const judge = new Judge([first], [spec(NEAR, { sites: [] })]);
  expect(judge.verdicts.get(first)).toEqual({ is: 'not reached' });
  expect(judge.next()).toBeUndefined();
});

it('runs only the tests that evaluate a mutant, the nearest first, until one fails', () => {
  const judge = new Judge(mutants, [spec(FAR, { sites: [site] }), spec(NEAR, { sites: [] }, { sites: [site] })]);
  const near = judge.next()!;
  expect(near.spec.spec).toBe(NEAR);
  expect(near.plan).toMatchObject({ kind: 'mutants', runs: { 1: [first.id, second.id] } });
  expect(judge.next()).toBeUndefined();
  judge.judgeShared(near, run(ran(first, 1, true), control(first, 1, false), ran(second, 1, false)));
  expect(judge.verdicts.get(first)).toMatchObject({ is: 'killed', spec: NEAR, test: 't1' });

  const far = judge.next()!;
  expect(far.plan).toMatchObject({ runs: { 0: [second.id] } });
  judge.judgeShared(far, run(ran(second, 0, false)));
  expect(judge.verdicts.get(second)).toEqual({ is: 'survived', specs: [NEAR, FAR] });
});

it('runs a mutant alone after a failure of a test that then fails without the mutant too', () => {
  const judge = new Judge([first], [spec(NEAR, { sites: [site] })]);
  judge.judgeShared(judge.next()!, run(ran(first, 0, true), control(first, 0, true)));
  const alone = judge.next()!;
  expect(planned(alone)).toEqual([NEAR, [0]]);
  judge.judgeAlone(alone, run(ran(first, 0, false)), true);
  expect(judge.verdicts.get(first)).toMatchObject({ is: 'survived' });
});

it('runs the whole spec with a mutant if its tests depend on earlier ones', () => {
  const judge = new Judge([first], [spec(NEAR, { sites: [] }, { sites: [site] })]);
  judge.judgeShared(judge.next()!, run(ran(first, 1, false, { wasReached: false })));
  judge.judgeAlone(judge.next()!, run(ran(first, 1, true)), false);
  const whole = judge.next()!;
  expect(whole.alone).toEqual({ mutant: first, tests: undefined });
  judge.judgeAlone(whole, run(ran(first, 1, true)), true);
  expect(judge.verdicts.get(first)).toMatchObject({ is: 'killed' });
});

it('runs a mutant alone if the test did not reach it again', () => {
  const judge = new Judge([first], [spec(NEAR, { sites: [site] })]);
  judge.judgeShared(judge.next()!, run(ran(first, 0, false, { wasReached: false })));
  expect(planned(judge.next())).toEqual([NEAR, [0]]);
});

it('runs a mutant from the start if it is evaluated only while a file loads', () => {
  const loading = { ...spec(NEAR, { sites: [] }), loadSites: new Set([site]) };
  const judge = new Judge([first], [loading]);
  expect(judge.next()).toMatchObject({ alone: { mutant: first }, plan: { kind: 'alone', mutant: first.id } });
});

it('calls an endless loop timed out, and continues with the others', () => {
  const judge = new Judge(mutants, [spec(NEAR, { sites: [site] })]);
  const begin: Line = { type: 'begin', test: 0, mutant: first.id };
  judge.judgeShared(judge.next()!, { lines: [begin], end: 'hung', error: 'hung' });
  expect(judge.verdicts.get(first)).toMatchObject({ is: 'timed out' });
  expect(judge.next()).toMatchObject({ mutants: [second] });
});

it('calls a mutant invalid if PostgreSQL cannot run it, unless the test provokes this error', () => {
  const [sql] = findMutants('apps/x/src/a/a.ts', 'const q = `SELECT 1 FROM t WHERE mode = $1`;') as [Mutant];
  const complaints = ['42601: syntax error'];
  const fails = run(ran(sql, 0, true, { complaints }), control(sql, 0, false));
  for (const [usual, is] of [
    [[], 'invalid'],
    [complaints, 'killed'],
  ] as const) {
    const judge = new Judge([sql], [spec(NEAR, { sites: [sql.site], complaints: [...usual] })]);
    judge.judgeShared(judge.next()!, fails);
    expect(judge.verdicts.get(sql)).toMatchObject({ is });
  }
});

it('abandons a spec in which no test can run', () => {
  const judge = new Judge([first], [spec(NEAR, { sites: [site] })]);
  judge.judgeShared(judge.next()!, { lines: [], end: 'ended', error: 'broken' });
  judge.judgeAlone(judge.next()!, { lines: [], end: 'ended', error: 'broken' }, true);
  expect(judge.verdicts.get(first)).toMatchObject({ is: 'killed', why: 'broken' });
  expect(judge.next()).toBeUndefined();
});
