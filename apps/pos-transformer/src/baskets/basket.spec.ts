import fc from 'fast-check';
import { type BasketLine, isLineTotalCorrect, isSameContent, isSumCorrect, MAX_LINES, putLine } from './basket.js';

const line = (changes: Partial<BasketLine> = {}): BasketLine => ({
  id: 1,
  name: 'Rooibos',
  productCode: 'RB',
  price: 4_475,
  quantity: 2,
  lineTotal: 8_950,
  ...changes,
});

describe('lines of a basket (T3)', () => {
  it.each<[string, Partial<BasketLine>, string, number[]]>([
    ['a line with a new id is added', { id: 2 }, 'added', [1, 2]],
    ['a line with a known id replaces the old line', { quantity: 5 }, 'replaced', [1]],
    ['a line with quantity 0 removes the old line', { quantity: 0 }, 'removed', []],
    ['a line with quantity -0 removes the old line', { quantity: -0 }, 'removed', []],
    ['a line with quantity 0 and an unknown id changes nothing', { id: 9, quantity: 0 }, 'nothing-to-remove', [1]],
    ['a line with a negative quantity is added as a return', { id: 2, quantity: -1 }, 'added', [1, 2]],
  ])('%s', (_, changes, expectedChange, expectedIds) => {
    const result = putLine([line()], line(changes));
    expect([result.change, result.lines.map(({ id }) => id)]).toEqual([expectedChange, expectedIds]);
  });

  it('the 501st line is refused and changes nothing, but an existing line can still be replaced and removed', () => {
    const full = Array.from({ length: MAX_LINES }, (_, id) => line({ id }));
    expect(putLine(full.slice(1), line({ id: 0 })).change).toBe('added');
    expect(putLine(full, line({ id: 500 }))).toEqual({ lines: full, change: 'full' });
    expect(putLine(full, line({ id: 499, quantity: 7 })).lines.at(-1)).toEqual(line({ id: 499, quantity: 7 }));
    expect(putLine(full, line({ id: 499, quantity: 0 })).lines).toHaveLength(499);
  });

  it('for each line id, a basket contains the line that was sent last, unless this line had quantity 0', () => {
    const anyLine = fc.record({ id: fc.integer({ min: 0, max: 9 }), quantity: fc.integer({ min: -2, max: 2 }) });
    fc.assert(
      fc.property(fc.array(anyLine, { maxLength: 40 }), (changes) => {
        const result = changes.reduce<readonly BasketLine[]>((lines, change) => putLine(lines, line(change)).lines, []);
        const lastQuantities = new Map(changes.map(({ id, quantity }) => [id, quantity]));
        expect(result).toHaveLength(new Set(result.map(({ id }) => id)).size);
        expect(new Map(result.map(({ id, quantity }) => [id, quantity]))).toEqual(
          new Map([...lastQuantities].filter(([, quantity]) => quantity !== 0)),
        );
      }),
    );
  });
});

describe('T3: isLineTotalCorrect compares the total of a line with price times quantity', () => {
  // The basic line has price 4475, quantity 2 and total 8950.
  it.each<[Partial<BasketLine>, boolean]>([
    [{}, true],
    [{ lineTotal: 8_951 }, false],
    [{ price: 129, quantity: 0.543, lineTotal: 70 }, true],
    [{ price: 129, quantity: 0.543, lineTotal: 70.047 }, true],
    [{ price: 129, quantity: 0.543, lineTotal: 71 }, false],
    [{ price: 5, quantity: 0.5, lineTotal: 3 }, true],
    [{ price: 5, quantity: -0.5, lineTotal: -3 }, true],
    [{ quantity: -2, lineTotal: -8_950 }, true],
    [{ quantity: -2, lineTotal: 8_950 }, false],
    [{ price: 100_000_000_000, quantity: 1_000_000, lineTotal: 100_000_000_000 }, false],
  ])('a line changed by %j returns %s', (changes, isCorrect) =>
    expect(isLineTotalCorrect(line(changes))).toBe(isCorrect),
  );
});

describe('isSumCorrect compares the amount due with the lines of the basket', () => {
  // Each line has price 4475, quantity 2 and total 8950, if the test does not change them.
  it.each<[string, Partial<BasketLine>[], number, boolean]>([
    ['T11: any amount is correct for a basket without lines', [], 17, true],
    ['T11: the sum of the lines is correct', [{}, { lineTotal: 50 }], 9_000, true],
    ['T11: less than the sum is wrong', [{}], 8_949, false],
    ['T11: more than the sum is wrong', [{}], 8_951, false],
    ['T3: the sum minus a return is correct', [{}, { lineTotal: -950 }], 8_000, true],
    [
      'T3: the sum of lines that are each rounded half up is correct',
      [{ lineTotal: 0.5 }, { lineTotal: 0.5 }],
      2,
      true,
    ],
    ['T3: the rounded sum of unrounded lines is correct', [{ lineTotal: 0.5 }, { lineTotal: 0.5 }], 1, true],
    ['T3: an amount that differs from both rounded sums is wrong', [{ lineTotal: 0.5 }, { lineTotal: 0.5 }], 3, false],
  ])('%s', (_, lines, amount, isCorrect) =>
    expect(isSumCorrect({ lines: lines.map((changes, id) => line({ id, ...changes })) }, amount)).toBe(isCorrect),
  );

  // For an order, isSumCorrect ignores the totals of the lines and computes price times quantity.
  const order = { Products: [], BasketDiscounts: [{ DiscountValue: 300 }], Tenders: [{ TenderValue: 650 }] };
  it.each<[string, Partial<BasketLine>[], number, boolean]>([
    ['T3: prices times quantities, minus discounts and tenders, is correct', [{ lineTotal: 0 }], 8_000, true],
    ['T3: prices times quantities, without the deductions, is wrong', [{ lineTotal: 0 }], 8_950, false],
    ['T3: a positive amount is wrong for an order without products', [], 100, false],
    ['T3: the negative sum of the deductions is correct for an order without products', [], -950, true],
  ])('%s', (_, lines, amount, isCorrect) =>
    expect(isSumCorrect({ lines: lines.map((changes, id) => line({ id, ...changes })), order }, amount)).toBe(
      isCorrect,
    ),
  );

  it('only the exact sum is correct for lines of whole cents', () => {
    const totals = fc.array(fc.integer({ min: -1e8, max: 1e8 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(totals, fc.integer({ min: 1, max: 1_000 }), (each, wrongBy) => {
        const lines = each.map((lineTotal, id) => line({ id, lineTotal }));
        const sum = each.reduce((a, b) => a + b, 0);
        expect(isSumCorrect({ lines }, sum)).toBe(true);
        expect(isSumCorrect({ lines }, sum + wrongBy)).toBe(false);
      }),
    );
  });
});

test('isSameContent compares every field of two baskets', () => {
  const content = { lines: [line()] };
  expect(isSameContent(content, { lines: [line()] })).toBe(true);
  expect(isSameContent(content, { lines: [line({ name: 'Honeybush' })] })).toBe(false);
});
