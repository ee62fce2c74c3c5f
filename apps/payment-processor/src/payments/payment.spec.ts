import type { PaymentSnapshot, PaymentState } from '@svc/contracts';
import fc from 'fast-check';
import { buildPayable } from '../../test/builders.js';
import { amountToProcess, vouchersTotal } from '../payables/amount-to-process.js';
import {
  acceptedPayment,
  isTransitionAllowed,
  PAYMENT_TRANSITIONS,
  paymentWithFailedVerification,
  resumedPayment,
  settledPayment,
  VERIFICATION_LIFETIME_MS,
} from './payment.js';

const now = new Date('2026-03-01T10:00:00.123Z');
const later = new Date('2026-03-01T10:00:02.000Z');

function buildAcceptedPayment(paymentCount = 1): PaymentSnapshot {
  const fields = {
    reference: 'r',
    paymentReference: 'p',
    paymentMethodLabel: '**** 4242',
    paymentNumber: paymentCount,
  };
  const payment = acceptedPayment({ payable: buildPayable(), now, ...fields });
  return { ...payment, payable: { ...payment.payable, version: 2 } };
}

test('success and failed are final', () => {
  for (const to of Object.keys(PAYMENT_TRANSITIONS) as PaymentState[]) {
    expect(isTransitionAllowed('success', to)).toBe(false);
    expect(isTransitionAllowed('failed', to)).toBe(false);
  }
});

test('a successful payment has its amount as processed amount, and its payable is paid', () => {
  const paid = settledPayment(buildAcceptedPayment(), { state: 'success' }, 5, later);
  expect(paid).toMatchObject({
    state: 'success',
    processedAmount: 12345,
    errors: [],
    payable: { state: 'paid', version: 3 },
  });
  expect(paid.paymentUTCDate).toBe('2026-03-01T10:00:00.123Z');
  expect(paid.modifiedUTCDate).toBe('2026-03-01T10:00:02.000Z');
});

test('a failed payment has the processed amount 0 and an error, and its payable is open again or, after the last payment, refused', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 10 }), (paymentCount, maxPayments) => {
      const failed = settledPayment(
        buildAcceptedPayment(paymentCount),
        { state: 'failed', error: 'card.declined' },
        maxPayments,
        later,
      );
      expect(failed.processedAmount).toBe(0);
      expect(failed.errors).toEqual([{ errorReference: '10', message: expect.stringContaining('declined') }]);
      expect(failed.payable.state).toBe(paymentCount >= maxPayments ? 'refused' : 'open');
    }),
  );
});

test('a final payment cannot be settled again', () => {
  const paid = settledPayment(buildAcceptedPayment(), { state: 'success' }, 5, later);
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

const PAYMENT_FIELDS = {
  reference: 'r',
  paymentReference: 'p',
  paymentMethodLabel: '**** 4242',
  paymentNumber: 3,
  now,
};

test('by default an accepted payment is a card payment of the payable’s amount, and reserves the payable', () => {
  const payable = buildPayable();
  expect(acceptedPayment({ payable, ...PAYMENT_FIELDS })).toStrictEqual({
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
    payable: { payableId: payable.payableId, state: 'reserved', version: 0, paymentCount: 3 },
    merchantName: '',
    siteReference: '',
  });
});

test('an accepted payment can have another amount, a tip, another method and a partner', () => {
  const customer = { id: 'c', firstName: '', lastName: '' };
  const partner = { partner: { organisationId: 'o', customer }, merchantName: 'm', siteReference: 's' };
  const otherFields = { amount: 1, tipAmount: 2, paymentMethodType: 'Voucher' as const };
  expect(acceptedPayment({ payable: buildPayable(), ...PAYMENT_FIELDS, ...otherFields, partner })).toMatchObject({
    invoicedAmount: 12_345,
    ...otherFields,
    ...partner,
  });
});

test.each<[{ amount: number; tipAmount: number; vouchers?: number[] }, number]>([
  [{ amount: 100, tipAmount: 0 }, 100],
  [{ amount: 100, tipAmount: 7 }, 107],
  [{ amount: 100, tipAmount: 7, vouchers: [30, 5] }, 72],
  [{ amount: 100, tipAmount: 7, vouchers: [100] }, 7],
  [{ amount: 100, tipAmount: 0, vouchers: [60, 40] }, 0],
])(
  'for %j the amount to process is %d, because vouchers do not cover tips (P6)',
  ({ vouchers, ...amounts }, expected) => {
    const vouchersOfAmounts = vouchers?.map((amount) => ({ merchantLiable: true, amount }));
    expect(amountToProcess({ ...amounts, ...(vouchersOfAmounts && { vouchers: vouchersOfAmounts }) })).toBe(expected);
    expect(vouchersTotal(vouchersOfAmounts)).toBe(amounts.amount + amounts.tipAmount - expected);
  },
);

test('a successful payment with a tip and vouchers has the amount minus vouchers plus tip as processed amount', () => {
  const payment = { ...buildAcceptedPayment(), tipAmount: 55, vouchers: [{ merchantLiable: false, amount: 300 }] };
  expect(settledPayment(payment, { state: 'success' }, 5, later).processedAmount).toBe(12_345 - 300 + 55);
});

describe('a payment with a required verification', () => {
  const challenge = { reference: 'c-1', url: 'https://bank.example/c/1' };
  const paymentToVerify = settledPayment(
    buildAcceptedPayment(),
    { state: 'verificationRequired', challenge },
    5,
    later,
  );

  it('reopens its payable, and contains the URL and the expiry of the verification (P1)', () => {
    expect(VERIFICATION_LIFETIME_MS).toBe(900_000);
    expect(paymentToVerify).toMatchObject({
      state: 'verificationRequired',
      processedAmount: 0,
      modifiedUTCDate: '2026-03-01T10:00:02.000Z',
      verificationUrl: 'https://bank.example/c/1',
      verificationUntilUTCDate: '2026-03-01T10:15:02.000Z',
      payable: { state: 'open', version: 3, paymentCount: 1 },
    });
  });

  it('reserves its payable again after the payer has passed the verification', () => {
    const continued = resumedPayment(paymentToVerify, new Date('2026-03-01T10:05:00Z'));
    expect(continued).toMatchObject({
      state: 'processing',
      modifiedUTCDate: '2026-03-01T10:05:00.000Z',
      payable: { state: 'reserved', version: 4, paymentCount: 1 },
    });
    expect(continued).not.toHaveProperty('verificationUrl');
    expect(continued).not.toHaveProperty('verificationUntilUTCDate');
  });

  it.each(['reserved', 'paid', 'refused', 'closed'] as const)('does not resume while its payable is %s', (state) => {
    const payment = { ...paymentToVerify, payable: { ...paymentToVerify.payable, state } };
    expect(() => resumedPayment(payment, later)).toThrow(`A payable that is ${state} cannot be reserved`);
  });

  it.each([
    ['open', 4, 'open'],
    ['open', 5, 'refused'],
    ['open', 6, 'refused'],
    ['paid', 5, 'paid'],
    ['refused', 5, 'refused'],
    ['closed', 5, 'closed'],
  ] as const)(
    'fails if its verification fails, and its payable, which was %s after %d of 5 payments, is then %s',
    (state, paymentCount, expected) => {
      const payment = { ...paymentToVerify, payable: { ...paymentToVerify.payable, state, paymentCount } };
      const failed = paymentWithFailedVerification(payment, 'verification.failed', 5, later);
      expect(failed).toMatchObject({
        state: 'failed',
        modifiedUTCDate: '2026-03-01T10:00:02.000Z',
        errors: [{ errorReference: '16' }],
        payable: { state: expected, version: 4, paymentCount },
      });
      expect(failed).not.toHaveProperty('verificationUrl');
    },
  );

  it('does not fail while another payment has reserved the payable', () => {
    const payment = { ...paymentToVerify, payable: { ...paymentToVerify.payable, state: 'reserved' as const } };
    expect(() => paymentWithFailedVerification(payment, 'verification.failed', 5, later)).toThrow(
      'reserved for another payment',
    );
  });
});
