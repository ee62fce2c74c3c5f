import { readEquivalents, separateEquivalents } from './equivalents.ts';

const entry = {
  file: 'a.ts',
  within: 'WHERE mode = $1',
  original: 'mode = $1',
  change: 'always true',
  reason: 'a key',
};
const mutant = { ...entry, line: 3 };

it('separateEquivalents finds the mutants of entries, and entries without a mutant', () => {
  const mutants = [mutant, { ...mutant, change: 'always false' }];
  const unneeded = { ...entry, within: 'AND mode = $1' };
  expect(separateEquivalents(mutants, [entry, unneeded], ['a.ts'])).toEqual({
    equivalent: [mutants[0]],
    others: [mutants[1]],
    unneeded: [unneeded],
  });
});

it('separateEquivalents ignores entries of files that the run does not include', () => {
  expect(separateEquivalents([], [entry], ['b.ts']).unneeded).toEqual([]);
});

it.each(['', 'stryker'])('each entry of %s/equivalent.json has a reason', (folder) => {
  const entries = readEquivalents(`${import.meta.dirname}/${folder}`);
  expect(entries.length).toBeGreaterThan(0);
  expect(entries.filter(({ reason }) => reason.trim() === '')).toEqual([]);
});
