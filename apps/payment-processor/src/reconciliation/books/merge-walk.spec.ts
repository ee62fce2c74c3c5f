import type { BookLine, LineFields } from '@svc/contracts';
import fc from 'fast-check';
import { type Difference, differencesBetween } from './merge-walk.js';

async function* sortedLines(lines: readonly BookLine[]): AsyncGenerator<BookLine> {
  yield* await Promise.resolve(lines.toSorted((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key))));
}

async function findDifferences(expected: readonly BookLine[], found: readonly BookLine[]): Promise<Difference[]> {
  const result: Difference[] = [];
  for await (const difference of differencesBetween(sortedLines(expected), sortedLines(found))) result.push(difference);
  return result;
}

const buildLine = (key: string, line: LineFields | null = { amount: 100 }, open = false): BookLine => ({
  key,
  line,
  open,
});

const FIELDS = fc.record({
  amount: fc.integer({ min: 0, max: 1_000_000 }),
  state: fc.constantFrom('success', 'failed'),
  site: fc.constantFrom('WEB', 'TILL', null),
  vouchers: fc.array(fc.record({ amount: fc.integer({ min: 1, max: 9 }), merchantLiable: fc.boolean() }), {
    maxLength: 2,
  }),
});
const BOOK = fc
  .uniqueArray(fc.tuple(fc.string({ minLength: 1, maxLength: 6 }), FIELDS), { selector: ([key]) => key, maxLength: 30 })
  .map((rows) => rows.map(([key, line]) => buildLine(key, line)));

describe('two books', () => {
  it('are equal if their lines are equal, independently of the order of members and rows', () =>
    fc.assert(
      fc.asyncProperty(BOOK, async (book) => {
        const reordered = book.map(({ key, line }) =>
          buildLine(key, Object.fromEntries(Object.entries(line!).toReversed())),
        );
        expect(await findDifferences(book, reordered.toReversed())).toEqual([]);
      }),
    ));

  it('differ exactly in the row that was removed, added or changed', () =>
    fc.assert(
      fc.asyncProperty(
        BOOK.filter(({ length }) => length > 0),
        fc.nat(),
        async (book, nth) => {
          const row = book[nth % book.length]!;
          const otherRows = book.filter((candidate) => candidate !== row);
          const keyAndField = { key: row.key, field: null };
          expect(await findDifferences(book, otherRows)).toEqual([
            { ...keyAndField, kind: 'missing', expected: row.line, found: null },
          ]);
          expect(await findDifferences(otherRows, book)).toEqual([
            { ...keyAndField, kind: 'unexpected', expected: null, found: row.line },
          ]);
          const { amount } = row.line as { amount: number };
          const altered = buildLine(row.key, { ...row.line, amount: amount + 1 });
          expect(await findDifferences(book, [...otherRows, altered])).toEqual([
            { key: row.key, kind: 'differs', field: 'amount', expected: amount, found: amount + 1 },
          ]);
        },
      ),
    ));
});

it('a difference contains the name of a member that only one book has', async () => {
  expect(await findDifferences([buildLine('a', { amount: 1 })], [buildLine('a', { amount: 1, extra: 2 })])).toEqual([
    { key: 'a', kind: 'differs', field: 'extra', expected: null, found: 2 },
  ]);
});

it('the first different member in the order of the names is reported', async () => {
  const [expected, found] = [
    { b: 1, a: 1, c: 1 },
    { c: 1, b: 2, a: 2 },
  ];
  expect(await findDifferences([buildLine('k', expected)], [buildLine('k', found)])).toMatchObject([{ field: 'a' }]);
});

it.each<[unknown, unknown, boolean]>([
  [undefined, null, true],
  [null, 0, false],
  [null, '', false],
  [1, '1', false],
  [[], {}, false],
  [[1, 2], [2, 1], false],
  [{ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }, true],
])('the members %j and %j are equal: %p', async (expected, found, isEqual) => {
  const differences = await findDifferences([buildLine('k', { m: expected })], [buildLine('k', { m: found })]);
  expect(differences).toHaveLength(isEqual ? 0 : 1);
});

it('two rows with the same key are compared separately, because the second row gets the key with the suffix #2', async () => {
  expect(await findDifferences([buildLine('a')], [buildLine('a'), buildLine('a#2')])).toMatchObject([
    { key: 'a#2', kind: 'unexpected' },
  ]);
});

/**
 * A row is open if it is not final, became final a moment ago, or is not delivered yet. The content of a row that is
 * not final is null.
 */
describe('an open row', () => {
  it.each<[string, BookLine[], BookLine[]]>([
    ['has not arrived yet', [buildLine('a', { amount: 1 }, true)], []],
    ['is not final in the payments but final in the book', [buildLine('a', null, true)], [buildLine('a')]],
    ['differs', [buildLine('a', { amount: 1 }, true)], [buildLine('a')]],
    ['is only in the book', [], [buildLine('a', null, true)]],
    ['is only in the book and has no content', [], [buildLine('a', null)]],
    ['is open in the book and differs', [buildLine('a')], [buildLine('a', null, true)]],
  ])('is not reported if it %s', async (_, expected, found) => {
    expect(await findDifferences(expected, found)).toEqual([]);
  });

  it('is compared if it has its final content and only its delivery is open', async () => {
    expect(await findDifferences([buildLine('a')], [buildLine('a', { amount: 7 }, true)])).toMatchObject([
      { kind: 'differs' },
    ]);
    expect(await findDifferences([], [buildLine('a', { amount: 7 }, true)])).toMatchObject([{ kind: 'unexpected' }]);
  });

  it('does not prevent the comparison of the next rows', async () => {
    expect(await findDifferences([buildLine('a', null, true), buildLine('b')], [])).toMatchObject([
      { key: 'b', kind: 'missing' },
    ]);
  });
});
