import type { Stryker } from '@stryker-mutator/core';

type MutantStatus = Awaited<ReturnType<Stryker['runMutationTest']>>[number]['status'];

export interface Score {
  readonly folder: string;
  /** A test failed, or ran for ever. */
  readonly killed: number;
  /** No test failed, or none reached it. */
  readonly survived: number;
  /** Of both; 100 where there is no mutant. */
  readonly percent: number;
}

/** Ignored mutants, and those that do not compile, do not count. */
export function computeScore(folder: string, mutants: readonly { readonly status: MutantStatus }[]): Score {
  const count = (...statuses: MutantStatus[]): number =>
    mutants.filter(({ status }) => statuses.includes(status)).length;
  const killed = count('Killed', 'Timeout');
  const survived = count('Survived', 'NoCoverage');
  return { folder, killed, survived, percent: killed + survived === 0 ? 100 : (killed / (killed + survived)) * 100 };
}

export function formatScores(scores: readonly Score[], required: number): string {
  const width = Math.max(6, ...scores.map(({ folder }) => folder.length));
  const row = (cells: readonly [string, string, string, string], end = ''): string => {
    const [folder, ...numbers] = cells;
    return `${folder.padEnd(width)}${numbers.map((text) => text.padStart(10)).join('')}${end}`;
  };
  return [
    row(['folder', 'killed', 'survived', 'percent']),
    ...scores.map(({ folder, killed, survived, percent }) => {
      // Rounded down: 89.96 is not 90.
      const shown = (Math.floor(percent * 10) / 10).toFixed(1);
      return row([folder, String(killed), String(survived), shown], percent < required ? `  below ${required}` : '');
    }),
  ].join('\n');
}
