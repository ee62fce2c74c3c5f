import type { HostedPaymentSnapshot } from '@svc/contracts';
import type { SessionWithPayments } from '../sessions/session.repository.js';
import { applyPayment } from './apply-payment.js';

const buildSession = (version: number, payments: HostedPaymentSnapshot[] = []): SessionWithPayments =>
  ({ payableState: 'open', payableVersion: version, paymentCount: 0, payments }) as unknown as SessionWithPayments;
const buildPayment = (paymentReference: string, version: number, state = 'paid'): HostedPaymentSnapshot =>
  ({
    paymentReference,
    payable: { payableId: 'p', state, version, paymentCount: version - 1 },
  }) as unknown as HostedPaymentSnapshot;

describe('the session that applyPayment returns', () => {
  it('has the payable state of the payment if the payment has a newer version', () => {
    expect(applyPayment(buildSession(1), buildPayment('a', 3))).toMatchObject({
      payableState: 'paid',
      payableVersion: 3,
      paymentCount: 2,
    });
  });

  it('has an unchanged state if the payment has an older version, for example after a repeated pay request', () => {
    const current = { ...buildSession(5, [buildPayment('b', 5)]), payableState: 'paid' as const };
    const updated = applyPayment(current, buildPayment('a', 3, 'open'));
    expect(updated).toMatchObject({ payableState: 'paid', payableVersion: 5 });
    expect(updated.payments.map(({ paymentReference }) => paymentReference)).toEqual(['b', 'a']);
  });

  it('is unchanged if it already contains this version of the payment', () => {
    const current = { ...buildSession(3, [buildPayment('a', 3)]), payableState: 'closed' as const };
    const updated = applyPayment(current, buildPayment('a', 3, 'reserved'));
    expect([updated.payableState, updated.payments]).toEqual(['closed', current.payments]);
  });

  it('contains each payment once, in its newest version', () => {
    const updated = applyPayment(buildSession(3, [buildPayment('a', 3)]), buildPayment('a', 2, 'reserved'));
    expect(updated.payments).toEqual([buildPayment('a', 3)]);
    const replaced = applyPayment(buildSession(3, [buildPayment('a', 2, 'reserved')]), buildPayment('a', 3));
    expect(replaced.payments).toEqual([buildPayment('a', 3)]);
  });
});
