import fc from 'fast-check';
import type { Token } from './sql-tokens.ts';
import { tokenize } from './sql-tokens.ts';

const listTexts = (tokens: readonly Token[]): string[] => tokens.map(({ text }) => text);

it('tokenize returns words, operators, parameters, strings, casts and members of JSON', () => {
  expect(listTexts(tokenize(`a.b<=$12 AND d=$now AND c::text->>'it''s' <> 'x' || "B"`, []))).toEqual([
    'a',
    '.',
    'b',
    '<=',
    '$12',
    'AND',
    'd',
    '=',
    '$now',
    'AND',
    'c',
    '::',
    'text',
    '->>',
    `'it''s'`,
    '<>',
    `'x'`,
    '||',
    '"B"',
  ]);
});

it('tokenize returns parentheses as one token with children', () => {
  const [first, , group] = tokenize('a IN (1, (2))', []);
  expect(first!.text).toBe('a');
  expect(group).toMatchObject({ type: 'group', text: '(1, (2))' });
  expect(listTexts(group!.children)).toEqual(['1', ',', '(2)']);
});

it('tokenize accepts a fragment with an unmatched parenthesis', () => {
  expect(listTexts(tokenize('a) OR (b = c', []))).toEqual(['a', 'OR', 'b', '=', 'c']);
});

it('tokenize omits comments, including brackets and quotes in them', () => {
  expect(listTexts(tokenize(`a -- isn't (\n = /* ' */ b`, []))).toEqual(['a', '=', 'b']);
});

it('tokenize returns a hole as one token, and a string with a hole as one token', () => {
  const text = "a = ${f('(')} AND b = 'x${y}z'";
  const holes = [
    { start: 4, end: 13 },
    { start: text.indexOf('${y}'), end: text.indexOf('${y}') + 4 },
  ];
  expect(tokenize(text, holes).map(({ type }) => type)).toEqual([
    'word',
    'operator',
    'hole',
    'word',
    'word',
    'operator',
    'string',
  ]);
});

it('tokenize returns tokens with the text at their position, in order and without overlaps', () => {
  const part = fc.constantFrom(
    ' ',
    'a',
    "'",
    '"',
    '(',
    ')',
    '$1',
    '--',
    '\n',
    '/*',
    '*/',
    '<=',
    '::',
    ',',
    '1',
    'AND',
    '\\',
  );
  let tokenCount = 0;
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      const text = parts.join('');
      const check = (list: readonly Token[], from: number, to: number): void => {
        let last = from;
        for (const token of list) {
          tokenCount++;
          expect(token.start).toBeGreaterThanOrEqual(last);
          expect(token.end).toBeLessThanOrEqual(to);
          expect(text.slice(token.start, token.end)).toBe(token.text);
          check(token.children, token.start, token.end);
          last = token.end;
        }
      };
      check(tokenize(text, []), 0, text.length);
    }),
    { numRuns: 500 },
  );
  expect(tokenCount).toBeGreaterThan(500);
});
