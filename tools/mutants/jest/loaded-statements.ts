import type { Part } from '../mutations/catalogue.ts';
import type { LoadedStatement } from '../runs/plan.ts';

interface Known {
  readonly site: string;
  /** Its longest text: a statement without this text cannot match. */
  readonly mark: string;
  /** Each hole is a group, and each named parameter: it has a number in the sent statement (`namedStatement`). */
  readonly pattern: RegExp;
  readonly mutants: LoadedStatement['mutants'];
}

/**
 * SQL that is built once when its file loads (`const KEEP = …`): a mutant cannot be chosen when it is evaluated, so it is
 * applied when the statement is sent.
 */
export class LoadedStatements {
  private readonly known: readonly Known[];

  constructor(statements: readonly LoadedStatement[]) {
    this.known = statements.map(({ site, original, mutants }) => ({
      site,
      mark: original
        .flatMap((part) => (typeof part === 'string' ? part.split(NAMED_PARAMETER) : []))
        .reduce((one, other) => (other.length > one.length ? other : one), ''),
      pattern: patternOf(original),
      mutants,
    }));
  }

  /** The sites in a statement. */
  sitesIn(text: string): string[] {
    return this.known.filter((known) => isIn(known, text)).map(({ site }) => site);
  }

  /** The statement with the mutant; undefined if it does not contain it. */
  mutated(text: string, mutant: string): string | undefined {
    const known = this.known.find(({ mutants }) => mutant in mutants);
    if (known === undefined || !isIn(known, text)) return undefined;
    const parts = known.mutants[mutant]!;
    return text.replaceAll(known.pattern, (...match: unknown[]) => filled(parts, match.at(-1) as Groups));
  }
}

function isIn({ mark, pattern }: Known, text: string): boolean {
  pattern.lastIndex = 0;
  return text.includes(mark) && pattern.test(text);
}

type Groups = Readonly<Record<string, string>>;

const NAMED_PARAMETER = /\$[a-z]\w*/gi;

function patternOf(parts: readonly Part[]): RegExp {
  const names = new Set<string>();
  const parameter = (name: string): string => {
    if (names.has(name)) return String.raw`\k<${name}>`;
    names.add(name);
    return String.raw`(?<${name}>\$\d+)`;
  };
  const text = (part: string): string => {
    const between = part.split(NAMED_PARAMETER).map(escaped);
    const parameters = (part.match(NAMED_PARAMETER) ?? []).map((name) => parameter(name.slice(1)));
    return between.map((fixed, nth) => `${fixed}${parameters[nth] ?? ''}`).join('');
  };
  return new RegExp(
    parts.map((part) => (typeof part === 'number' ? `(?<${hole(part)}>[^]*?)` : text(part))).join(''),
    'g',
  );
}

function filled(parts: readonly Part[], groups: Groups): string {
  return parts
    .map((part) =>
      typeof part === 'number'
        ? groups[hole(part)]
        : part.replaceAll(NAMED_PARAMETER, (name) => groups[name.slice(1)]!),
    )
    .join('');
}

/** No parameter begins with an underscore. */
function hole(nth: number): string {
  return `_${nth}`;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
