import type { BookLine, LineFields } from '@svc/contracts';
import fc from 'fast-check';
import { type Difference, differencesBetween } from './merge-walk.js';

async function* linesOf(lines: readonly BookLine[]): AsyncGenerator<BookLine> {
  yield* await Promise.resolve(lines.toSorted((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key))));
}

async function differences(expected: readonly BookLine[], found: readonly BookLine[]): Promise<Difference[]> {
  const all: Difference[] = [];
  for await (const difference of differencesBetween(linesOf(expected), linesOf(found))) all.push(difference);
  return all;
}

const aLine = (key: string, line: LineFields | null = { amount: 100 }, open = false): BookLine => ({ key, line, open });

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
  .map((rows) => rows.map(([key, line]) => aLine(key, line)));

describe('two books', () => {
  it('are equal if their lines are equal, in any order of members and rows', () =>
    fc.assert(
      fc.asyncProperty(BOOK, async (book) => {
        const reordered = book.map(({ key, line }) =>
          aLine(key, Object.fromEntries(Object.entries(line!).toReversed())),
        );
        expect(await differences(book, reordered.toReversed())).toEqual([]);
      }),
    ));

  it('differ in exactly the row that was removed, added or changed', () =>
    fc.assert(
      fc.asyncProperty(
        BOOK.filter(({ length }) => length > 0),
        fc.nat(),
        async (book, nth) => {
          const row = book[nth % book.length]!;
          const others = book.filter((each) => each !== row);
          const named = { key: row.key, field: null };
          expect(await differences(book, others)).toEqual([
            { ...named, kind: 'missing', expected: row.line, found: null },
          ]);
          expect(await differences(others, book)).toEqual([
            { ...named, kind: 'unexpected', expected: null, found: row.line },
          ]);
          const { amount } = row.line as { amount: number };
          const altered = aLine(row.key, { ...row.line, amount: amount + 1 });
          expect(await differences(book, [...others, altered])).toEqual([
            { key: row.key, kind: 'differs', field: 'amount', expected: amount, found: amount + 1 },
          ]);
        },
      ),
    ));
});

it('a difference names a member that only one side has', async () => {
  expect(await differences([aLine('a', { amount: 1 })], [aLine('a', { amount: 1, extra: 2 })])).toEqual([
    { key: 'a', kind: 'differs', field: 'extra', expected: null, found: 2 },
  ]);
});

it('rows with the same key are compared separately, because readers number them', async () => {
  expect(await differences([aLine('a')], [aLine('a'), aLine('a#2')])).toMatchObject([
    { key: 'a#2', kind: 'unexpected' },
  ]);
});

describe('a row that is open', () => {
  it.each<[string, BookLine[], BookLine[]]>([
    ['has not arrived yet', [aLine('a', { amount: 1 }, true)], []],
    ['is not final here and final there', [aLine('a', null, true)], [aLine('a')]],
    ['differs', [aLine('a', { amount: 1 }, true)], [aLine('a')]],
    ['is known to the acquirer alone', [], [aLine('a', null, true)]],
    ['is known to the acquirer and differs', [aLine('a')], [aLine('a', null, true)]],
  ])('is no difference if it %s', async (_, expected, found) => {
    expect(await differences(expected, found)).toEqual([]);
  });

  it('is compared if only its delivery is open', async () => {
    expect(await differences([aLine('a')], [aLine('a', { amount: 7 }, true)])).toMatchObject([{ kind: 'differs' }]);
    expect(await differences([], [aLine('a', { amount: 7 }, true)])).toMatchObject([{ kind: 'unexpected' }]);
  });

  it('does not hide the rows after it', async () => {
    expect(await differences([aLine('a', null, true), aLine('b')], [])).toMatchObject([{ key: 'b', kind: 'missing' }]);
  });
});
