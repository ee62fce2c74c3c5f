/** Mutants that no test can kill, each with the reason: equivalent.json, and stryker/equivalent.json for Stryker. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Identifies a mutant by its content, because line numbers change. */
export interface MutantContent {
  readonly file: string;
  /** The function, method or constant that contains the mutant; for Stryker, the line of code in which it begins. */
  readonly within: string;
  /** The original code, and its change, as the report shows them. */
  readonly original: string;
  readonly what: string;
  /** Numbers, from 1, the mutants with the same content. */
  readonly occurrence: number;
}

/** An entry of the list. */
export interface Equivalent extends Omit<MutantContent, 'occurrence'> {
  /** Required if several mutants have this content. */
  readonly occurrence?: number;
  /** Why no test can fail, for example the index, constraint or rule that makes a guard redundant. */
  readonly reason: string;
}

/** @param folder the folder of `equivalent.json` */
export function readEquivalents(folder = import.meta.dirname): Equivalent[] {
  return JSON.parse(readFileSync(join(folder, 'equivalent.json'), 'utf8')) as Equivalent[];
}

export interface EquivalentMatches<M> {
  readonly reasons: ReadonlyMap<M, string>;
  /** Entries that match several mutants. */
  readonly ambiguous: readonly Equivalent[];
  /** Entries that match no mutant, or have no reason. */
  readonly stale: readonly Equivalent[];
}

/**
 * @param mutants all mutants of `files`
 * @param files entries of other files are ignored
 */
export function matchEquivalents<M extends MutantContent>(
  mutants: readonly M[],
  entries: readonly Equivalent[],
  files: readonly string[],
): EquivalentMatches<M> {
  const reasons = new Map<M, string>();
  const [stale, ambiguous]: [Equivalent[], Equivalent[]] = [[], []];
  for (const entry of entries.filter(({ file }) => files.includes(file))) {
    const matched = mutants.filter((mutant) => isMatch(mutant, entry));
    if (matched.length === 0 || entry.reason.trim() === '') stale.push(entry);
    if (matched.length > 1) ambiguous.push(entry);
    for (const mutant of matched) reasons.set(mutant, entry.reason);
  }
  return { reasons, ambiguous, stale };
}

function isMatch(mutant: MutantContent, { file, within, original, what, occurrence }: Equivalent): boolean {
  const hasSameContent =
    mutant.file === file && mutant.within === within && mutant.original === original && mutant.what === what;
  return hasSameContent && (occurrence === undefined || occurrence === mutant.occurrence);
}
