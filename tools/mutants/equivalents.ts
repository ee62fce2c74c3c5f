/** Mutants that no test can kill, each with the reason: equivalent.json, and stryker/equivalent.json for Stryker. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Identifies a mutant by its content, because line numbers change. */
export interface MutantContent {
  readonly file: string;
  /** The line of code in which the mutant begins. */
  readonly within: string;
  readonly original: string;
  readonly change: string;
}

/** An entry of the list. It is about all mutants with this content. */
export interface Equivalent extends MutantContent {
  /** Why no test can fail, for example the index, constraint or rule that makes a guard redundant. */
  readonly reason: string;
}

/** @param folder the folder of `equivalent.json` */
export function readEquivalents(folder: string): Equivalent[] {
  return JSON.parse(readFileSync(join(folder, 'equivalent.json'), 'utf8')) as Equivalent[];
}

/** Entries of other files are ignored. `unneeded` are entries without a mutant. */
export function separateEquivalents<M extends MutantContent>(
  mutants: readonly M[],
  entries: readonly Equivalent[],
  files: readonly string[],
): { readonly equivalent: readonly M[]; readonly others: readonly M[]; readonly unneeded: readonly Equivalent[] } {
  const identities = new Set(entries.map(identityOf));
  const found = new Set(mutants.map(identityOf));
  const isEquivalent = (mutant: M) => identities.has(identityOf(mutant));
  return {
    equivalent: mutants.filter(isEquivalent),
    others: mutants.filter((mutant) => !isEquivalent(mutant)),
    unneeded: entries.filter((entry) => files.includes(entry.file) && !found.has(identityOf(entry))),
  };
}

function identityOf({ file, within, original, change }: MutantContent): string {
  return JSON.stringify([file, within, original, change]);
}

/** With a line number for a mutant, without one for an entry of a list. */
export function describeMutant({
  file,
  line,
  within,
  original,
  change,
}: MutantContent & { readonly line?: number }): string {
  return `${file}${line === undefined ? '' : `:${line}`}  ${within}\n      ${original}  ${change}`;
}
