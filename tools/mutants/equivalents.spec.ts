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

it('matchEquivalents finds all mutants that match an entry, and reports the entry as ambiguous', () => {
  const { reasons, ambiguous, stale } = matchEquivalents(mutants, [entry], [FILE]);
  expect([...reasons.values()]).toEqual(['a key is unique', 'a key is unique']);
  expect([ambiguous, stale]).toEqual([[entry], []]);
});

it('matchEquivalents finds only the mutant with the number in the entry', () => {
  const { reasons, ambiguous, stale } = matchEquivalents(mutants, [{ ...entry, occurrence: 2 }], [FILE]);
  // Each of the two guards has two mutants: always true, then always false.
  expect([...reasons.keys()]).toEqual([mutants[2]]);
  expect([ambiguous, stale]).toEqual([[], []]);
});

it.each([
  { ...entry, original: 'a.mode === c.mode' },
  { ...entry, within: 'g' },
  { ...entry, what: 'always' },
  { ...entry, occurrence: 3 },
  { ...entry, occurrence: 2, reason: ' ' },
])('matchEquivalents reports %j, which has no mutant or no reason', (stale) => {
  expect(matchEquivalents(mutants, [entry, stale], [FILE]).stale).toEqual([stale]);
});

it('matchEquivalents ignores entries of files that the run does not include', () => {
  expect(matchEquivalents([], [entry], ['apps/x/src/y.ts']).stale).toEqual([]);
});
