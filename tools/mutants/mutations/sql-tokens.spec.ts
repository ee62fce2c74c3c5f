import fc from 'fast-check';
import type { Token } from './sql-tokens.ts';
import { tokenize } from './sql-tokens.ts';

const texts = (tokens: readonly Token[]): string[] => tokens.map(({ text }) => text);

it('reads words, operators, parameters, strings, casts and members of JSON', () => {
  expect(texts(tokenize(`a.b<=$12 AND d=$now AND c::text->>'it''s' <> 'x' || "B"`, []))).toEqual([
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

it('reads parentheses as one token with children', () => {
  const [first, , group] = tokenize('a IN (1, (2))', []);
  expect(first!.text).toBe('a');
  expect(group).toMatchObject({ type: 'group', text: '(1, (2))' });
  expect(texts(group!.children)).toEqual(['1', ',', '(2)']);
});

it('reads a fragment that opens or closes the parentheses of another', () => {
  expect(texts(tokenize('a) OR (b = c', []))).toEqual(['a', 'OR', 'b', '=', 'c']);
});

it('omits comments, including brackets and quotes in them', () => {
  expect(texts(tokenize(`a -- isn't (\n = /* ' */ b`, []))).toEqual(['a', '=', 'b']);
});

it('reads a hole as one token, whatever it contains, also inside a string', () => {
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

it('gives every token the text at its position, in order and without overlaps', () => {
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
  let tokens = 0;
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      const text = parts.join('');
      const check = (list: readonly Token[], from: number, to: number): void => {
        let last = from;
        for (const token of list) {
          tokens++;
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
  expect(tokens).toBeGreaterThan(500);
});
