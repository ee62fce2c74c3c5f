import { InFlightPayments } from './in-flight-payments.js';

test('a payment is in flight until its attempt is known, and until it has ended', async () => {
  const presses = new InFlightPayments();
  let end = (): void => undefined;
  const pressed = presses.track('a', 2, () => new Promise<void>((resolve) => (end = resolve)));
  expect([presses.has('a', 1), presses.has('a', 2), presses.has('b', 1)]).toEqual([true, false, false]);
  end();
  await pressed;
  expect(presses.has('a', 1)).toBe(false);
});

test('a failed payment is no longer in flight; another one of the session still is', async () => {
  const presses = new InFlightPayments();
  let end = (): void => undefined;
  const first = presses.track('a', 1, () => new Promise<void>((resolve) => (end = resolve)));
  const failing = presses.track('a', 2, () => Promise.reject(new Error('The processor is away.')));
  await expect(failing).rejects.toThrow('The processor is away.');
  expect([presses.has('a', 0), presses.has('a', 1)]).toEqual([true, false]);
  end();
  await first;
  expect(presses.has('a', 0)).toBe(false);
});
