import { newUuidAt } from '@svc/kernel';
import type { PaymentDetails } from './find-payment.query.js';
import { buildTimeline } from './timeline.js';

const at = (time: string): string => `2026-03-01T${time}:00.000Z`;
const PAYMENT: PaymentDetails = {
  paymentReference: '01KJMWQ3T0ABCDEFGH',
  merchantId: 1001,
  mode: 'test',
  siteId: 5001,
  siteReference: 'web',
  paymentUTCDate: at('09:00'),
  modifiedUTCDate: at('09:03'),
  state: 'success',
  currency: 'ZAR',
  amount: 12_345,
  tipAmount: 0,
  processedAmount: 12_345,
  method: 'Card',
  methodLabel: '**** 4242',
  lastDigits: '4242',
  orderReference: 'order',
  payableId: newUuidAt(new Date(at('08:50'))),
  source: 'session',
  code: '01234567890123456789',
  isOfPartner: false,
  customerId: '',
  customerName: '',
  errors: [],
  refunds: [],
  reversals: [],
  disputes: [],
  verificationUTCDate: null,
  otherPayments: [],
};
const kindsOf = (changes: Partial<PaymentDetails>): string[] =>
  buildTimeline({ ...PAYMENT, ...changes }, []).map(({ kind, utcDate }) => `${utcDate.slice(11, 16)} ${kind}`);

test('the timeline begins with the creation of the session, whose id contains the time', () => {
  expect(kindsOf({})).toEqual(['08:50 created', '09:00 accepted', '09:03 outcome']);
});

test.each([
  ['an id of a random UUID', '0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f'],
  ['a time after the payment', newUuidAt(new Date(at('09:01')))],
])('%s is not the time of a session', (_, payableId) => {
  expect(kindsOf({ payableId })).toEqual(['09:00 accepted', '09:03 outcome']);
});

test('the confirmation of the payer has its own line, except while it is the outcome', () => {
  const verificationUTCDate = at('09:01');
  expect(kindsOf({ verificationUTCDate })).toContain('09:01 verification');
  const waiting = { state: 'verificationRequired', verificationUTCDate, modifiedUTCDate: verificationUTCDate } as const;
  expect(kindsOf(waiting)).toEqual(['08:50 created', '09:00 accepted', '09:01 outcome']);
});

test('other payments of the order, refunds with their return, reversals and disputes have their own time', () => {
  const other = {
    paymentReference: '01KJMWQ3T0ABCDEFGJ',
    paymentUTCDate: at('08:55'),
    state: 'failed',
    errors: [],
  } as const;
  const refund = {
    refundReference: 'a',
    amount: 100,
    status: 'succeeded',
    createdUTCDate: at('10:00'),
    returnedUTCDate: at('12:00'),
  } as const;
  const dispute = {
    disputeReference: 'b',
    stage: 'opened',
    amount: 100,
    reason: '10.4',
    respondByUTCDate: null,
    createdUTCDate: at('10:30'),
    changedUTCDate: at('11:00'),
  } as const;
  const reversal = { reversedUTCDate: at('10:15'), amount: 100, captureFailed: false };
  expect(kindsOf({ otherPayments: [other], refunds: [refund], disputes: [dispute], reversals: [reversal] })).toEqual([
    '08:50 created',
    '08:55 other',
    '09:00 accepted',
    '09:03 outcome',
    '10:00 refund',
    '10:15 reversal',
    '11:00 dispute',
    '12:00 returned',
  ]);
});
