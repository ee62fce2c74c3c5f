/** Mutants that no test can kill, each with the reason why: tools/mutants/equivalent.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './mutations/catalogue.ts';

/** Named by what it is, not by where: lines move. */
export interface Equivalent {
  readonly file: string;
  /** The function, method or constant around it. */
  readonly within: string;
  readonly original: string;
  readonly what: string;
  /** Which one, where a function has the same guard more than once; from 1. All of them, where it is not said. */
  readonly occurrence?: number;
  /** Which index, constraint or rule makes the guard say nothing new. */
  readonly reason: string;
}

export function readEquivalents(): Equivalent[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'equivalent.json'), 'utf8')) as Equivalent[];
}

export interface Matched {
  readonly reasons: ReadonlyMap<Mutant, string>;
  /** Entries of the files at hand that name no mutant, or give no reason. */
  readonly stale: readonly Equivalent[];
}

/** @param mutants all of each file, of which entries may speak */
export function matchEquivalents(
  mutants: readonly Mutant[],
  entries: readonly Equivalent[],
  files: readonly string[],
): Matched {
  const reasons = new Map<Mutant, string>();
  const stale: Equivalent[] = [];
  for (const entry of entries.filter(({ file }) => files.includes(file))) {
    const matched = mutants.filter((mutant) => isNamed(mutant, entry));
    if (matched.length === 0 || entry.reason.trim() === '') stale.push(entry);
    for (const mutant of matched) reasons.set(mutant, entry.reason);
  }
  return { reasons, stale };
}

function isNamed(mutant: Mutant, { file, within, original, what, occurrence }: Equivalent): boolean {
  const isSame =
    mutant.file === file && mutant.within === within && mutant.original === original && mutant.what === what;
  return isSame && (occurrence === undefined || occurrence === mutant.occurrence);
}
