import type { PaymentSnapshot, PaymentState } from '@svc/contracts';
import fc from 'fast-check';
import { aPayable } from '../../test/builders.js';
import { amountToProcess, vouchersTotal } from '../payables/amount-to-process.js';
import {
  acceptedPayment,
  continuedPayment,
  isTransitionAllowed,
  PAYMENT_TRANSITIONS,
  settledPayment,
  unverifiedPayment,
  VERIFICATION_LIFETIME_MS,
} from './payment.js';

const now = new Date('2026-03-01T10:00:00.123Z');
const later = new Date('2026-03-01T10:00:02.000Z');

function accepted(tries = 1): PaymentSnapshot {
  const given = {
    reference: 'r',
    paymentReference: 'p',
    paymentMethodLabel: '**** 4242',
    try: tries,
  };
  const payment = acceptedPayment({ payable: aPayable(), now, ...given });
  return { ...payment, payable: { ...payment.payable, version: 2 } };
}

test('success and failed are final', () => {
  for (const to of Object.keys(PAYMENT_TRANSITIONS) as PaymentState[]) {
    expect(isTransitionAllowed('success', to)).toBe(false);
    expect(isTransitionAllowed('failed', to)).toBe(false);
  }
});

test('a successful payment has processed amount and tip, and its payable is paid', () => {
  const paid = settledPayment(accepted(), { state: 'success' }, 5, later);
  expect(paid).toMatchObject({
    state: 'success',
    processedAmount: 12345,
    errors: [],
    payable: { state: 'paid', version: 3 },
  });
  expect(paid.paymentUTCDate).toBe('2026-03-01T10:00:00.123Z');
  expect(paid.modifiedUTCDate).toBe('2026-03-01T10:00:02.000Z');
});

test('a failed payment has processed nothing and has an error, and its payable is open again until the last try', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 10 }), (tries, triesMax) => {
      const failed = settledPayment(accepted(tries), { state: 'failed', error: 'card.declined' }, triesMax, later);
      expect(failed.processedAmount).toBe(0);
      expect(failed.errors).toEqual([{ errorReference: '10', message: expect.stringContaining('declined') }]);
      expect(failed.payable.state).toBe(tries >= triesMax ? 'refused' : 'open');
    }),
  );
});

test('a final payment cannot be settled again', () => {
  const paid = settledPayment(accepted(), { state: 'success' }, 5, later);
  expect(() => settledPayment(paid, { state: 'failed', error: 'card.declined' }, 5, later)).toThrow(
    'cannot go from success to failed',
  );
});

test('only the listed transitions are allowed (P1)', () => {
  expect(PAYMENT_TRANSITIONS).toEqual({
    processing: ['success', 'failed', 'verificationRequired'],
    verificationRequired: ['processing', 'failed'],
    success: [],
    failed: [],
  });
});

const given = { reference: 'r', paymentReference: 'p', paymentMethodLabel: '**** 4242', try: 3, now };

test('by default a payment is accepted with the amount of the payable, by card, and reserves the payable', () => {
  const payable = aPayable();
  expect(acceptedPayment({ payable, ...given })).toStrictEqual({
    reference: 'r',
    paymentReference: 'p',
    mode: 'test',
    merchantId: 1001,
    siteId: 5001,
    state: 'processing',
    currencyISOCode: 'ZAR',
    invoicedAmount: 12_345,
    amount: 12_345,
    tipAmount: 0,
    processedAmount: 0,
    paymentUTCDate: '2026-03-01T10:00:00.123Z',
    modifiedUTCDate: '2026-03-01T10:00:00.123Z',
    paymentMethodType: 'Card',
    paymentMethodLabel: '**** 4242',
    errors: [],
    source: payable.source,
    payable: { payableId: payable.payableId, state: 'reserved', version: 0, tries: 3 },
  });
});

test('a payment is accepted with another amount, a tip, a method and a partner', () => {
  const partner = { partner: { organisationId: 'o', customer: { id: 'c', firstName: '', lastName: '' } } };
  const more = { amount: 1, tipAmount: 2, paymentMethodType: 'Voucher' as const };
  expect(acceptedPayment({ payable: aPayable(), ...given, ...more, partner })).toMatchObject({
    invoicedAmount: 12_345,
    ...more,
    ...partner,
  });
});

test.each<[{ amount: number; tipAmount: number; vouchers?: number[] }, number]>([
  [{ amount: 100, tipAmount: 0 }, 100],
  [{ amount: 100, tipAmount: 7 }, 107],
  [{ amount: 100, tipAmount: 7, vouchers: [30, 5] }, 72],
  [{ amount: 100, tipAmount: 7, vouchers: [100] }, 7],
  [{ amount: 100, tipAmount: 0, vouchers: [60, 40] }, 0],
])('for %j the remaining amount is %d, because vouchers do not cover tips (P6)', ({ vouchers, ...amounts }, left) => {
  const covered = vouchers?.map((amount) => ({ merchantLiable: true, amount }));
  expect(amountToProcess({ ...amounts, ...(covered && { vouchers: covered }) })).toBe(left);
  expect(vouchersTotal(covered)).toBe(amounts.amount + amounts.tipAmount - left);
});

test('a successful payment with tip and vouchers has processed the remaining amount', () => {
  const payment = { ...accepted(), tipAmount: 55, vouchers: [{ merchantLiable: false, amount: 300 }] };
  expect(settledPayment(payment, { state: 'success' }, 5, later).processedAmount).toBe(12_345 - 300 + 55);
});

describe('a payment whose bank requires a verification', () => {
  const challenge = { reference: 'c-1', url: 'https://bank.example/c/1' };
  const waiting = settledPayment(accepted(), { state: 'verificationRequired', challenge }, 5, later);

  it('reopens the payable, and has the URL and the expiry of the verification (P1)', () => {
    expect(VERIFICATION_LIFETIME_MS).toBe(900_000);
    expect(waiting).toMatchObject({
      state: 'verificationRequired',
      processedAmount: 0,
      modifiedUTCDate: '2026-03-01T10:00:02.000Z',
      verificationUrl: 'https://bank.example/c/1',
      verificationUntilUTCDate: '2026-03-01T10:15:02.000Z',
      payable: { state: 'open', version: 3, tries: 1 },
    });
  });

  it('reserves the payable again after the verification is passed', () => {
    const continued = continuedPayment(waiting, new Date('2026-03-01T10:05:00Z'));
    expect(continued).toMatchObject({
      state: 'processing',
      modifiedUTCDate: '2026-03-01T10:05:00.000Z',
      payable: { state: 'reserved', version: 4, tries: 1 },
    });
    expect(continued).not.toHaveProperty('verificationUrl');
    expect(continued).not.toHaveProperty('verificationUntilUTCDate');
  });

  it.each(['reserved', 'paid', 'refused', 'closed'] as const)('does not continue while the payable is %s', (state) => {
    const payment = { ...waiting, payable: { ...waiting.payable, state } };
    expect(() => continuedPayment(payment, later)).toThrow(`A payable that is ${state} cannot be reserved`);
  });

  it.each([
    ['open', 4, 'open'],
    ['open', 5, 'refused'],
    ['open', 6, 'refused'],
    ['paid', 5, 'paid'],
    ['refused', 5, 'refused'],
    ['closed', 5, 'closed'],
  ] as const)('that failed: a payable that is %s after %d of 5 tries becomes %s', (state, tries, left) => {
    const payment = { ...waiting, payable: { ...waiting.payable, state, tries } };
    const failed = unverifiedPayment(payment, 'verification.failed', 5, later);
    expect(failed).toMatchObject({
      state: 'failed',
      modifiedUTCDate: '2026-03-01T10:00:02.000Z',
      errors: [{ errorReference: '16' }],
      payable: { state: left, version: 4, tries },
    });
    expect(failed).not.toHaveProperty('verificationUrl');
  });

  it('does not fail while another payment has reserved the payable', () => {
    const payment = { ...waiting, payable: { ...waiting.payable, state: 'reserved' as const } };
    expect(() => unverifiedPayment(payment, 'verification.failed', 5, later)).toThrow('reserved for another payment');
  });
});
