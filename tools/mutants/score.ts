import type { Stryker } from '@stryker-mutator/core';

type MutantStatus = Awaited<ReturnType<Stryker['runMutationTest']>>[number]['status'];

export interface Score {
  readonly folder: string;
  /** The number of mutants with which a test failed or ran into the time limit. */
  readonly killed: number;
  /** The number of mutants with which no test failed, including those that no test evaluated. */
  readonly survived: number;
  /** The share of killed mutants; 100 for a folder without mutants. */
  readonly percent: number;
}

/** Ignored mutants, and mutants that do not compile, do not count. */
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
