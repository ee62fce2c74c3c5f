import { DomainError } from '@svc/kernel';
import fc from 'fast-check';
import {
  buildSessionRequest,
  computeTotal,
  formatMerchantOrderId,
  formatZar,
  isSessionUsable,
  type Order,
  parseOrderNumber,
  readCheckout,
} from './order.js';
import { PRODUCTS } from './products.js';

const CHECKOUT_ID = '0d0a4f0e-5d0c-4a3e-9d2a-0c6f2b7a1e11';

const ORDER: Order = {
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
const FAILED_PAYMENT = {
  sessionId: ORDER.sessionId!,
  paymentReference: 'x',
  userMessage: null,
  paymentUTCDate: ORDER.createdAt,
};
const readCheckoutError = (form: unknown): DomainError => {
  try {
    readCheckout(form);
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('readCheckout accepted the form.');
};
const minutesAfterOrder = (minutes: number): Date => new Date(ORDER.createdAt.getTime() + minutes * 60_000);

describe('readCheckout', () => {
  it('reads quantities from the form, but names and prices only from the products of the shop', () => {
    const form = { checkoutId: CHECKOUT_ID, 'quantity-enamel-mug': '3', 'price-enamel-mug': '1', 'quantity-gold': '9' };
    expect(readCheckout(form).lines).toEqual([
      { productId: 'enamel-mug', name: 'Enamel Mug', quantity: 3, unitPriceCents: 9_900 },
    ]);
  });

  it('returns different keys for different quantities of one page, and equal keys for equal quantities', () => {
    const readCheckoutKey = (form: object): string => readCheckout({ checkoutId: CHECKOUT_ID, ...form }).checkoutKey;
    expect(readCheckoutKey({ 'quantity-enamel-mug': '1' })).toBe(
      readCheckoutKey({ 'quantity-enamel-mug': '01', 'quantity-fynbos-decaf': '0' }),
    );
    expect(readCheckoutKey({ 'quantity-enamel-mug': '1' })).not.toBe(readCheckoutKey({ 'quantity-enamel-mug': '2' }));
    expect(readCheckoutKey({ 'quantity-enamel-mug': '1' })).not.toBe(readCheckoutKey({ 'quantity-fynbos-decaf': '1' }));
  });

  it('accepts every quantity from 1 to 20, also with leading zeros', () => {
    for (let quantity = 1; quantity <= 20; quantity++)
      for (const text of [String(quantity), String(quantity).padStart(3, '0')])
        expect([text, readCheckout({ checkoutId: CHECKOUT_ID, 'quantity-enamel-mug': text }).lines]).toEqual([
          text,
          [expect.objectContaining({ productId: 'enamel-mug', quantity })],
        ]);
  });

  it('rejects any other quantity with an error that names the field', () => {
    const isQuantity = (value: unknown): boolean =>
      value === undefined || value === null || (typeof value === 'string' && /^(?=.{1,3}$)0*(\d|1\d|20)$/.test(value));
    const invalidQuantity = fc
      .oneof(fc.string(), fc.integer().map(String), fc.integer({ min: 21, max: 999 }).map(String), fc.anything())
      .filter((value) => !isQuantity(value));
    fc.assert(
      fc.property(invalidQuantity, (quantity) => {
        expect(readCheckoutError({ checkoutId: CHECKOUT_ID, 'quantity-enamel-mug': quantity })).toMatchObject({
          code: 'request.invalid',
          fields: [{ field: 'quantity-enamel-mug', message: 'Choose 0 to 20 of Enamel Mug.' }],
        });
      }),
    );
  });

  it.each([undefined, null, 'text', [], {}, { checkoutId: 7 }])(
    'rejects the form %j, which no page of the shop sends',
    (form) => {
      expect(readCheckoutError(form).fields).toEqual([
        { field: 'checkoutId', message: 'Open the shop again, then check out.' },
      ]);
    },
  );

  it('rejects a form without any item', () => {
    expect(readCheckoutError({ checkoutId: CHECKOUT_ID, 'quantity-enamel-mug': '0' })).toMatchObject({
      code: 'request.invalid',
      message: 'Choose something first.',
    });
  });

  it.each(['21', '-1', '1.5', '0001', 'x1', '1x', '', 1])('rejects the quantity %j', (quantity) => {
    expect(readCheckoutError({ checkoutId: CHECKOUT_ID, 'quantity-enamel-mug': quantity }).fields).toEqual([
      { field: 'quantity-enamel-mug', message: 'Choose 0 to 20 of Enamel Mug.' },
    ]);
  });

  it('accepts the maximum quantity of one product', () => {
    expect(readCheckout({ checkoutId: CHECKOUT_ID, 'quantity-enamel-mug': '020' }).lines[0]!.quantity).toBe(20);
  });

  it('returns a key that consists of the checkoutId in lower case and a part of the hash of the order lines', () => {
    const { checkoutKey } = readCheckout({ checkoutId: CHECKOUT_ID.toUpperCase(), 'quantity-enamel-mug': '1' });
    expect(checkoutKey).toMatch(new RegExp(`^${CHECKOUT_ID}:[0-9a-f]{32}$`));
  });
});

describe('isSessionUsable', () => {
  it.each([
    { minutes: 0, failedPayments: 0, isUsable: true },
    { minutes: 26, failedPayments: 4, isUsable: true },
    // One millisecond less than 27 minutes.
    { minutes: 27 - 1 / 60_000, failedPayments: 0, isUsable: true },
    { minutes: 27, failedPayments: 0, isUsable: false },
    { minutes: 1, failedPayments: 5, isUsable: false },
  ])(
    'is $isUsable after $minutes minutes and $failedPayments failed payments',
    ({ minutes, failedPayments, isUsable }) => {
      const attempts = Array(failedPayments).fill(FAILED_PAYMENT);
      expect(isSessionUsable(ORDER, attempts, minutesAfterOrder(minutes))).toBe(isUsable);
    },
  );

  it('is true if the failed payments belong to an earlier session', () => {
    const earlierAttempt = { ...FAILED_PAYMENT, sessionId: 'bbbbbbbb-0000-4000-8000-000000000000' };
    expect(isSessionUsable(ORDER, Array(5).fill(earlierAttempt), minutesAfterOrder(1))).toBe(true);
  });
});

describe('parseOrderNumber', () => {
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
  ])('parses %p as %p', (text, number) => expect(parseOrderNumber(text)).toBe(number));
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

test('the total of an order is the sum of its lines, and its merchantOrderId contains the order number', () => {
  const line = { productId: 'a', name: 'A', quantity: 2, unitPriceCents: 150 };
  expect(computeTotal([line, { ...line, quantity: 3, unitPriceCents: 7 }])).toBe(321);
  expect(computeTotal([])).toBe(0);
  expect(formatMerchantOrderId({ orderNumber: 1001 })).toBe('ORDER-1001');
});

describe('the products of the shop', () => {
  it('have prices in whole cents, and ids that can be part of a field name', () => {
    for (const { productId, unitPriceCents } of PRODUCTS) {
      expect(productId).toMatch(/^[a-z-]{1,40}$/);
      expect(Number.isSafeInteger(unitPriceCents) && unitPriceCents > 0).toBe(true);
    }
  });
});

describe('the request for a payment session', () => {
  it('contains URLs at which the customer returns to the shop, and the URL for webhooks', () => {
    const request = buildSessionRequest(ORDER, 'https://192.168.1.5:7302', 'http://127.0.0.1:7302');
    expect(request.returnUrl).toBe(`https://192.168.1.5:7302/return?orderId=${ORDER.orderId}`);
    expect(request.cancelUrl).toBe(`https://192.168.1.5:7302/cancelled?orderId=${ORDER.orderId}`);
    expect(request.notificationUrl).toBe('http://127.0.0.1:7302/webhooks/svc');
  });

  it('contains the total and the items of the order, and a requestId with the session number', () => {
    const lines = [{ productId: 'a', name: 'Mug', quantity: 2, unitPriceCents: 9_900 }];
    const order = { ...ORDER, lines, totalCents: 19_800, sessionNumber: 3 };
    expect(buildSessionRequest(order, 'https://shop.example', 'https://shop.example')).toMatchObject({
      requestId: `${ORDER.orderId}:3`,
      merchantOrderId: 'ORDER-1001',
      amount: 19_800,
      currencyISOCode: 'ZAR',
      origin: 'shop.example',
      lineItems: [{ name: 'Mug', productCode: 'a', quantity: 2, unitPrice: 9_900 }],
      taxAmount: 2_583,
    });
  });
});
