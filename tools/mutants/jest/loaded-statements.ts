import type { Part } from '../mutations/catalogue.ts';
import type { LoadedStatement } from '../runs/plan.ts';

interface KnownStatement {
  readonly site: string;
  /** Its longest text: a statement without this text cannot match. */
  readonly longestText: string;
  /** Each hole is a group, and each named parameter: it has a number in the sent statement (`namedStatement`). */
  readonly pattern: RegExp;
  readonly mutants: LoadedStatement['mutants'];
}

/**
 * SQL that is built once when its file loads (`const KEEP = …`): a mutant cannot be chosen when it is evaluated, so it is
 * applied when the statement is sent.
 */
export class LoadedStatements {
  private readonly known: readonly KnownStatement[];

  constructor(statements: readonly LoadedStatement[]) {
    this.known = statements.map(({ site, original, mutants }) => ({
      site,
      mark: original
        .flatMap((part) => (typeof part === 'string' ? part.split(NAMED_PARAMETER) : []))
        .reduce((one, other) => (other.length > one.length ? other : one), ''),
      pattern: createPattern(original),
      mutants,
    }));
  }

  /** The sites in a statement. */
  findSites(text: string): string[] {
    return this.known.filter((known) => isContained(known, text)).map(({ site }) => site);
  }

  /** The statement with the mutant; undefined if it does not contain it. */
  applyMutant(text: string, mutant: string): string | undefined {
    const known = this.known.find(({ mutants }) => mutant in mutants);
    if (known === undefined || !isContained(known, text)) return undefined;
    const parts = known.mutants[mutant]!;
    return text.replaceAll(known.pattern, (...match: unknown[]) => fillHoles(parts, match.at(-1) as Groups));
  }
}

function isContained({ longestText: mark, pattern }: KnownStatement, text: string): boolean {
  pattern.lastIndex = 0;
  return text.includes(mark) && pattern.test(text);
}

type Groups = Readonly<Record<string, string>>;

const NAMED_PARAMETER = /\$[a-z]\w*/gi;

function createPattern(parts: readonly Part[]): RegExp {
  const names = new Set<string>();
  const parameter = (name: string): string => {
    if (names.has(name)) return String.raw`\k<${name}>`;
    names.add(name);
    return String.raw`(?<${name}>\$\d+)`;
  };
  const text = (part: string): string => {
    const between = part.split(NAMED_PARAMETER).map(escapeRegExp);
    const parameters = (part.match(NAMED_PARAMETER) ?? []).map((name) => parameter(name.slice(1)));
    return between.map((fixed, nth) => `${fixed}${parameters[nth] ?? ''}`).join('');
  };
  return new RegExp(
    parts.map((part) => (typeof part === 'number' ? `(?<${holeGroupName(part)}>[^]*?)` : text(part))).join(''),
    'g',
  );
}

function fillHoles(parts: readonly Part[], groups: Groups): string {
  return parts
    .map((part) =>
      typeof part === 'number'
        ? groups[holeGroupName(part)]
        : part.replaceAll(NAMED_PARAMETER, (name) => groups[name.slice(1)]!),
    )
    .join('');
}

/** No parameter begins with an underscore. */
function holeGroupName(nth: number): string {
  return `_${nth}`;
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
