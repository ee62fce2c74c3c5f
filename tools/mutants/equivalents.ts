/** Mutants that no test can kill, each with the reason: tools/mutants/equivalent.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './mutations/catalogue.ts';

/** An entry of equivalent.json. It identifies mutants by their content, because line numbers change. */
export interface Equivalent {
  readonly file: string;
  /** The function, method or constant that contains the guard, the condition that the mutant changes. */
  readonly within: string;
  /** The guard in the source, and its change, as the report shows them. */
  readonly original: string;
  readonly what: string;
  /** The number of the guard, from 1, if a function contains the same guard several times. By default, all match. */
  readonly occurrence?: number;
  /** The index, constraint or rule that makes the guard redundant. */
  readonly reason: string;
}

export function readEquivalents(): Equivalent[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'equivalent.json'), 'utf8')) as Equivalent[];
}

export interface EquivalentMatches {
  readonly reasons: ReadonlyMap<Mutant, string>;
  /** Entries that match no mutant, or have no reason. */
  readonly stale: readonly Equivalent[];
}

/**
 * @param mutants all mutants of `files`
 * @param files entries of other files are ignored
 */
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
  const hasSameContent =
    mutant.file === file && mutant.within === within && mutant.original === original && mutant.what === what;
  return hasSameContent && (occurrence === undefined || occurrence === mutant.occurrence);
}
