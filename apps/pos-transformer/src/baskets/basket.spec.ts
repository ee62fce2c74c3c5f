import fc from 'fast-check';
import { type BasketLine, isLineTotalCorrect, isSameContent, isSumCorrect, MAX_LINES, putLine } from './basket.js';

const line = (changes: Partial<BasketLine> = {}): BasketLine => ({
  id: 1,
  name: 'Rooibos',
  productCode: 'RB',
  price: 4_475,
  quantity: 2,
  total: 8_950,
  ...changes,
});

describe('lines of a basket (T3)', () => {
  it.each<[string, Partial<BasketLine>, string, number[]]>([
    ['another id is another line', { id: 2 }, 'added', [1, 2]],
    ['the same id replaces the line', { quantity: 5 }, 'replaced', [1]],
    ['quantity 0 removes the line', { quantity: 0 }, 'removed', []],
    ['quantity -0 removes the line', { quantity: -0 }, 'removed', []],
    ['quantity 0 of an unknown line changes nothing', { id: 9, quantity: 0 }, 'nothing-to-remove', [1]],
    ['a negative quantity is a return', { id: 2, quantity: -1 }, 'added', [1, 2]],
  ])('%s', (_, changes, change, ids) => {
    const after = putLine([line()], line(changes));
    expect([after.change, after.lines.map(({ id }) => id)]).toEqual([change, ids]);
  });

  it('are at most 500: another line is refused and changes nothing, and an existing line can be replaced and removed', () => {
    const full = Array.from({ length: MAX_LINES }, (_, id) => line({ id }));
    expect(putLine(full.slice(1), line({ id: 0 })).change).toBe('added');
    expect(putLine(full, line({ id: 500 }))).toEqual({ lines: full, change: 'full' });
    expect(putLine(full, line({ id: 499, quantity: 7 })).lines.at(-1)).toEqual(line({ id: 499, quantity: 7 }));
    expect(putLine(full, line({ id: 499, quantity: 0 })).lines).toHaveLength(499);
  });

  it('are the last line of each id that was not removed', () => {
    const anyLine = fc.record({ id: fc.integer({ min: 0, max: 9 }), quantity: fc.integer({ min: -2, max: 2 }) });
    fc.assert(
      fc.property(fc.array(anyLine, { maxLength: 40 }), (changes) => {
        const after = changes.reduce<readonly BasketLine[]>((lines, change) => putLine(lines, line(change)).lines, []);
        const last = new Map(changes.map(({ id, quantity }) => [id, quantity]));
        expect(after).toHaveLength(new Set(after.map(({ id }) => id)).size);
        expect(new Map(after.map(({ id, quantity }) => [id, quantity]))).toEqual(
          new Map([...last].filter(([, quantity]) => quantity !== 0)),
        );
      }),
    );
  });
});

describe('the total of a line is price times quantity (T3)', () => {
  it.each<[Partial<BasketLine>, boolean]>([
    [{}, true],
    [{ total: 8_951 }, false],
    [{ price: 129, quantity: 0.543, total: 70 }, true],
    [{ price: 129, quantity: 0.543, total: 70.047 }, true],
    [{ price: 129, quantity: 0.543, total: 71 }, false],
    [{ price: 5, quantity: 0.5, total: 3 }, true],
    [{ price: 5, quantity: -0.5, total: -3 }, true],
    [{ quantity: -2, total: -8_950 }, true],
    [{ quantity: -2, total: 8_950 }, false],
    [{ price: 100_000_000_000, quantity: 1_000_000, total: 100_000_000_000 }, false],
  ])('%j: %s', (changes, isRight) => expect(isLineTotalCorrect(line(changes))).toBe(isRight));
});

describe('the sum of the lines is the amount', () => {
  it.each<[string, Partial<BasketLine>[], number, boolean]>([
    ['T11: no lines say nothing about the amount', [], 17, true],
    ['T11: the sum', [{}, { total: 50 }], 9_000, true],
    ['T11: less than the sum', [{}], 8_949, false],
    ['T11: more than the sum', [{}], 8_951, false],
    ['T3: a return is deducted', [{}, { total: -950 }], 8_000, true],
    ['T3: each line rounded half up', [{ total: 0.5 }, { total: 0.5 }], 2, true],
    ['T3: the sum rounded', [{ total: 0.5 }, { total: 0.5 }], 1, true],
    ['T3: neither', [{ total: 0.5 }, { total: 0.5 }], 3, false],
  ])('%s', (_, lines, amount, isRight) =>
    expect(isSumCorrect({ lines: lines.map((changes, id) => line({ id, ...changes })) }, amount)).toBe(isRight),
  );

  const order = { Products: [], BasketDiscounts: [{ DiscountValue: 300 }], Tenders: [{ TenderValue: 650 }] };
  it.each<[string, Partial<BasketLine>[], number, boolean]>([
    ['T3: prices times quantities, less discounts and tenders', [{ total: 0 }], 8_000, true],
    ['T3: without the deductions', [{ total: 0 }], 8_950, false],
    ['T3: an order without products', [], 100, false],
    ['T3: paid otherwise, nothing is owed', [], -950, true],
  ])('%s', (_, lines, amount, isRight) =>
    expect(isSumCorrect({ lines: lines.map((changes, id) => line({ id, ...changes })), order }, amount)).toBe(isRight),
  );

  it('is right for lines of whole cents only if it is their exact sum', () => {
    const totals = fc.array(fc.integer({ min: -1e8, max: 1e8 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(totals, fc.integer({ min: 1, max: 1_000 }), (each, wrongBy) => {
        const lines = each.map((total, id) => line({ id, total }));
        const sum = each.reduce((a, b) => a + b, 0);
        expect(isSumCorrect({ lines }, sum)).toBe(true);
        expect(isSumCorrect({ lines }, sum + wrongBy)).toBe(false);
      }),
    );
  });
});

test('baskets are compared with all of their fields', () => {
  const content = { lines: [line()] };
  expect(isSameContent(content, { lines: [line()] })).toBe(true);
  expect(isSameContent(content, { lines: [line({ name: 'Honeybush' })] })).toBe(false);
});
