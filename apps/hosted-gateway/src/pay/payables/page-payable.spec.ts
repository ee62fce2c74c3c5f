import type { PaymentSnapshot } from '@svc/contracts';
import type { SessionWithPayments } from '../../sessions/session.repository.js';
import type { TillInvoice } from '../../till-codes/till-invoice.js';
import { countAttemptsLeft, getPayableId, type PagePayable } from './page-payable.js';

type State = PaymentSnapshot['state'];

const times = (count: number, state: State, partner?: string): PaymentSnapshot[] =>
  Array.from(
    { length: count },
    () => ({ state, ...(partner === undefined ? {} : { partner }) }) as unknown as PaymentSnapshot,
  );

/** An invoice whose own limit is high, so that the limits of its page decide. */
const buildInvoice = (payments: PaymentSnapshot[], limits = { triesMax: 100, tries: payments.length }): PagePayable =>
  ({ invoiceReference: 'invoice 1', payments, ...limits }) as unknown as TillInvoice;

describe('countAttemptsLeft', () => {
  it('returns for a session the limit of 5 minus its attempts', () => {
    const session = {
      sessionId: 'session 1',
      tries: 2,
      payments: times(1, 'failed'),
    } as unknown as SessionWithPayments;
    expect(countAttemptsLeft(session)).toBe(3);
  });

  it.each([
    ['no payment', [], 5],
    ['failed payments', times(4, 'failed'), 1],
    ['as many failed payments as allowed', times(5, 'failed'), 0],
    ['payments that wait for verification', times(9, 'verificationRequired'), 1],
    [
      'failed payments and more that wait for verification',
      [...times(3, 'failed'), ...times(6, 'verificationRequired')],
      1,
    ],
    [
      'a payment in progress, which does not count',
      [...times(1, 'failed'), ...times(7, 'verificationRequired'), ...times(1, 'processing')],
      2,
    ],
    ['failed payments through partners, which do not count', [...times(2, 'failed'), ...times(9, 'failed', 'bank')], 3],
  ])('returns for an invoice with %s the attempts that its page has left', (_payments, payments, left) => {
    expect(countAttemptsLeft(buildInvoice(payments))).toBe(left);
  });

  it('returns the attempts that the invoice has left if these are fewer', () => {
    expect(countAttemptsLeft(buildInvoice(times(1, 'failed'), { triesMax: 8, tries: 7 }))).toBe(1);
  });
});

test('getPayableId returns the id of a session and the reference of an invoice', () => {
  expect(getPayableId({ sessionId: 'session 1' } as SessionWithPayments)).toBe('session 1');
  expect(getPayableId(buildInvoice([]))).toBe('invoice 1');
});
