import type { JudgedMutant } from './judged-mutants.ts';

export interface Score {
  readonly folder: string;
  /** The number of mutants with which a test failed or ran into the time limit. */
  readonly killed: number;
  /** The number of mutants with which no test failed, including those that no test evaluated. */
  readonly survived: number;
  /** The number of mutants that no test can kill (equivalent.json). */
  readonly equivalent: number;
  /** The share of killed mutants in those that a test can kill; 100 for a folder without mutants. */
  readonly percent: number;
}

/** Ignored mutants, and mutants that do not compile, do not count. */
export function computeScore(folder: string, mutants: readonly Pick<JudgedMutant, 'verdict'>[]): Score {
  const count = (wanted: JudgedMutant['verdict']): number => mutants.filter(({ verdict }) => verdict === wanted).length;
  const [killed, survived] = [count('killed'), count('survived')];
  const percent = killed + survived === 0 ? 100 : (killed / (killed + survived)) * 100;
  return { folder, killed, survived, equivalent: count('equivalent'), percent };
}

export function formatScores(scores: readonly Score[]): string {
  const width = Math.max(6, ...scores.map(({ folder }) => folder.length));
  const row = ([folder, ...numbers]: readonly [string, ...string[]]): string =>
    `${folder.padEnd(width)}${numbers.map((text) => text.padStart(12)).join('')}`;
  return [
    row(['folder', 'killed', 'survived', 'equivalent', 'percent']),
    ...scores.map(({ folder, killed, survived, equivalent, percent }) => {
      // Rounded down: 99.96 is not 100.
      const shown = (Math.floor(percent * 10) / 10).toFixed(1);
      return row([folder, ...[killed, survived, equivalent].map(String), shown]);
    }),
  ].join('\n');
}
