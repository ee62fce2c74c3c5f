import { DomainError } from '@svc/kernel';
import fc from 'fast-check';
import {
  formatZar,
  isSessionUsable,
  merchantOrderIdOf,
  type Order,
  orderNumberFrom,
  readCheckout,
  sessionRequestFor,
  totalOf,
} from './order.js';
import { PRODUCTS } from './products.js';

const CHECKOUT_ID = '0d0a4f0e-5d0c-4a3e-9d2a-0c6f2b7a1e11';

const anOrder: Order = {
  orderId: CHECKOUT_ID,
  orderNumber: 1001,
  lines: [],
  totalCents: 100,
  createdAt: new Date('2026-03-01T10:00:00.000Z'),
  state: 'awaiting-payment',
  paymentReference: null,
  paidAt: null,
  sessionNumber: 1,
  sessionRequestedAt: new Date('2026-03-01T10:00:00.000Z'),
  sessionId: 'aaaaaaaa-0000-4000-8000-000000000000',
  redirectUrl: 'http://127.0.0.1/pay',
};
const aFailedTry = {
  sessionId: anOrder.sessionId!,
  paymentReference: 'x',
  userMessage: null,
  paymentUTCDate: anOrder.createdAt,
};
const refusalOf = (form: unknown): DomainError => {
  try {
    readCheckout(form);
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('Nothing was refused.');
};
const after = (minutes: number): Date => new Date(anOrder.createdAt.getTime() + minutes * 60_000);

describe('readCheckout', () => {
  it('takes quantities from the form, and names and prices only from the shop', () => {
    const form = { checkoutId: CHECKOUT_ID, 'quantity-enamel-mug': '3', 'price-enamel-mug': '1', 'quantity-gold': '9' };
    expect(readCheckout(form).lines).toEqual([
      { productId: 'enamel-mug', name: 'Enamel Mug', quantity: 3, unitPriceCents: 9_900 },
    ]);
  });

  it('gives other quantities on the same page another key', () => {
    const keyOf = (form: object): string => readCheckout({ checkoutId: CHECKOUT_ID, ...form }).checkoutKey;
    expect(keyOf({ 'quantity-enamel-mug': '1' })).toBe(
      keyOf({ 'quantity-enamel-mug': '01', 'quantity-fynbos-decaf': '0' }),
    );
    expect(keyOf({ 'quantity-enamel-mug': '1' })).not.toBe(keyOf({ 'quantity-enamel-mug': '2' }));
    expect(keyOf({ 'quantity-enamel-mug': '1' })).not.toBe(keyOf({ 'quantity-fynbos-decaf': '1' }));
  });

  it('accepts every quantity from 1 to 20, also with leading zeros', () => {
    for (let quantity = 1; quantity <= 20; quantity++)
      for (const text of [String(quantity), String(quantity).padStart(3, '0')])
        expect([text, readCheckout({ checkoutId: CHECKOUT_ID, 'quantity-enamel-mug': text }).lines]).toEqual([
          text,
          [expect.objectContaining({ productId: 'enamel-mug', quantity })],
        ]);
  });

  it('names the field of any other quantity', () => {
    const isQuantity = (value: unknown): boolean =>
      value === undefined || value === null || (typeof value === 'string' && /^(?=.{1,3}$)0*(\d|1\d|20)$/.test(value));
    const other = fc
      .oneof(fc.string(), fc.integer().map(String), fc.integer({ min: 21, max: 999 }).map(String), fc.anything())
      .filter((value) => !isQuantity(value));
    fc.assert(
      fc.property(other, (quantity) => {
        expect(refusalOf({ checkoutId: CHECKOUT_ID, 'quantity-enamel-mug': quantity })).toMatchObject({
          code: 'request.invalid',
          fields: [{ field: 'quantity-enamel-mug', message: 'Choose 0 to 20 of Enamel Mug.' }],
        });
      }),
    );
  });

  it.each([undefined, null, 'text', [], {}, { checkoutId: 7 }])(
    'refuses %j, which no page of the shop sends',
    (form) => {
      expect(refusalOf(form).fields).toEqual([
        { field: 'checkoutId', message: 'Open the shop again, then check out.' },
      ]);
    },
  );

  it('refuses an empty checkout', () => {
    expect(refusalOf({ checkoutId: CHECKOUT_ID, 'quantity-enamel-mug': '0' }).message).toBe('Choose something first.');
  });

  it.each(['21', '-1', '1.5', '0001', 'x1', '1x', '', 1])('refuses a quantity of %j', (quantity) => {
    expect(refusalOf({ checkoutId: CHECKOUT_ID, 'quantity-enamel-mug': quantity }).fields).toEqual([
      { field: 'quantity-enamel-mug', message: 'Choose 0 to 20 of Enamel Mug.' },
    ]);
  });

  it('accepts the maximum of one product', () => {
    expect(readCheckout({ checkoutId: CHECKOUT_ID, 'quantity-enamel-mug': '020' }).lines[0]!.quantity).toBe(20);
  });

  it('derives the key from the page id in lower case and a part of the hash of the lines', () => {
    const { checkoutKey } = readCheckout({ checkoutId: CHECKOUT_ID.toUpperCase(), 'quantity-enamel-mug': '1' });
    expect(checkoutKey).toMatch(new RegExp(`^${CHECKOUT_ID}:[0-9a-f]{32}$`));
  });
});

describe('isSessionUsable', () => {
  it.each([
    ['new', 0, 0, true],
    ['old, but alive', 26, 4, true],
    ['a millisecond before', 27 - 1 / 60_000, 0, true],
    ['about to expire', 27, 0, false],
    ['used up after five attempts', 1, 5, false],
  ])('returns whether a session that is %s is usable', (_, minutes, tries, usable) => {
    expect(isSessionUsable(anOrder, Array(tries).fill(aFailedTry), after(minutes))).toBe(usable);
  });

  it('does not count the attempts of an earlier session', () => {
    const before = { ...aFailedTry, sessionId: 'bbbbbbbb-0000-4000-8000-000000000000' };
    expect(isSessionUsable(anOrder, Array(5).fill(before), after(1))).toBe(true);
  });
});

describe('orderNumberFrom', () => {
  it.each([
    ['ORDER-1001', 1001],
    ['ORDER-1', 1],
    ['ORDER-999999999999999', 999_999_999_999_999],
    ['xORDER-1001', undefined],
    ['ORDER-1001x', undefined],
    ['ORDER-0', undefined],
    ['ORDER-1e3', undefined],
    ['order-1001', undefined],
    ['ORDER-9999999999999999', undefined],
    ['', undefined],
  ])('reads %p as %p', (text, number) => expect(orderNumberFrom(text)).toBe(number));
});

describe('formatZar', () => {
  it.each([
    [0, 'R 0.00'],
    [5, 'R 0.05'],
    [12_345, 'R 123.45'],
    [123_450, 'R 1 234.50'],
    [100_000_000_000, 'R 1 000 000 000.00'],
  ])('formats %p cents', (cents, text) => expect(formatZar(cents)).toBe(text));
});

test('the total of an order is the sum of its lines, and an order is identified by its number', () => {
  const line = { productId: 'a', name: 'A', quantity: 2, unitPriceCents: 150 };
  expect(totalOf([line, { ...line, quantity: 3, unitPriceCents: 7 }])).toBe(321);
  expect(totalOf([])).toBe(0);
  expect(merchantOrderIdOf({ orderNumber: 1001 })).toBe('ORDER-1001');
});

describe('the products', () => {
  it('have whole prices and ids that can be part of a field name', () => {
    for (const { productId, unitPriceCents } of PRODUCTS) {
      expect(productId).toMatch(/^[a-z-]{1,40}$/);
      expect(Number.isSafeInteger(unitPriceCents) && unitPriceCents > 0).toBe(true);
    }
  });
});

describe('sessionRequestFor', () => {
  it('contains the return address for the customer, and the notification address of the shop', () => {
    const request = sessionRequestFor(anOrder, 'https://192.168.1.5:7302', 'http://127.0.0.1:7302');
    expect(request.returnUrl).toBe(`https://192.168.1.5:7302/return?orderId=${anOrder.orderId}`);
    expect(request.cancelUrl).toBe(`https://192.168.1.5:7302/cancelled?orderId=${anOrder.orderId}`);
    expect(request.notificationUrl).toBe('http://127.0.0.1:7302/webhooks/svc');
  });

  it('contains the total of the order, and a new requestId for another session', () => {
    const lines = [{ productId: 'a', name: 'Mug', quantity: 2, unitPriceCents: 9_900 }];
    const order = { ...anOrder, lines, totalCents: 19_800, sessionNumber: 3 };
    expect(sessionRequestFor(order, 'https://shop.example', 'https://shop.example')).toMatchObject({
      requestId: `${anOrder.orderId}:3`,
      merchantOrderId: 'ORDER-1001',
      amount: 19_800,
      currencyISOCode: 'ZAR',
      origin: 'shop.example',
      customFields: [{ key: 'Mug', value: '2 × R 99.00' }],
    });
  });
});
