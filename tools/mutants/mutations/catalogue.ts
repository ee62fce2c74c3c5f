/**
 * Lists the mutants of a source file, and adds all of them to its code.
 *
 * A guard is a condition on owner, mode, version, state, lease or expiry. A site is an expression in the source that
 * contains guards. A mutant is the program with one guard removed or weakened. A hole is a `${…}` in the template
 * literal of an SQL statement.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Guard } from './guard-words.ts';
import type { Kind, Site } from './source-mutants.ts';
import { findSites } from './source-mutants.ts';
import type { Mutation } from './sql-mutations.ts';

export interface Mutant {
  /** `file#site.mutant`. Sites and mutants are numbered from 1. The id does not change until the file changes. */
  readonly id: string;
  /** The expression that the mutant changes: `file#site`. */
  readonly site: string;
  readonly kind: Kind;
  readonly guard: Guard;
  readonly file: string;
  readonly line: number;
  /** The name of the function that contains the site. */
  readonly within: string;
  readonly original: string;
  /** Describes the change, for example `always true`. */
  readonly what: string;
  /** Numbers, from 1, the mutants that have the same file, function, original and change. */
  readonly occurrence: number;
  /** For SQL: the statement before and after the change. A string is a part of its text, a number is a hole. */
  readonly statement?: { readonly original: readonly Part[]; readonly mutated: readonly Part[] };
}

export type Part = string | number;

export function readMutants(root: string, file: string): Mutant[] {
  return findMutants(file, readFileSync(join(root, file), 'utf8'));
}

export function findMutants(file: string, source: string): Mutant[] {
  const occurrences = new Map<string, number>();
  return findSites(file, source).flatMap((site, siteIndex) =>
    site.mutations.map((mutation, mutationIndex): Mutant => {
      const { guard, original, what } = mutation;
      const key = [site.within, original, what].join('\0');
      const occurrence = (occurrences.get(key) ?? 0) + 1;
      occurrences.set(key, occurrence);
      return {
        id: formatMutantId(file, siteIndex, mutationIndex),
        site: formatSiteId(file, siteIndex),
        kind: site.kind,
        guard,
        file,
        line: site.line + countLines(source, site.start, mutation.start),
        within: site.within,
        original,
        what,
        occurrence,
        ...(site.literal ? { statement: mutateStatement(source, site.literal, mutation) } : {}),
      };
    }),
  );
}

function formatSiteId(file: string, site: number): string {
  return `${file}#${site + 1}`;
}

function formatMutantId(file: string, site: number, mutation: number): string {
  return `${formatSiteId(file, site)}.${mutation + 1}`;
}

function countLines(source: string, from: number, to: number): number {
  return source.slice(from, to).split('\n').length - 1;
}

/**
 * Returns the source with all its mutants: each site becomes an expression that chooses, whenever it is evaluated,
 * between the original and the active mutant. Line numbers can change.
 */
export function instrument(file: string, source: string): string {
  const sites = findSites(file, source).map((site, at) => ({ site, at }));
  return render(source, { start: 0, end: source.length }, sites, file);
}

interface NumberedSite {
  readonly site: Site;
  readonly at: number;
}

/** Returns the text of a range. Each site in it, also a site inside another site, is replaced by a choice. */
function render(source: string, range: Span, sites: readonly NumberedSite[], file: string): string {
  let text = '';
  let from = range.start;
  for (let index = 0; index < sites.length;) {
    const { site, at } = sites[index]!;
    const inside = sites.slice(index + 1).filter((other) => other.site.start < site.end);
    text += source.slice(from, site.start) + renderChoice(source, site, at, inside, file);
    from = site.end;
    index += 1 + inside.length;
  }
  return text + source.slice(from, range.end);
}

type Span = { readonly start: number; readonly end: number };

function renderChoice(source: string, site: Site, at: number, inside: readonly NumberedSite[], file: string): string {
  const mutants = site.mutations.map(
    (mutation, nth) =>
      `__svcMutants.active===${JSON.stringify(formatMutantId(file, at, nth))}?(${applyMutation(source, site, mutation)}):`,
  );
  const original = render(source, site, inside, file);
  return `(__svcMutants.hit(${JSON.stringify(formatSiteId(file, at))}),${mutants.join('')}(${original}))`;
}

function applyMutation(source: string, site: Site, { start, end, replacement }: Mutation): string {
  return source.slice(site.start, start) + replacement + source.slice(end, site.end);
}

/** Returns the literal before and after the mutation. */
function mutateStatement(
  source: string,
  literal: NonNullable<Site['literal']>,
  mutation: Mutation,
): NonNullable<Mutant['statement']> {
  const original = splitAtHoles(source, literal.start, literal.end, literal);
  const before = splitAtHoles(source, literal.start, mutation.start, literal);
  const after = splitAtHoles(source, mutation.end, literal.end, literal);
  const cut = source.slice(mutation.start, mutation.end);
  // A mutation that adds text around a predicate does not change the holes of the predicate.
  const [prefix, suffix] = cut === '' ? [mutation.replacement, ''] : mutation.replacement.split(cut);
  const originalParts =
    suffix === undefined || mutation.replacement === ''
      ? []
      : splitAtHoles(source, mutation.start, mutation.end, literal);
  return { original, mutated: [...before, prefix ?? '', ...originalParts, suffix ?? '', ...after] };
}

/** Returns the numbers of the holes in the range, and the texts between them. */
function splitAtHoles(source: string, start: number, end: number, { holes }: NonNullable<Site['literal']>): Part[] {
  const parts: Part[] = [];
  let from = start;
  for (const [at, hole] of holes.entries()) {
    if (hole.start < start || hole.end > end) continue;
    parts.push(unescapeText(source.slice(from, hole.start)), at);
    from = hole.end;
  }
  return [...parts, unescapeText(source.slice(from, end))];
}

function unescapeText(text: string): string {
  return text.replaceAll(/\\([\s\S])/g, (_, character: string) => (character === 'n' ? '\n' : character));
}
