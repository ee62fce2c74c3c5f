import { computeScore, formatScores } from './score.ts';

const createMutants = (...verdicts: Parameters<typeof computeScore>[1][number]['verdict'][]) =>
  verdicts.map((verdict) => ({ verdict }));

describe('the score of a folder', () => {
  it('is the share of killed mutants in those that killed and survived', () => {
    const mutants = createMutants('killed', 'killed', 'killed', 'survived', 'survived', 'equivalent', 'not counted');
    const score = { folder: 'libs/sdk', killed: 3, survived: 2, equivalent: 1, percent: 60 };
    expect(computeScore('libs/sdk', mutants)).toEqual(score);
  });

  it('is 100 for a folder without mutants', () => {
    expect(computeScore('libs/sdk', []).percent).toBe(100);
  });
});

describe('the table of scores', () => {
  it('has a line for each folder, and rounds every score down', () => {
    const scores = [
      { folder: 'libs/kernel', killed: 900, survived: 0, equivalent: 2, percent: 100 },
      { folder: 'libs/sdk', killed: 8_999, survived: 1, equivalent: 0, percent: 99.989 },
    ];
    expect(formatScores(scores).split('\n')).toEqual([
      'folder           killed    survived  equivalent     percent',
      'libs/kernel         900           0           2       100.0',
      'libs/sdk           8999           1           0        99.9',
    ]);
  });
});
