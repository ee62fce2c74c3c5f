import type { HostedPaymentSnapshot } from '@svc/contracts';
import { type SessionWithPayments, withPayment } from './session.repository.js';

const session = (version: number, payments: HostedPaymentSnapshot[] = []): SessionWithPayments =>
  ({ payableState: 'open', payableVersion: version, tries: 0, payments }) as unknown as SessionWithPayments;
const payment = (paymentReference: string, version: number, state = 'paid'): HostedPaymentSnapshot =>
  ({
    paymentReference,
    payable: { payableId: 'p', state, version, tries: version - 1 },
  }) as unknown as HostedPaymentSnapshot;

describe('a session with a payment', () => {
  it('has the state of its payment if that is newer', () => {
    expect(withPayment(session(1), payment('a', 3))).toMatchObject({
      payableState: 'paid',
      payableVersion: 3,
      tries: 2,
    });
  });

  it('is unchanged if the payment is older, for example after a repeated pay request', () => {
    const known = { ...session(5, [payment('b', 5)]), payableState: 'paid' as const };
    const seen = withPayment(known, payment('a', 3, 'open'));
    expect(seen).toMatchObject({ payableState: 'paid', payableVersion: 5 });
    expect(seen.payments.map(({ paymentReference }) => paymentReference)).toEqual(['b', 'a']);
  });

  it('is unchanged if the payment has the same version', () => {
    const known = { ...session(3, [payment('a', 3)]), payableState: 'closed' as const };
    const seen = withPayment(known, payment('a', 3, 'reserved'));
    expect([seen.payableState, seen.payments]).toEqual(['closed', known.payments]);
  });

  it('has each payment once, in its newest version', () => {
    const seen = withPayment(session(3, [payment('a', 3)]), payment('a', 2, 'reserved'));
    expect(seen.payments).toEqual([payment('a', 3)]);
    const later = withPayment(session(3, [payment('a', 2, 'reserved')]), payment('a', 3));
    expect(later.payments).toEqual([payment('a', 3)]);
  });
});
