import { InFlightPayments } from './in-flight-payments.js';

test('a payment is in flight until its pay request ends, or until the database contains its attempt', async () => {
  const payments = new InFlightPayments();
  let endPayment = (): void => undefined;
  const payment = payments.track('a', 2, () => new Promise<void>((resolve) => (endPayment = resolve)));
  expect([payments.has('a', 1), payments.has('a', 2), payments.has('b', 1)]).toEqual([true, false, false]);
  endPayment();
  await payment;
  expect(payments.has('a', 1)).toBe(false);
});

test('a failed payment is not in flight, but a concurrent payment of the same session is', async () => {
  const payments = new InFlightPayments();
  let endFirst = (): void => undefined;
  const first = payments.track('a', 1, () => new Promise<void>((resolve) => (endFirst = resolve)));
  const failing = payments.track('a', 2, () => Promise.reject(new Error('payment-processor is unavailable')));
  await expect(failing).rejects.toThrow('payment-processor is unavailable');
  expect([payments.has('a', 0), payments.has('a', 1)]).toEqual([true, false]);
  endFirst();
  await first;
  expect(payments.has('a', 0)).toBe(false);
});
