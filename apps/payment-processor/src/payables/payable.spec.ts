import type { PayableState } from '@svc/contracts';
import fc from 'fast-check';
import {
  findRefusal,
  findRefusalByState,
  PAYABLE_TRANSITIONS,
  type PayableRefusal,
  type PayableRequest,
  type PayableTerms,
} from './payable.js';

test('a payable must be reserved before it is paid, and the states paid, refused and closed are final', () => {
  expect(PAYABLE_TRANSITIONS).toEqual({
    open: ['reserved', 'closed', 'refused'],
    reserved: ['paid', 'open', 'refused'],
    paid: [],
    refused: [],
    closed: [],
  });
});

const NOW = new Date('2026-03-01T10:00:00.000Z');
const IN_TIME = new Date(NOW.getTime() + 1);
const COMMON_FIELDS = {
  mode: 'test',
  merchantId: 1001,
  siteId: 5001,
  amount: 12345,
  currencyISOCode: 'ZAR',
  expiresAt: IN_TIME,
} as const;
const PAYABLE: PayableTerms = { ...COMMON_FIELDS, state: 'open', paymentCount: 0, maxPayments: 5 };
const REQUEST: PayableRequest = { ...COMMON_FIELDS, paymentNumber: 1 };

test.each<[string, Partial<PayableTerms>, Partial<PayableRequest>, PayableRefusal | undefined]>([
  ['is open', {}, {}, undefined],
  ['has one payment left', { paymentCount: 4 }, { paymentNumber: 5 }, undefined],
  ['is paid', { state: 'paid' }, {}, 'payable.paid'],
  ['is refused', { state: 'refused' }, {}, 'payable.refused'],
  ['is closed', { state: 'closed' }, {}, 'payable.closed'],
  ['is reserved', { state: 'reserved' }, {}, 'payment.in-progress'],
  ['is reserved and has expired', { state: 'reserved', expiresAt: NOW }, {}, 'payment.in-progress'],
  ['expires now', { expiresAt: NOW }, {}, 'payable.expired'],
  ['expires now according to the request', {}, { expiresAt: NOW }, 'payable.expired'],
  ['expires now and has another amount', { expiresAt: NOW, amount: 1 }, {}, 'payable.expired'],
  ['has another amount', { amount: 12344 }, {}, 'payable.mismatch'],
  ['has another currency', { currencyISOCode: 'NAD' }, {}, 'payable.mismatch'],
  ['has already had the requested payment', { paymentCount: 1 }, {}, 'payment.in-progress'],
  ['has not had the payment before the requested payment', {}, { paymentNumber: 2 }, 'payment.in-progress'],
  ['has no payment left', { paymentCount: 5 }, { paymentNumber: 6 }, 'payment.in-progress'],
  ['is in the other mode', { mode: 'live' }, {}, 'payment.in-progress'],
  ['belongs to another merchant', { merchantId: 1002 }, {}, 'payment.in-progress'],
  ['belongs to another site', { siteId: 5002 }, {}, 'payment.in-progress'],
])('for a payable that %s (payable: %j, request: %j) the refusal is %s', (_, payable, request, refusal) => {
  expect(findRefusal({ ...PAYABLE, ...payable }, { ...REQUEST, ...request }, NOW)).toBe(refusal);
});

test.each<[string, Partial<PayableRequest>, PayableRefusal | undefined]>([
  ['gets its first payment', {}, undefined],
  ['gets its second payment', { paymentNumber: 2 }, 'payment.in-progress'],
  ['expires now', { expiresAt: NOW }, 'payable.expired'],
])('for a payable that is not stored and %s (request: %j) the refusal is %s', (_, request, refusal) => {
  expect(findRefusal(undefined, { ...REQUEST, ...request }, NOW)).toBe(refusal);
});

test('only an open payable can be paid, for all values of the other fields', () => {
  const states = fc.constantFrom(...(Object.keys(PAYABLE_TRANSITIONS) as PayableState[]));
  const terms = fc.record({
    state: states,
    paymentCount: fc.nat(6),
    maxPayments: fc.integer({ min: 1, max: 5 }),
    amount: fc.constantFrom(12345, 1),
    expiresAt: fc.constantFrom(NOW, IN_TIME),
    merchantId: fc.constantFrom(1001, 1002),
  });
  fc.assert(
    fc.property(terms, fc.integer({ min: 1, max: 7 }), (payable, nth) => {
      const refusal = findRefusal({ ...COMMON_FIELDS, ...payable }, { ...REQUEST, paymentNumber: nth }, NOW);
      const isPayable = payable.expiresAt > NOW && payable.amount === 12345 && payable.merchantId === 1001;
      const isNextPayment = nth === payable.paymentCount + 1 && nth <= payable.maxPayments;
      expect(refusal === undefined).toBe(payable.state === 'open' && isPayable && isNextPayment);
      expect(payable.state === 'open' ? undefined : refusal).toBe(findRefusalByState(payable.state));
    }),
    { numRuns: 1_000 },
  );
});
