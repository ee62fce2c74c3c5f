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
