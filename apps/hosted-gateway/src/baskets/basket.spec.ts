import { computeLineTotal, isTaxIncluded, MAX_BASKET_WARNINGS, readBasket } from './basket.js';

const MUG = { name: 'Enamel Mug', unitPrice: 9_900, quantity: 2 };
const TEA = { productCode: 'TEA', unitPrice: '4475' };
/** MUG, TEA and delivery. */
const AMOUNT = 9_900 * 2 + 4_475 + 6_000;

test('a basket has the lines, the delivery and the tax of the request', () => {
  expect(readBasket({ lineItems: [MUG, TEA], shippingAmount: 6_000, taxAmount: 3_949 }, AMOUNT)).toEqual({
    basket: {
      lines: [
        { name: 'Enamel Mug', unitPrice: 9_900, quantity: 2 },
        { name: 'TEA', unitPrice: 4_475 },
      ],
      shippingAmount: 6_000,
      taxAmount: 3_949,
    },
    warnings: [],
  });
});

test.each([
  [
    { name: 'A', productCode: 'B', sku: 'C', unitPrice: 1, quantity: 1, categories: ['x'] },
    { name: 'A', unitPrice: 1 },
  ],
  [
    { sku: 'C', unitPrice: 1 },
    { name: 'C', unitPrice: 1 },
  ],
  [
    { name: 'A\tB\u0000', unitPrice: '1' },
    { name: 'A B ', unitPrice: 1 },
  ],
])('the line item %j is stored as %j', (item, line) => {
  expect(readBasket({ lineItems: [item] }, 1).basket).toEqual({ lines: [line] });
});

test('a request without line items has no basket and no warning', () => {
  expect(readBasket({}, 1)).toEqual({ basket: null, warnings: [] });
  expect(readBasket({ lineItems: [] }, 1)).toEqual({ basket: null, warnings: [] });
});

test('the tax is included in the prices, or added to them', () => {
  const lineItems = [{ name: 'A', unitPrice: 10_000 }];
  const read = (amount: number) => readBasket({ lineItems, shippingAmount: 500, taxAmount: 1_575 }, amount).basket;
  expect([read(10_500), read(12_075)].map((basket, index) => isTaxIncluded(basket!, [10_500, 12_075][index]!))).toEqual(
    [true, false],
  );
  for (const amount of [10_000, 10_499, 10_501, 12_074, 12_076, 11_575]) expect(read(amount)).toBeNull();
});

test('the sum may differ by one cent for each line with a part of a unit, because merchants round in different ways', () => {
  const lineItems = [
    { name: 'Apples', unitPrice: 2_619, quantity: 0.125 },
    { name: 'Pears', unitPrice: 2_619, quantity: 0.125 },
    { name: 'Bag', unitPrice: 100, quantity: 2 },
  ];
  const isShown = (amount: number): boolean => readBasket({ lineItems }, amount).basket !== null;
  expect([851, 852, 854, 856, 857].map(isShown)).toEqual([false, true, true, true, false]);
});

test.each<[fields: object, field: string]>([
  [{ lineItems: 'Mug' }, 'lineItems'],
  [{ lineItems: { 0: MUG } }, 'lineItems'],
  [{ lineItems: Array.from({ length: 501 }, () => ({ name: 'A', unitPrice: 0 })) }, 'lineItems'],
  [{ lineItems: [null] }, 'lineItems[0]'],
  [{ lineItems: ['Mug'] }, 'lineItems[0]'],
  [{ lineItems: [{ unitPrice: 1 }] }, 'lineItems[0].name'],
  [{ lineItems: [{ name: '', unitPrice: 1 }] }, 'lineItems[0].name'],
  [{ lineItems: [{ name: 'x'.repeat(201), unitPrice: 1 }] }, 'lineItems[0].name'],
  [{ lineItems: [{ name: 7, unitPrice: 1 }] }, 'lineItems[0].name'],
  [{ lineItems: [{ productCode: 'x'.repeat(101), unitPrice: 1 }] }, 'lineItems[0].productCode'],
  [{ lineItems: [{ sku: 'a\nb', unitPrice: 1 }] }, 'lineItems[0].sku'],
  [{ lineItems: [MUG, { name: 'A' }] }, 'lineItems[1].unitPrice'],
  [{ lineItems: [{ name: 'A', unitPrice: -1 }] }, 'lineItems[0].unitPrice'],
  [{ lineItems: [{ name: 'A', unitPrice: 0.5 }] }, 'lineItems[0].unitPrice'],
  [{ lineItems: [{ name: 'A', unitPrice: 100_000_000_001 }] }, 'lineItems[0].unitPrice'],
  [{ lineItems: [{ name: 'A', unitPrice: 1, quantity: 0 }] }, 'lineItems[0].quantity'],
  [{ lineItems: [{ name: 'A', unitPrice: 1, quantity: '1' }] }, 'lineItems[0].quantity'],
  [{ lineItems: [{ name: 'A', unitPrice: 1, quantity: 1_000_001 }] }, 'lineItems[0].quantity'],
  [{ lineItems: [MUG], taxAmount: '1' }, 'taxAmount'],
  [{ lineItems: [MUG], taxAmount: -1 }, 'taxAmount'],
  [{ lineItems: [MUG], taxAmount: 100_000_000_001 }, 'taxAmount'],
  [{ lineItems: [MUG], shippingAmount: 1.5 }, 'shippingAmount'],
  [{ taxAmount: 1 }, 'taxAmount'],
  [{ shippingAmount: 1, lineItems: [] }, 'shippingAmount'],
  [{ lineItems: [MUG], shippingAmount: 1 }, 'lineItems'],
])('%j is not shown, and the only warning names %s', (fields, field) => {
  const { basket, warnings } = readBasket(fields, 9_900 * 2);
  expect(basket).toBeNull();
  expect(warnings.map((warning) => warning.field)).toEqual([field]);
  // The message never repeats a value of the request.
  expect(warnings[0]!.message).toMatch(/^[a-zA-Z[\]0-9.]+ (must|is|and) [^"]{10,120}$/);
});

test.each([
  [undefined, 'lineItems and shippingAmount are 10500 cents, but amount is 9900: the page shows no lines'],
  [
    100,
    'lineItems and shippingAmount are 10500 cents (10600 with taxAmount), but amount is 9900: the page shows no lines',
  ],
])('the warning about lines that do not add up has all sums, with the tax %p', (taxAmount, message) => {
  const lineItems = [{ name: 'Mug', unitPrice: 5_000, quantity: 2 }];
  const { warnings } = readBasket(
    { lineItems, shippingAmount: 500, ...(taxAmount === undefined ? {} : { taxAmount }) },
    9_900,
  );
  expect(warnings).toEqual([{ field: 'lineItems', message }]);
});

test('there are at most five warnings, whatever the number of wrong lines', () => {
  const { warnings } = readBasket(
    { lineItems: Array.from({ length: 500 }, () => ({})), taxAmount: '', shippingAmount: '' },
    1,
  );
  expect(warnings).toHaveLength(MAX_BASKET_WARNINGS);
});

test('500 lines are a basket', () => {
  const lineItems = Array.from({ length: 500 }, (_, index) => ({ name: `Line ${index}`, unitPrice: 100 }));
  expect(readBasket({ lineItems }, 50_000).basket?.lines).toHaveLength(500);
});

test.each([
  [129, 2.5, 323],
  [129, -2.5, -323],
  [0, -1, 0],
  [100_000_000_000, 1e6, Number.MAX_SAFE_INTEGER],
])('the total of a line is rounded half away from zero and bounded: %d × %d is %d', (unitPrice, quantity, total) => {
  expect(computeLineTotal({ unitPrice, quantity })).toBe(total);
});
