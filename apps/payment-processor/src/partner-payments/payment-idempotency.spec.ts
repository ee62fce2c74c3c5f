import type { PartnerPayment } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { ManualClock } from '@svc/testing';
import type { CurrentPayment, PartnerPaymentRepository } from './partner-payment.repository.js';
import { PaymentIdempotency } from './payment-idempotency.js';

const STORED_PAYMENT: CurrentPayment = {
  fingerprint: 'f',
  payment: { paymentReference: 'p-1' } as PartnerPayment,
  version: 1,
};

/**
 * Runs two calls with the same reference. The first call fails when the second call has waited for `waitMs`. Returns
 * the result of the second call.
 */
async function resultOfSecondCall(waitMs: number): Promise<unknown> {
  const clock = new ManualClock();
  let stored: CurrentPayment | undefined;
  const payments = { findByReference: () => Promise.resolve(stored) } as unknown as PartnerPaymentRepository;
  const idempotency = new PaymentIdempotency(payments, clock);
  const key = {
    owner: { organisationId: 'o-1', mode: 'test' },
    reference: 'r-1',
    fingerprint: 'f',
    deadline: clock.later(20_000),
  } as const;
  let failFirstCall: () => void = () => undefined;
  const failure = new Promise<void>((_, reject) => (failFirstCall = () => reject(new DomainError('card.invalid'))));
  const finish = (payment: CurrentPayment) => Promise.resolve(payment);
  const first = idempotency.runOnce(key, () => failure, finish);
  const second = idempotency.runOnce(
    key,
    () => {
      stored = STORED_PAYMENT;
      return Promise.resolve();
    },
    finish,
  );
  clock.advance(waitMs);
  failFirstCall();
  await expect(first).rejects.toMatchObject({ code: 'card.invalid' });
  return second;
}

test('when the first call fails, the waiting call with the same reference runs', async () => {
  expect(await resultOfSecondCall(19_999)).toEqual({ ...STORED_PAYMENT, replayed: false });
});

test('a waiting call creates no payment if its deadline has passed when the first call fails', async () => {
  await expect(resultOfSecondCall(20_000)).rejects.toMatchObject({
    code: 'payment.in-progress',
    retryAfterSeconds: 2,
  });
});
