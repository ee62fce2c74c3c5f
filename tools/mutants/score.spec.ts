import { computeScore, formatScores } from './score.ts';

const createMutants = (...statuses: Parameters<typeof computeScore>[1][number]['status'][]) =>
  statuses.map((status) => ({ status }));

describe('the score of a folder', () => {
  it('counts a mutant that no test reached as survived, and a mutant that ran into the time limit as killed', () => {
    const score = computeScore('libs/sdk', createMutants('Killed', 'Killed', 'Timeout', 'Survived', 'NoCoverage'));
    expect(score).toEqual({ folder: 'libs/sdk', killed: 3, survived: 2, percent: 60 });
  });

  it('omits ignored mutants, and mutants that did not compile or run', () => {
    const score = computeScore('libs/sdk', createMutants('Killed', 'Ignored', 'CompileError', 'RuntimeError'));
    expect(score).toMatchObject({ killed: 1, survived: 0, percent: 100 });
  });

  it('is 100 for a folder without mutants', () => {
    expect(computeScore('libs/sdk', []).percent).toBe(100);
  });
});

describe('the table of scores', () => {
  it('marks each folder whose score is too low, and rounds every score down', () => {
    const scores = [
      { folder: 'libs/kernel', killed: 900, survived: 100, percent: 90 },
      { folder: 'libs/sdk', killed: 8_999, survived: 1_001, percent: 89.99 },
    ];
    expect(formatScores(scores, 90).split('\n')).toEqual([
      'folder         killed  survived   percent',
      'libs/kernel       900       100      90.0',
      'libs/sdk         8999      1001      89.9  below 90',
    ]);
  });
});
