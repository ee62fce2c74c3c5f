/** All mutants of some files, each with a key that survives line changes, and the instrumented text. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Guard } from './guard-words.ts';
import type { Kind, Site } from './source-mutants.ts';
import { findSites } from './source-mutants.ts';
import type { Mutation } from './sql-mutations.ts';

export interface Mutant {
  /** `file#number`, stable until the file changes. */
  readonly id: string;
  /** The expression that it changes: `file#number`. */
  readonly site: string;
  readonly kind: Kind;
  readonly guard: Guard;
  readonly file: string;
  readonly line: number;
  readonly within: string;
  readonly original: string;
  readonly what: string;
  /** Number among mutants with the same file, function, original and change; from 1. */
  readonly occurrence: number;
  /** For SQL: the statement before and after; a number is a hole. */
  readonly statement?: { readonly original: readonly Part[]; readonly applyMutation: readonly Part[] };
}

export type Part = string | number;

export function readMutants(root: string, file: string): Mutant[] {
  return findMutants(file, readFileSync(join(root, file), 'utf8'));
}

export function findMutants(file: string, source: string): Mutant[] {
  const seen = new Map<string, number>();
  return findSites(file, source).flatMap((site, at) =>
    site.mutations.map((mutation, nth): Mutant => {
      const { guard, original, what } = mutation;
      const same = [site.within, original, what].join('\0');
      const occurrence = (seen.get(same) ?? 0) + 1;
      seen.set(same, occurrence);
      return {
        id: formatMutantId(file, at, nth),
        site: formatSiteId(file, at),
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
 * The source with all its mutants: each site becomes a choice between itself and its mutants at each evaluation.
 * Line numbers do not change.
 */
export function instrument(file: string, source: string): string {
  const sites = findSites(file, source).map((site, at) => ({ site, at }));
  return render(source, { start: 0, end: source.length }, sites, file);
}

interface NumberedSite {
  readonly site: Site;
  readonly at: number;
}

/** The text of a range in which the outermost sites are choices, and recursively the sites inside them. */
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
      `__svcMutants.active===${JSON.stringify(formatMutantId(file, at, nth))}?(${mutated(source, site, mutation)}):`,
  );
  const original = render(source, site, inside, file);
  return `(__svcMutants.hit(${JSON.stringify(formatSiteId(file, at))}),${mutants.join('')}(${original}))`;
}

function mutated(source: string, site: Site, { start, end, replacement }: Mutation): string {
  return source.slice(site.start, start) + replacement + source.slice(end, site.end);
}

/** The literal as texts and hole numbers, once as it is and once mutated. */
function mutateStatement(
  source: string,
  literal: NonNullable<Site['literal']>,
  mutation: Mutation,
): NonNullable<Mutant['statement']> {
  const original = splitAtHoles(source, literal.start, literal.end, literal);
  const before = splitAtHoles(source, literal.start, mutation.start, literal);
  const after = splitAtHoles(source, mutation.end, literal.end, literal);
  const cut = source.slice(mutation.start, mutation.end);
  // A mutation that adds text around a predicate keeps the predicate's own holes.
  const [prefix, suffix] = cut === '' ? [mutation.replacement, ''] : mutation.replacement.split(cut);
  const kept =
    suffix === undefined || mutation.replacement === '' ? [] : splitAtHoles(source, mutation.start, mutation.end, literal);
  return { original, applyMutation: [...before, prefix ?? '', ...kept, suffix ?? '', ...after] };
}

/** Holes that lie within the range, and the texts between them as they are at run time. */
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
