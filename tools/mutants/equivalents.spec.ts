import { matchEquivalents } from './equivalents.ts';
import { findMutants } from './mutations/catalogue.ts';

const FILE = 'apps/x/src/x.ts';
const mutants = findMutants(FILE, 'function f() { return a.mode === b.mode || c(a.mode === b.mode); }');
const entry = {
  file: FILE,
  within: 'f',
  original: 'a.mode === b.mode',
  what: 'always true',
  reason: 'a key is unique',
};

it('finds all mutants of an entry, or the one with its number', () => {
  expect([...matchEquivalents(mutants, [entry], [FILE]).reasons.values()]).toEqual([
    'a key is unique',
    'a key is unique',
  ]);
  const { reasons, stale } = matchEquivalents(mutants, [{ ...entry, occurrence: 2 }], [FILE]);
  expect([...reasons.keys()]).toEqual([mutants[2]]);
  expect(stale).toEqual([]);
});

it.each([
  { ...entry, original: 'a.mode === c.mode' },
  { ...entry, within: 'g' },
  { ...entry, what: 'always' },
  { ...entry, occurrence: 3 },
  { ...entry, reason: ' ' },
])('reports an entry without a mutant or without a reason', (stale) => {
  expect(matchEquivalents(mutants, [entry, stale], [FILE]).stale).toEqual([stale]);
});

it('ignores entries for files outside the run', () => {
  expect(matchEquivalents([], [entry], ['apps/x/src/y.ts']).stale).toEqual([]);
});
