import fc from 'fast-check';
import { formatZar, isSessionUsable, sessionRequestFor, orderNumberFrom, readCheckout, type Order } from './order.js';
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
const after = (minutes: number): Date => new Date(anOrder.createdAt.getTime() + minutes * 60_000);

describe('readCheckout', () => {
  it('takes quantities from the form, and names and prices from the shop alone', () => {
    const form = { checkoutId: CHECKOUT_ID, 'quantity-enamel-mug': '3', 'price-enamel-mug': '1', 'quantity-gold': '9' };
    expect(readCheckout(form).lines).toEqual([
      { productId: 'enamel-mug', name: 'Enamel Mug', quantity: 3, unitPriceCents: 9_900 },
    ]);
  });

  it('tells checkouts of one page apart by what was chosen', () => {
    const keyOf = (form: object): string => readCheckout({ checkoutId: CHECKOUT_ID, ...form }).checkoutKey;
    expect(keyOf({ 'quantity-enamel-mug': '1' })).toBe(
      keyOf({ 'quantity-enamel-mug': '01', 'quantity-fynbos-decaf': '0' }),
    );
    expect(keyOf({ 'quantity-enamel-mug': '1' })).not.toBe(keyOf({ 'quantity-enamel-mug': '2' }));
    expect(keyOf({ 'quantity-enamel-mug': '1' })).not.toBe(keyOf({ 'quantity-fynbos-decaf': '1' }));
  });

  const mugs = (quantity: unknown) => () =>
    readCheckout({ checkoutId: CHECKOUT_ID, 'quantity-enamel-mug': quantity }).lines;

  it('accepts every quantity from 1 to 20, with zeros before it too', () => {
    for (let quantity = 1; quantity <= 20; quantity++)
      for (const text of [String(quantity), String(quantity).padStart(3, '0')])
        expect([text, mugs(text)()]).toEqual([text, [expect.objectContaining({ productId: 'enamel-mug', quantity })]]);
  });

  it('names the field of any other quantity', () => {
    const isQuantity = (value: unknown): boolean =>
      value === undefined || value === null || (typeof value === 'string' && /^0*(\d|1\d|20)$/.test(value));
    const other = fc
      .oneof(fc.string(), fc.integer().map(String), fc.integer({ min: 21, max: 999 }).map(String), fc.anything())
      .filter((value) => !isQuantity(value));
    fc.assert(
      fc.property(other, (quantity) => {
        expect(mugs(quantity)).toThrow(
          expect.objectContaining({
            code: 'request.invalid',
            fields: [{ field: 'quantity-enamel-mug', message: 'Choose 0 to 20 of Enamel Mug.' }],
          }),
        );
      }),
    );
  });

  it.each([undefined, null, '0', '000'])('refuses an order of nothing: %j', (quantity) => {
    expect(mugs(quantity)).toThrow('Choose something first.');
  });

  it.each([undefined, null, 'text', [], { checkoutId: 7 }])('refuses %j', (form) => {
    expect(() => readCheckout(form)).toThrow(
      expect.objectContaining({ code: 'request.invalid', fields: [expect.objectContaining({ field: 'checkoutId' })] }),
    );
  });
});

describe('isSessionUsable', () => {
  it.each([
    ['new', 0, 0, true],
    ['old, but alive', 26, 4, true],
    ['about to expire', 27, 0, false],
    ['refused after five tries', 1, 5, false],
  ])('a session that is %s', (_, minutes, tries, usable) => {
    expect(isSessionUsable(anOrder, Array(tries).fill(aFailedTry), after(minutes))).toBe(usable);
  });

  it('does not count the tries of a session before', () => {
    const before = { ...aFailedTry, sessionId: 'bbbbbbbb-0000-4000-8000-000000000000' };
    expect(isSessionUsable(anOrder, Array(5).fill(before), after(1))).toBe(true);
  });
});

describe('orderNumberFrom', () => {
  it.each([
    ['ORDER-1001', 1001],
    ['ORDER-0', undefined],
    ['ORDER-1e3', undefined],
    ['order-1001', undefined],
    ['ORDER-9999999999999999', undefined],
    ['', undefined],
  ])('%p is %p', (text, number) => expect(orderNumberFrom(text)).toBe(number));
});

describe('formatZar', () => {
  it.each([
    [0, 'R 0.00'],
    [5, 'R 0.05'],
    [12_345, 'R 123.45'],
    [123_450, 'R 1 234.50'],
    [100_000_000_000, 'R 1 000 000 000.00'],
  ])('%p cents', (cents, text) => expect(formatZar(cents)).toBe(text));
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
  it('has the customer come back to where they came from, and the platform tell the shop where it is', () => {
    const request = sessionRequestFor(anOrder, 'https://192.168.1.5:7302', 'http://127.0.0.1:7302');
    expect(request.returnUrl).toBe(`https://192.168.1.5:7302/return?orderId=${anOrder.orderId}`);
    expect(request.cancelUrl).toBe(`https://192.168.1.5:7302/cancelled?orderId=${anOrder.orderId}`);
    expect(request.notificationUrl).toBe('http://127.0.0.1:7302/webhooks/svc');
  });
});
