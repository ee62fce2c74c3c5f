import type { Part } from './catalogue.ts';
import type { LoadedStatement } from './plan.ts';

interface Known {
  readonly site: string;
  /** The longest text of it: what does not have this needs no closer look. */
  readonly mark: string;
  readonly pattern: RegExp;
  readonly holes: readonly number[];
  readonly mutants: LoadedStatement['mutants'];
}

/**
 * SQL that a file puts together once, when it is loaded (`const KEEP = …`): no choice of a mutant can be made there, so
 * it is made where the statement is sent.
 */
export class LoadedStatements {
  private readonly known: readonly Known[];

  constructor(statements: readonly LoadedStatement[]) {
    this.known = statements.map(({ site, original, mutants }) => ({
      site,
      mark: original
        .filter((part) => typeof part === 'string')
        .reduce((one, other) => (other.length > one.length ? other : one), ''),
      pattern: new RegExp(original.map((part) => (typeof part === 'number' ? '([^]*?)' : escaped(part))).join(''), 'g'),
      holes: original.filter((part) => typeof part === 'number'),
      mutants,
    }));
  }

  /** The sites that a statement was made of. */
  sitesIn(text: string): string[] {
    return this.known.filter((known) => isIn(known, text)).map(({ site }) => site);
  }

  /** The statement with the mutant in it; undefined where it has no part in it. */
  mutated(text: string, mutant: string): string | undefined {
    const known = this.known.find(({ mutants }) => mutant in mutants);
    if (known === undefined || !isIn(known, text)) return undefined;
    return text.replaceAll(known.pattern, (...groups: string[]) => filled(known.mutants[mutant]!, known.holes, groups));
  }
}

function isIn({ mark, pattern }: Known, text: string): boolean {
  pattern.lastIndex = 0;
  return text.includes(mark) && pattern.test(text);
}

/** @param groups the match, and then what was found in each hole */
function filled(parts: readonly Part[], holes: readonly number[], groups: readonly string[]): string {
  return parts.map((part) => (typeof part === 'number' ? groups[holes.indexOf(part) + 1] : part)).join('');
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
