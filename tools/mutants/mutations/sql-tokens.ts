/** The tokens of SQL inside a TypeScript literal, including holes (`${…}`). */
export interface Token {
  readonly type: 'word' | 'identifier' | 'string' | 'number' | 'parameter' | 'hole' | 'operator' | 'group';
  /** The position in the literal's text. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The tokens between the parentheses of a group. */
  readonly children: readonly Token[];
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

const WORD = /[A-Za-z_][A-Za-z_0-9$]*/y;
const NUMBER = /\d+(?:\.\d+)?/y;
const PARAMETER = /\$\w+/y;
const OPERATOR = /->>|->|#>>|#>|<=|>=|<>|!=|::|:=|\|\||&&|@>|<@|[-+*/^%~=<>?,;.[\]{}:|&@#]/y;
const CLOSING: Readonly<Record<string, string>> = { '(': ')' };

/**
 * Splits SQL into a tree of tokens: parentheses with their content are one token, a group. Omits comments. A backslash
 * of the TypeScript literal counts as white space, so that `\'` begins and ends a string as `'` does.
 */
export function tokenize(text: string, holes: readonly Span[]): Token[] {
  const root: Token[] = [];
  const open: { start: number; outer: Token[] }[] = [];
  let current = root;
  for (let at = 0; at < text.length;) {
    const hole = holes.find(({ start }) => start === at);
    const end = hole?.end ?? findTokenEnd(text, at, holes);
    const part = text.slice(at, end);
    const character = text[at]!;
    if (hole) current.push(createToken('hole', at, end, part));
    else if (character in CLOSING) {
      open.push({ start: at, outer: current });
      current = [];
    } else if (character === ')') {
      const group = open.pop();
      // Without a group, the fragment closes a parenthesis that another literal opens.
      const children = current;
      current = group?.outer ?? root;
      if (group) {
        const whole = { type: 'group' as const, start: group.start, end, text: text.slice(group.start, end), children };
        current.push(whole);
      }
    } else {
      const type = findTokenType(part, character);
      if (type !== undefined) current.push(createToken(type, at, end, part));
    }
    at = end;
  }
  // A parenthesis that the fragment does not close is ignored.
  for (let group = open.pop(); group; group = open.pop()) {
    group.outer.push(...current);
    current = group.outer;
  }
  return root;
}

function createToken(type: Token['type'], start: number, end: number, text: string): Token {
  return { type, start, end, text, children: [] };
}

function findTokenType(part: string, character: string): Token['type'] | undefined {
  if (part.startsWith('--') || part.startsWith('/*') || /^[\s\\]/.test(part)) return undefined;
  if (character === "'") return 'string';
  if (character === '"') return 'identifier';
  if (/[A-Za-z_]/.test(character)) return 'word';
  if (/\d/.test(character)) return 'number';
  return /^\$\w/.test(part) ? 'parameter' : 'operator';
}

function findTokenEnd(text: string, at: number, holes: readonly Span[]): number {
  const character = text[at]!;
  if (character === "'" || character === '"') return findQuoteEnd(text, at, character, holes);
  if (text.startsWith('--', at)) return findText(text, '\n', at);
  if (text.startsWith('/*', at)) return findText(text, '*/', at) + 2;
  for (const pattern of [WORD, NUMBER, PARAMETER, OPERATOR]) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) return at + found[0].length;
  }
  return at + 1;
}

function findText(text: string, mark: string, at: number): number {
  const found = text.indexOf(mark, at);
  return found === -1 ? text.length : found;
}

/** The end of a quoted text. Two quotes in sequence are one character of it, and quotes in a hole do not count. */
function findQuoteEnd(text: string, at: number, quote: string, holes: readonly Span[]): number {
  for (let next = at + 1; next < text.length; next++) {
    const hole = holes.find(({ start }) => start === next);
    if (hole) next = hole.end - 1;
    else if (text[next] === quote && text[next + 1] === quote) next++;
    else if (text[next] === quote) return next + 1;
  }
  return text.length;
}
