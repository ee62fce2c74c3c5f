import type { AnyPaymentSnapshot, PaymentState } from '@svc/contracts';
import fc from 'fast-check';
import { aPayable } from '../../test/builders.js';
import { acceptedPayment, mayFollow, PAYMENT_TRANSITIONS, settledPayment } from './payment.js';

const now = new Date('2026-03-01T10:00:00.123Z');
const later = new Date('2026-03-01T10:00:02.000Z');

function accepted(tries = 1): AnyPaymentSnapshot {
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
    expect(mayFollow('success', to)).toBe(false);
    expect(mayFollow('failed', to)).toBe(false);
  }
});

test('a success processes amount and tip, and pays the payable', () => {
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

test('a failure processes nothing, says why, and frees the payable until the last try', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 10 }), (tries, triesMax) => {
      const failed = settledPayment(accepted(tries), { state: 'failed', error: 'card.declined' }, triesMax, later);
      expect(failed.processedAmount).toBe(0);
      expect(failed.errors).toEqual([{ errorReference: '10', message: expect.stringContaining('declined') }]);
      expect(failed.payable.state).toBe(tries >= triesMax ? 'refused' : 'open');
    }),
  );
});

test('what is final cannot be settled again', () => {
  const paid = settledPayment(accepted(), { state: 'success' }, 5, later);
  expect(() => settledPayment(paid, { state: 'failed', error: 'card.declined' }, 5, later)).toThrow(
    'cannot go from success to failed',
  );
});
