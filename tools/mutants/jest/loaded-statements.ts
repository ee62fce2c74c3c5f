import type { Part } from '../mutations/catalogue.ts';
import type { LoadedStatement } from '../runs/plan.ts';

interface KnownStatement {
  readonly site: string;
  /** The longest text between holes and parameters. A statement that does not contain this text cannot match. */
  readonly longestText: string;
  /**
   * Has a group for each hole and each named parameter. In the sent statement, `namedStatement` has replaced each
   * parameter's name by a number.
   */
  readonly pattern: RegExp;
  readonly mutants: LoadedStatement['mutants'];
}

/**
 * SQL statements that are built once, when their file loads (`const UPSERT = …`). The active mutant is not yet known
 * then, so it is applied when the statement is sent. A hole is a `${…}` in the template literal of a statement.
 */
export class LoadedStatements {
  private readonly statements: readonly KnownStatement[];

  constructor(statements: readonly LoadedStatement[]) {
    this.statements = statements.map(({ site, original, mutants }) => ({
      site,
      longestText: original
        .flatMap((part) => (typeof part === 'string' ? part.split(NAMED_PARAMETER) : []))
        .reduce((longest, part) => (part.length > longest.length ? part : longest), ''),
      pattern: createPattern(original),
      mutants,
    }));
  }

  /** The ids of the sites whose text the statement contains. */
  findSites(text: string): string[] {
    return this.statements.filter((statement) => isContained(statement, text)).map(({ site }) => site);
  }

  /** Returns the statement with the mutant, or undefined if the statement does not contain the mutant's site. */
  applyMutant(text: string, mutant: string): string | undefined {
    const statement = this.statements.find(({ mutants }) => mutant in mutants);
    if (statement === undefined || !isContained(statement, text)) return undefined;
    const parts = statement.mutants[mutant]!;
    return text.replaceAll(statement.pattern, (...match: unknown[]) => fillHoles(parts, match.at(-1) as Groups));
  }
}

function isContained({ longestText, pattern }: KnownStatement, text: string): boolean {
  pattern.lastIndex = 0;
  return text.includes(longestText) && pattern.test(text);
}

type Groups = Readonly<Record<string, string>>;

const NAMED_PARAMETER = /\$[a-z]\w*/gi;

function createPattern(parts: readonly Part[]): RegExp {
  const names = new Set<string>();
  const parameterPattern = (name: string): string => {
    if (names.has(name)) return String.raw`\k<${name}>`;
    names.add(name);
    return String.raw`(?<${name}>\$\d+)`;
  };
  const textPattern = (part: string): string => {
    const between = part.split(NAMED_PARAMETER).map(escapeRegExp);
    const parameters = (part.match(NAMED_PARAMETER) ?? []).map((name) => parameterPattern(name.slice(1)));
    return between.map((fixedText, index) => `${fixedText}${parameters[index] ?? ''}`).join('');
  };
  return new RegExp(
    parts.map((part) => (typeof part === 'number' ? `(?<${holeGroupName(part)}>[^]*?)` : textPattern(part))).join(''),
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

/** The name of a hole's group. It begins with an underscore, and no parameter's name does. */
function holeGroupName(hole: number): string {
  return `_${hole}`;
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
