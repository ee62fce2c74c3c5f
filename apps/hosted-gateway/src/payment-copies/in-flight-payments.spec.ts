import type { PaymentSnapshot } from '@svc/contracts';
import { InFlightPayments } from './in-flight-payments.js';

test('a payment is in flight until its pay request ends, or until the database contains it', () => {
  const payments = new InFlightPayments();
  {
    using _payment = payments.add('a', 2);
    expect([payments.has('a', 1), payments.has('a', 2), payments.has('b', 1)]).toEqual([true, false, false]);
  }
  expect(payments.has('a', 1)).toBe(false);
});

test('a failed payment is not in flight, but a concurrent payment of the same session is', () => {
  const payments = new InFlightPayments();
  using _first = payments.add('a', 1);
  const fail = (): void => {
    using _failing = payments.add('a', 2);
    throw new Error('payment-processor is unavailable');
  };
  expect(fail).toThrow('payment-processor is unavailable');
  expect([payments.has('a', 0), payments.has('a', 1)]).toEqual([true, false]);
});

describe('a report that a payment is in progress', () => {
  const report = (payableId: string, paymentCount: number) =>
    ({ payable: { payableId, paymentCount } }) as unknown as PaymentSnapshot;

  it('is kept for the pay request of the same payment, which can take it', () => {
    const payments = new InFlightPayments();
    using payment = payments.add('a', 2);
    expect(payment.takeReport()).toBeUndefined();
    using other = payments.add('a', 2);
    expect(payments.keepReport(report('a', 2))).toBe(true);
    expect(other.takeReport()).toEqual(report('a', 2));
  });

  it.each([
    ['another payment of the payable', 'a', 1],
    ['a payment of another payable', 'b', 2],
  ])('is not kept for %s', (_, payableId, paymentCount) => {
    const payments = new InFlightPayments();
    using payment = payments.add('a', 2);
    expect(payments.keepReport(report(payableId, paymentCount))).toBe(false);
    expect(payment.takeReport()).toBeUndefined();
  });

  it('is not kept after the request has taken its report, or has ended', () => {
    const payments = new InFlightPayments();
    {
      using payment = payments.add('a', 2);
      payment.takeReport();
      expect(payments.keepReport(report('a', 2))).toBe(false);
    }
    expect(payments.keepReport(report('a', 2))).toBe(false);
  });
});
