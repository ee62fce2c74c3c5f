/** Mutants that no test can kill, each with the reason: tools/mutants/equivalent.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './mutations/catalogue.ts';

/** Identified by content, because line numbers change. */
export interface Equivalent {
  readonly file: string;
  /** The function, method or constant around it. */
  readonly within: string;
  readonly original: string;
  readonly what: string;
  /** Which one, if a function has the same guard more than once; from 1. By default all of them. */
  readonly occurrence?: number;
  /** The index, constraint or rule that makes the guard redundant. */
  readonly reason: string;
}

export function readEquivalents(): Equivalent[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'equivalent.json'), 'utf8')) as Equivalent[];
}

export interface EquivalentMatches {
  readonly reasons: ReadonlyMap<Mutant, string>;
  /** Entries for the given files that name no mutant, or have no reason. */
  readonly stale: readonly Equivalent[];
}

/** @param mutants all of each file that entries may name */
export function matchEquivalents(
  mutants: readonly Mutant[],
  entries: readonly Equivalent[],
  files: readonly string[],
): EquivalentMatches {
  const reasons = new Map<Mutant, string>();
  const stale: Equivalent[] = [];
  for (const entry of entries.filter(({ file }) => files.includes(file))) {
    const matched = mutants.filter((mutant) => isMatch(mutant, entry));
    if (matched.length === 0 || entry.reason.trim() === '') stale.push(entry);
    for (const mutant of matched) reasons.set(mutant, entry.reason);
  }
  return { reasons, stale };
}

function isMatch(mutant: Mutant, { file, within, original, what, occurrence }: Equivalent): boolean {
  const isSame =
    mutant.file === file && mutant.within === within && mutant.original === original && mutant.what === what;
  return isSame && (occurrence === undefined || occurrence === mutant.occurrence);
}
