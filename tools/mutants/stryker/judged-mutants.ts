/** Stryker's results: which mutants were killed, which survived, and which no test can kill. */
import type { Stryker } from '@stryker-mutator/core';
import type { Equivalent, MutantContent } from '../equivalents.ts';
import { matchEquivalents } from '../equivalents.ts';

type Result = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

export interface JudgedMutant extends MutantContent {
  readonly line: number;
  /** `not counted`: Stryker ignored the mutant, or it did not compile or run. */
  readonly verdict: 'killed' | 'survived' | 'equivalent' | 'not counted';
  /** The mutant counts as killed, but on a busy machine it may only have been slow. */
  readonly ranIntoTimeLimit: boolean;
}

const VERDICTS: Partial<Record<Result['status'], JudgedMutant['verdict']>> = {
  Killed: 'killed',
  // A mutant that ran into the time limit, for example an endless loop, would not pass unnoticed.
  Timeout: 'killed',
  Survived: 'survived',
  NoCoverage: 'survived',
};
/** A longer original is a whole block. Its beginning identifies it together with its line. */
const MAX_LENGTH = 120;

/** @param readSource returns the text of a file of the results */
export function judgeResults(
  results: readonly Pick<Result, 'fileName' | 'location' | 'replacement' | 'status'>[],
  equivalents: readonly Equivalent[],
  readSource: (file: string) => string,
): { readonly mutants: readonly JudgedMutant[]; readonly wrong: readonly string[] } {
  const sources = new Map<string, readonly string[]>();
  const occurrences = new Map<string, number>();
  const all = results.map(({ fileName: file, location, replacement, status }): JudgedMutant => {
    const lines = sources.get(file) ?? readSource(file).split('\n');
    sources.set(file, lines);
    const { start, end } = location;
    const text = lines.slice(start.line - 1, end.line);
    text[text.length - 1] = text.at(-1)!.slice(0, end.column - 1);
    const within = lines[start.line - 1]!.trim();
    const original = shorten(text.join('\n').slice(start.column - 1));
    const what = `becomes ${shorten(replacement)}`;
    const key = [file, within, original, what].join('\0');
    const occurrence = (occurrences.get(key) ?? 0) + 1;
    occurrences.set(key, occurrence);
    const identity = { file, line: start.line, within, original, what, occurrence };
    return { ...identity, verdict: VERDICTS[status] ?? 'not counted', ranIntoTimeLimit: status === 'Timeout' };
  });
  const { reasons, ambiguous, stale } = matchEquivalents(all, equivalents, [...sources.keys()]);
  const isKilledByTest = (mutant: JudgedMutant) => mutant.verdict === 'killed' && !mutant.ranIntoTimeLimit;
  const killed = all.filter((mutant) => reasons.has(mutant) && isKilledByTest(mutant));
  return {
    mutants: all.map((mutant) =>
      reasons.has(mutant) && mutant.verdict !== 'not counted' && !isKilledByTest(mutant)
        ? { ...mutant, verdict: 'equivalent' }
        : mutant,
    ),
    wrong: [
      ...stale.map((entry) => `no mutant, or no reason: ${describeEntry(entry)}`),
      ...ambiguous.map((entry) => `several mutants, so it needs an occurrence: ${describeEntry(entry)}`),
      ...killed.map((mutant) => `killed: ${describe(mutant)}`),
    ],
  };
}

export function describe({ file, line, within, original, what, occurrence }: JudgedMutant): string {
  const number = occurrence > 1 ? ` (number ${occurrence})` : '';
  return `${file}:${line}  ${within}\n      ${original}${number}  ${what}`;
}

function describeEntry({ file, within, original, what }: Equivalent): string {
  return `${file} ${within}: ${original} ${what}`;
}

function shorten(code: string): string {
  const line = code.replaceAll(/\s+/g, ' ');
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line;
}
