import type { PartnerPayment } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { ManualClock } from '@svc/testing';
import type { CurrentPayment, PartnerPaymentRepository } from './partner-payment.repository.js';
import { PaymentIdempotency } from './payment-idempotency.js';

const MADE: CurrentPayment = { fingerprint: 'f', payment: { paymentReference: 'p-1' } as PartnerPayment, version: 1 };

/** Two calls with the same reference: the first is refused when `waits` of the second's time has passed. */
async function secondAfterARefusal(waitsMs: number): Promise<unknown> {
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

test('after a refused call the next one with its reference is the first', async () => {
  expect(await secondAfterARefusal(19_999)).toEqual({ ...MADE, replayed: false });
});

test('a call whose time is over when the one before is refused makes nothing', async () => {
  await expect(secondAfterARefusal(20_000)).rejects.toMatchObject({
    code: 'payment.in-progress',
    retryAfterSeconds: 2,
  });
});
