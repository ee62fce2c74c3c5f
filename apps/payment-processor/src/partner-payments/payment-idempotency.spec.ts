import type { PartnerPayment } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { ManualClock } from '@svc/testing';
import type { CurrentPayment, PartnerPaymentRepository } from './partner-payment.repository.js';
import { PaymentIdempotency } from './payment-idempotency.js';

const MADE: CurrentPayment = { fingerprint: 'f', payment: { paymentReference: 'p-1' } as PartnerPayment, version: 1 };

/** Two calls with the same reference: the first one fails after the second has waited for `waitsMs`. */
async function secondAfterFailure(waitsMs: number): Promise<unknown> {
  const clock = new ManualClock();
  let made: CurrentPayment | undefined;
  const payments = { findByReference: () => Promise.resolve(made) } as unknown as PartnerPaymentRepository;
  const idempotency = new PaymentIdempotency(payments, clock);
  const key = {
    owner: { organisationId: 'o-1', mode: 'test' },
    reference: 'r-1',
    fingerprint: 'f',
    deadline: clock.later(20_000),
  } as const;
  let refuse: () => void = () => undefined;
  const refused = new Promise<void>((_, reject) => (refuse = () => reject(new DomainError('card.invalid'))));
  const finish = (payment: CurrentPayment) => Promise.resolve(payment);
  const first = idempotency.once(key, () => refused, finish);
  const second = idempotency.once(
    key,
    () => {
      made = MADE;
      return Promise.resolve();
    },
    finish,
  );
  clock.advance(waitsMs);
  refuse();
  await expect(first).rejects.toMatchObject({ code: 'card.invalid' });
  return second;
}

test('after a failed call the next call with the same reference runs', async () => {
  expect(await secondAfterFailure(19_999)).toEqual({ ...MADE, replayed: false });
});

test('a call whose deadline has passed when the earlier one fails creates no payment', async () => {
  await expect(secondAfterFailure(20_000)).rejects.toMatchObject({
    code: 'payment.in-progress',
    retryAfterSeconds: 2,
  });
});
