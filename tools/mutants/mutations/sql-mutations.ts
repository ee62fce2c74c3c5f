/**
 * Finds the guards (conditions on owner, mode, version, state, lease or expiry) in the text of an SQL literal, and
 * their mutations. A hole is a `${…}` in the literal.
 */
import { isGuard, isVersion } from './guards.ts';
import type { Span, Token } from './sql-tokens.ts';
import { tokenize } from './sql-tokens.ts';

/** One change of a text, which replaces the span. */
export interface Mutation extends Span {
  readonly replacement: string;
  /** The guard as written. */
  readonly original: string;
  /** A description of the change: `always true`. */
  readonly change: string;
}

/**
 * The part of a statement that a keyword begins: values, a condition (`when`: of CASE or IF), assignments, sort keys,
 * the columns and predicate of ON CONFLICT (`inference`), or a part without conditions.
 */
type Clause = 'value' | 'condition' | 'when' | 'assignment' | 'order' | 'inference' | 'other';

const CLAUSES: Readonly<Record<string, Clause>> = {
  SELECT: 'value',
  RETURNING: 'value',
  THEN: 'value',
  ELSE: 'value',
  END: 'value',
  WHERE: 'condition',
  HAVING: 'condition',
  IF: 'when',
  ELSIF: 'when',
  WHEN: 'when',
  SET: 'assignment',
};
const OTHER_KEYWORDS = new Set(
  `FROM JOIN LEFT RIGHT INNER FULL CROSS NATURAL LATERAL USING WITH AS MATERIALIZED RECURSIVE OVER FILTER WINDOW GROUP
   LIMIT OFFSET FETCH FOR UNION INTERSECT EXCEPT VALUES INSERT INTO UPDATE DELETE DO CONFLICT NOTHING CONSTRAINT DISTINCT
   SKIP NOWAIT CASE PARTITION ORDER BY ON BEGIN DECLARE RETURN LOOP PERFORM RAISE LANGUAGE DEFAULT`.split(/\s+/),
);
const COMPARISONS = new Set(['=', '<', '<=', '>', '>=', '<>', '!=', '~', '@>', '<@']);
const COMPARING_WORDS = new Set(['IS', 'IN', 'LIKE', 'BETWEEN']);
const BOUNDARY_OPERATORS: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };

export function sqlMutations(text: string, holes: readonly Span[]): Mutation[] {
  const found: Mutation[] = [];
  mutateTokens(tokenize(text, holes), 'value', { text, found });
  return found.toSorted((a, b) => a.start - b.start || b.end - a.end);
}

/** Whether a literal is an SQL statement or a fragment of one. */
export function isSql(text: string): boolean {
  return (
    /(^|[\s(])(SELECT|INSERT INTO|UPDATE|DELETE FROM|WHERE|AND|OR|JOIN|ORDER BY|CASE WHEN|ON CONFLICT)\s/.test(text) ||
    /\sIS (NOT )?NULL\b/.test(text) ||
    /^\s*[a-z_.]+\s*(->>\s*'\w+'\s*)?(=|<>|<=?|>=?)\s*\$\d/.test(text)
  );
}

interface Findings {
  readonly text: string;
  readonly found: Mutation[];
}

/**
 * Splits the tokens of one nesting level at keywords, commas and holes that contain fragments, and mutates each
 * segment.
 */
function mutateTokens(tokens: readonly Token[], initial: Clause, findings: Findings): void {
  let clause = initial;
  let clauseOfList = initial;
  const enclosingClauses: Clause[] = [];
  let segment: Token[] = [];
  let orderKeys: Token[][] = [];
  const endSegment = () => {
    if (clause === 'order') orderKeys.push(segment);
    else mutateSegment(segment, clause, findings);
    segment = [];
  };
  const endOrder = () => {
    if (clause === 'order') mutateOrder(orderKeys, findings);
    orderKeys = [];
  };
  for (const [at, token] of tokens.entries()) {
    const next = findClause(tokens, at, clause);
    if (token.text === ',' || token.text === ';') {
      endSegment();
      clause = clauseOfList;
    } else if (next !== undefined) {
      endSegment();
      endOrder();
      clause = next;
      if (token.text === 'CASE') enclosingClauses.push(clauseOfList);
      // After an alias and after a CASE the same list continues.
      if (token.text === 'END') clauseOfList = enclosingClauses.pop() ?? next;
      else if (token.text !== 'AS') clauseOfList = next;
    } else if (isAdjacentHole(tokens, at)) {
      endSegment();
      segment.push(token);
    } else segment.push(token);
  }
  endSegment();
  endOrder();
}

/** Returns the clause that a keyword begins, or undefined inside an expression. */
function findClause(tokens: readonly Token[], at: number, clause: Clause): Clause | undefined {
  const { type, text } = tokens[at]!;
  if (type !== 'word') return undefined;
  const before = tokens[at - 1]?.text;
  const after = tokens[at + 1]?.text;
  if (text === 'ON') {
    if (after === 'CONFLICT') return 'inference';
    if (before === 'DISTINCT') return 'value';
    return isBeforeName(tokens, at) ? 'other' : 'condition';
  }
  if (text === 'BY') return before === 'ORDER' ? 'order' : 'other';
  // The columns and predicate of ON CONFLICT select the index: PostgreSQL would find no index for changed ones.
  if (clause === 'inference') return text === 'DO' ? 'other' : 'inference';
  if (text === 'WHEN') return isSearchedCase(tokens, at) ? 'when' : 'other';
  if ((text === 'DISTINCT' && isWord(tokens[at - 1], 'IS', 'NOT')) || (text === 'FROM' && before === 'DISTINCT'))
    return undefined;
  if (text === 'ASC' || text === 'DESC' || text === 'NULLS') return undefined;
  return CLAUSES[text] ?? (OTHER_KEYWORDS.has(text) ? 'other' : undefined);
}

/** Whether a table or a column follows ON, as in CREATE INDEX, CREATE TRIGGER and COMMENT, not a condition of a join. */
function isBeforeName(tokens: readonly Token[], at: number): boolean {
  const isDecisive = (token: Token) => token.text === ';' || isWord(token, 'JOIN', 'INDEX', 'TRIGGER', 'COMMENT');
  return isWord(tokens.slice(0, at).findLast(isDecisive), 'INDEX', 'TRIGGER', 'COMMENT');
}

/** Whether WHEN belongs to `CASE WHEN condition`, not to `CASE expression WHEN value`, MERGE or plpgsql's EXCEPTION. */
function isSearchedCase(tokens: readonly Token[], at: number): boolean {
  for (let index = at - 1, depth = 0; index >= 0; index--) {
    const { text } = tokens[index]!;
    if (text === 'END') depth++;
    else if (text === 'CASE' && depth-- === 0) return tokens[index + 1]?.text === 'WHEN';
  }
  return false;
}

function isWord(token: Token | undefined, ...words: readonly string[]): boolean {
  return token?.type === 'word' && words.includes(token.text);
}

/** Whether no operator is between a hole and a value. Such a hole contains a fragment that begins with a keyword. */
function isAdjacentHole(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at]!;
  const before = tokens[at - 1];
  if (before === undefined || (token.type !== 'hole' && before.type !== 'hole')) return false;
  const isName = (other: Token) => other.type === 'hole' || (other.type === 'word' && !/^[A-Z]+$/.test(other.text));
  const isValue = (other: Token) => isName(other) || ['group', 'string', 'number', 'parameter'].includes(other.type);
  return isValue(token) && isValue(before) && before.end < token.start;
}

function mutateSegment(segment: readonly Token[], clause: Clause, findings: Findings): void {
  if (clause === 'inference') return;
  const assigned = clause === 'assignment' ? segment.findIndex(({ text }) => text === '=') : -1;
  const tokens = segment.slice(assigned + 1);
  const isCondition = clause === 'condition' || clause === 'when';
  // The literal continues a condition that another literal begins.
  const isContinued = isWord(tokens[0], 'AND');
  const alternatives = splitAtWord(tokens, 'OR');
  for (const alternative of alternatives) {
    const operands = splitAtWord(alternative, 'AND');
    const isBoolean = isCondition || isContinued || alternatives.length > 1 || operands.length > 1;
    for (const operand of operands) {
      for (const token of operand)
        if (token.type === 'group')
          mutateTokens(token.children, isOperandGroup(operand) && isBoolean ? 'when' : 'value', findings);
      const place: OperandContext = {
        isBoolean,
        canBeAlwaysTrue: operands.length > 1 || alternatives.length === 1,
        canBeAlwaysFalse:
          operands.length === 1 && (alternatives.length > 1 || (clause !== 'condition' && !isContinued)),
      };
      if (clause !== 'other') mutateOperand(operand, place, findings);
    }
  }
}

/** Splits at a word, but not at the AND of BETWEEN. Omits empty parts of a fragment. */
function splitAtWord(tokens: readonly Token[], word: 'AND' | 'OR'): Token[][] {
  const parts: Token[][] = [[]];
  let isBetween = false;
  for (const token of tokens) {
    const isSplit = isWord(token, word) && !(isBetween && word === 'AND');
    if (isWord(token, 'BETWEEN')) isBetween = true;
    else if (isWord(token, 'AND')) isBetween = false;
    if (isSplit) parts.push([]);
    else parts.at(-1)!.push(token);
  }
  return parts.filter((part) => part.length > 0);
}

/** `(a OR b)`, `NOT (a OR b)`: the parentheses contain conditions, not arguments or a subquery. */
function isOperandGroup(operand: readonly Token[]): boolean {
  return operand.filter((token) => !isWord(token, 'NOT')).length === 1;
}

interface OperandContext {
  /** Only a condition is possible here, so a column without a comparison is a condition. */
  readonly isBoolean: boolean;
  /** Whether `always true` would select more rows. */
  readonly canBeAlwaysTrue: boolean;
  /** Whether `always false` would select fewer rows. */
  readonly canBeAlwaysFalse: boolean;
}

function mutateOperand(operand: readonly Token[], place: OperandContext, { text, found }: Findings): void {
  const inner = operand.filter((token, at) => !(at === 0 && isWord(token, 'NOT')));
  const at = inner.findIndex((token) => COMPARISONS.has(token.text) || isWord(token, ...COMPARING_WORDS));
  const isComparison = at > 0 && at < inner.length - 1;
  if (!isComparison && !(place.isBoolean && at === -1 && isBareCondition(inner))) return;
  if (!findNames(operand).some(isGuard)) return;
  const start = operand[0]!.start;
  const end = operand.at(-1)!.end;
  const original = text.slice(start, end);
  const add = (span: Span, replacement: string, change: string) =>
    found.push({ start: span.start, end: span.end, replacement, original: collapseSpaces(original), change });
  if (place.canBeAlwaysTrue) add({ start, end }, `(${original} OR TRUE)`, 'always true');
  if (place.canBeAlwaysFalse) add({ start, end }, `(${original} AND FALSE)`, 'always false');
  if (!isComparison) return;
  const operator = inner[at]!;
  const boundary = BOUNDARY_OPERATORS[operator.text];
  if (boundary !== undefined) add(operator, boundary, `${operator.text} becomes ${boundary}`);
  if (operator.text === '=' && findNames(inner.slice(0, at)).some(isVersion))
    for (const weaker of ['<=', '>=']) add(operator, weaker, `= becomes ${weaker}`);
  const list = inner.at(-1)!;
  if (isWord(operator, 'IN') && list.type === 'group')
    for (const { span, value } of listValueSpans(list)) add(span, '', `without ${value}`);
}

/** A boolean column or call, EXISTS, or a condition in parentheses. */
function isBareCondition(tokens: readonly Token[]): boolean {
  const [first] = tokens;
  if (first === undefined || tokens.some(({ type, text }) => type === 'operator' && text !== '.')) return false;
  if (first.type === 'group') return tokens.length === 1 && !isList(first);
  return first.type === 'word' && (first.text === 'EXISTS' || !/^[A-Z]+$/.test(first.text));
}

function isList(group: Token): boolean {
  return group.children.some(({ text }) => text === ',');
}

/** The spans to delete for each value of the list, each with its comma. */
function listValueSpans(list: Token): { span: Span; value: string }[] {
  const values = list.children.filter(({ text }) => text !== ',');
  const isPlain = values.every(({ type }) => type === 'string' || type === 'number');
  if (!isPlain || values.length < 2) return [];
  return values.map((value, at) => ({
    value: value.text,
    span: at === 0 ? { start: value.start, end: values[1]!.start } : { start: values[at - 1]!.end, end: value.end },
  }));
}

/** Omits each sort key after the first. Keeps column numbers, because they sort grouped rows. */
function mutateOrder(keys: readonly (readonly Token[])[], { text, found }: Findings): void {
  for (const [at, key] of keys.entries()) {
    const first = key[0];
    const before = keys[at - 1]?.at(-1);
    if (first === undefined || before === undefined || first.type === 'number') continue;
    const { end } = key.at(-1)!;
    const original = collapseSpaces(text.slice(keys[0]![0]!.start, end));
    const change = `not by ${collapseSpaces(text.slice(first.start, end))}`;
    found.push({ start: before.end, end, replacement: '', original: `ORDER BY ${original}`, change });
  }
}

/** The names of columns, and of JSON members after `->>` and `#>>`. */
function findNames(tokens: readonly Token[]): string[] {
  return tokens.flatMap((token, at) => {
    if (token.type === 'group') return findNames(token.children);
    if (token.type === 'word') return /^[A-Z_]+$/.test(token.text) || tokens[at + 1]?.text === '.' ? [] : [token.text];
    if (token.type === 'identifier') return [token.text];
    const isMember = token.type === 'string' && /^[-#]>/.test(tokens[at - 1]?.text ?? '');
    return isMember ? token.text.split(/[^A-Za-z]+/) : [];
  });
}

function collapseSpaces(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
