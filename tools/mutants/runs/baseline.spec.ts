import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { RecordedSpec } from './baseline.ts';
import { compareByNearness, createRecordedSpec, findTests } from './baseline.ts';
import { openBaselineCache } from './baseline-cache.ts';
import type { Run } from './lanes.ts';
import type { Line } from './plan.ts';

const SPEC = 'apps/x/src/a/a.spec.ts';
const createTestLine = (number: number, fields: object = {}): Line => {
  return {
    type: 'test',
    test: number,
    name: `t${number}`,
    ms: 5,
    failed: false,
    sites: [],
    error: '',
    readsQueryPlan: false,
    sqlErrors: [],
    ...fields,
  };
};
const createRun = (...lines: Line[]): Run => ({ lines, end: 'ended', error: undefined });

/** A site is an expression that has mutants. */
describe('the sites of a spec', () => {
  it('are recorded for each test, and separately for the loading of the file', () => {
    const spec = createRecordedSpec(
      SPEC,
      createRun(createTestLine(0), createTestLine(1, { sites: ['s'] }), { type: 'load', sites: ['l'] }),
    ) as RecordedSpec;
    expect([findTests(spec, 's'), findTests(spec, 'l'), spec.loadSites.has('l'), spec.ms]).toEqual([[1], [], true, 10]);
  });

  it('are not recorded for a test that reads query plans', () => {
    const spec = createRecordedSpec(
      SPEC,
      createRun(createTestLine(0, { sites: ['s'], readsQueryPlan: true })),
    ) as RecordedSpec;
    expect(findTests(spec, 's')).toEqual([]);
  });

  it('are not recorded for a spec that fails or runs no test', () => {
    expect(createRecordedSpec(SPEC, createRun(createTestLine(0, { failed: true, error: 'expected 1' })))).toBe(
      `${SPEC}: "t0" fails without a mutant: expected 1`,
    );
    expect(createRecordedSpec(SPEC, createRun({ type: 'end' }))).toBe(`${SPEC}: it ran no test`);
    expect(createRecordedSpec(SPEC, { lines: [], end: 'ended', error: 'no such module' })).toBe(
      `${SPEC}: no such module`,
    );
  });
});

it('compareByNearness orders specs by the number of folders shared with the code, then by duration', () => {
  const specs = [
    ['apps/x/src/b/b.spec.ts', 1],
    ['apps/x/src/a/slow.spec.ts', 9],
    ['apps/x/src/a/quick.spec.ts', 2],
  ].map(([spec, ms]) => ({ spec, ms, tests: [], loadSites: new Set() }) as RecordedSpec);
  expect(specs.toSorted(compareByNearness('apps/x/src/a/a.ts')).map(({ ms }) => ms)).toEqual([2, 9, 1]);
});

describe('the cache of recorded specs', () => {
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
  const spec = createRecordedSpec(
    SPEC,
    createRun(createTestLine(0, { sites: ['s'] }), { type: 'load', sites: ['l'] }),
  ) as RecordedSpec;
  const find = (): RecordedSpec | undefined => openBaselineCache(root, join(root, '.data')).find(SPEC);

  it('still contains an entry when only other specs have changed', () => {
    openBaselineCache(root, join(root, '.data')).store(spec);
    write('apps/x/src/b/b.spec.ts', 'changed');
    expect(find()).toEqual(spec);
  });

  it.each([SPEC, 'apps/x/src/a/a.ts', 'apps/x/test/new.ts'])(
    'no longer contains an entry when %s has changed',
    (file) => {
      openBaselineCache(root, join(root, '.data')).store(spec);
      write(file, 'changed');
      expect(find()).toBeUndefined();
    },
  );
});
