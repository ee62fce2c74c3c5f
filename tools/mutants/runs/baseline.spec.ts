import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openBaselineCache } from './baseline-cache.ts';
import { byNearness, recorded, testsOf } from './baseline.ts';
import type { RecordedSpec } from './baseline.ts';
import type { Run } from './lanes.ts';
import type { Line } from './plan.ts';

const SPEC = 'apps/x/src/a/a.spec.ts';
const test = (number: number, more: object = {}): Line => {
  return {
    type: 'test',
    test: number,
    name: `t${number}`,
    ms: 5,
    failed: false,
    sites: [],
    isPlan: false,
    complaints: [],
    ...more,
  };
};
const run = (...lines: Line[]): Run => ({ lines, end: 'ended', error: undefined });

describe('what a spec evaluates', () => {
  it('is known by test, and apart from that what loading it evaluates', () => {
    const spec = recorded(
      SPEC,
      run(test(0), test(1, { sites: ['s'] }), { type: 'load', sites: ['l'] }),
    ) as RecordedSpec;
    expect([testsOf(spec, 's'), testsOf(spec, 'l'), spec.loadSites.has('l'), spec.ms]).toEqual([[1], [], true, 10]);
  });

  it('is not asked of a test that looks at plans', () => {
    const spec = recorded(SPEC, run(test(0, { sites: ['s'], isPlan: true }))) as RecordedSpec;
    expect(testsOf(spec, 's')).toEqual([]);
  });

  it('is not to be had from a spec that fails', () => {
    expect(recorded(SPEC, run(test(0, { failed: true })))).toBe(`${SPEC}: "t0" fails without a mutant`);
    expect(recorded(SPEC, run({ type: 'end' }))).toBe(`${SPEC}: it ran no test`);
    expect(recorded(SPEC, { lines: [], end: 'ended', error: 'no such module' })).toBe(`${SPEC}: no such module`);
  });
});

it('comes first in the folder of the code, then where it is quickest', () => {
  const specs = [
    ['apps/x/src/b/b.spec.ts', 1],
    ['apps/x/src/a/slow.spec.ts', 9],
    ['apps/x/src/a/quick.spec.ts', 2],
  ].map(([spec, ms]) => ({ spec, ms, tests: [], loadSites: new Set() }) as RecordedSpec);
  expect(specs.toSorted(byNearness('apps/x/src/a/a.ts')).map(({ ms }) => ms)).toEqual([2, 9, 1]);
});

describe('the cache', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'mutants-'));
    write(SPEC, 'spec');
    write('apps/x/src/a/a.ts', 'code');
    write('apps/x/src/b/b.spec.ts', 'other spec');
  });
  afterEach(() => rmSync(root, { recursive: true }));
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  const spec = recorded(SPEC, run(test(0, { sites: ['s'] }), { type: 'load', sites: ['l'] })) as RecordedSpec;
  const find = (): RecordedSpec | undefined => openBaselineCache(root, join(root, '.data')).find(SPEC);

  it('keeps it while only other specs change', () => {
    openBaselineCache(root, join(root, '.data')).keep(spec);
    write('apps/x/src/b/b.spec.ts', 'changed');
    expect(find()).toEqual(spec);
  });

  it.each([SPEC, 'apps/x/src/a/a.ts', 'apps/x/test/new.ts'])('forgets it when %s changes', (file) => {
    openBaselineCache(root, join(root, '.data')).keep(spec);
    write(file, 'changed');
    expect(find()).toBeUndefined();
  });
});
