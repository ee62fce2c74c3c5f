import type { PaymentSnapshot } from '@svc/contracts';
import type { SessionWithPayments } from '../../sessions/session.repository.js';
import type { TillInvoice } from '../../till-codes/till-invoice.js';
import { checkPaymentLimit } from './payment-limits.js';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const OWN_CODE = { code: '1' };
const STATIC_CODE = { code: '2', invoiceReference: 'i' };

/** Payments that were accepted `secondsAgo`. */
const times = (
  count: number,
  state: PaymentSnapshot['state'],
  { secondsAgo = 0, isOfPartner = false }: { secondsAgo?: number; isOfPartner?: boolean } = {},
): PaymentSnapshot[] =>
  Array.from(
    { length: count },
    () =>
      ({
        state,
        paymentUTCDate: new Date(NOW.getTime() - secondsAgo * 1_000).toISOString(),
        ...(isOfPartner ? { partner: {} } : {}),
      }) as PaymentSnapshot,
  );
const buildInvoice = (payments: PaymentSnapshot[], overrides: Partial<TillInvoice> = {}): TillInvoice =>
  ({ invoiceReference: 'i', payments, maxPayments: 100, paymentCount: payments.length, ...overrides }) as TillInvoice;

test.each([
  [4, 'allowed'],
  [5, 'used-up'],
])('a session with %d payments: another payment is %s', (paymentCount, result) => {
  const session = { sessionId: 's', paymentCount, payments: times(1, 'failed') } as unknown as SessionWithPayments;
  for (const address of [{ sessionId: 's' }, OWN_CODE]) expect(checkPaymentLimit(session, address, NOW)).toBe(result);
});

test.each([
  [STATIC_CODE, 100, 59, 'allowed'],
  [STATIC_CODE, 100, 60, 'used-up'],
  [OWN_CODE, 100, 79, 'allowed'],
  [OWN_CODE, 100, 80, 'used-up'],
  // Rounded down, so that some payments are always left for payment apps.
  [STATIC_CODE, 9, 4, 'allowed'],
  [STATIC_CODE, 9, 5, 'used-up'],
  [OWN_CODE, 9, 6, 'allowed'],
  [OWN_CODE, 9, 7, 'used-up'],
])(
  'at the address %j of an invoice with a limit of %d and %d payments: another payment is %s',
  (address, maxPayments, paymentCount, result) => {
    expect(checkPaymentLimit(buildInvoice([], { maxPayments, paymentCount }), address, NOW)).toBe(result);
  },
);

test.each<[string, PaymentSnapshot[], string]>([
  ['19 failures', times(19, 'failed'), 'allowed'],
  ['20 failures', times(20, 'failed'), 'paused'],
  ['20 failures, the last one 599 s ago', times(20, 'failed', { secondsAgo: 599 }), 'paused'],
  ['20 failures, the last one 600 s ago', times(20, 'failed', { secondsAgo: 600 }), 'allowed'],
  [
    '20 failures, of which 19 are older',
    [...times(19, 'failed', { secondsAgo: 3_000 }), ...times(1, 'failed', { secondsAgo: 599 })],
    'paused',
  ],
  [
    '21 failures, of which only the last one is newer than 600 s',
    [...times(1, 'failed'), ...times(20, 'failed', { secondsAgo: 600 })],
    'allowed',
  ],
  [
    '40 failures, of which 20 are older',
    [...times(20, 'failed'), ...times(20, 'failed', { secondsAgo: 600 })],
    'paused',
  ],
  ['payments that wait for verification', times(20, 'verificationRequired'), 'paused'],
  ['failures and payments that wait', [...times(10, 'failed'), ...times(10, 'verificationRequired')], 'paused'],
  ['a payment in progress', [...times(19, 'failed'), ...times(1, 'processing')], 'allowed'],
  ['failures of payment apps', [...times(19, 'failed'), ...times(20, 'failed', { isOfPartner: true })], 'allowed'],
])('after %s, the static code is as expected, and the own code can pay', (_, payments, result) => {
  expect(checkPaymentLimit(buildInvoice(payments), STATIC_CODE, NOW)).toBe(result);
  expect(checkPaymentLimit(buildInvoice(payments), OWN_CODE, NOW)).toBe('allowed');
});
