import type { AttemptRecord, IncidentRecord, PaymentRecords, RefundRecord } from './payment-records.query.js';
import { describeRecords } from './payment-steps.js';

const at = (time: string): Date => new Date(`2026-03-01T${time}.000Z`);
const ATTEMPT: AttemptRecord = {
  ...{ attemptId: 'attempt-1', acquirer: 'adyen', account: 'KarooBooks', traceId: 'a'.repeat(32), state: 'approved' },
  ...{
    acquirerReference: 'PSP1',
    acquirerCode: null,
    startedAt: at('10:00:00'),
    endedAt: at('10:00:02'),
    queries: 0,
    nextQueryAt: null,
  },
  ...{ captureState: null, captureAmount: null, captureReference: null, captureRequests: null, captureFailure: null },
  ...{ captureCreatedAt: null, captureEndedAt: null, capturedAt: null },
  ...{ reversalRequestedAt: null, reversalConfirmedAt: null, foundCharge: null },
};
const REFUND: RefundRecord = {
  ...{ refundId: 'refund-1', amount: 100, reason: 'broken', requestedBy: 'key-1', state: 'succeeded' },
  ...{ acquirerReference: 'PSP2', createdAt: at('11:00:00'), endedAt: at('11:00:05'), returnedAt: null },
  ...{ uncertainSince: null, queries: 0, nextQueryAt: null },
};
const PAYMENT: PaymentRecords['payment'] = {
  ...{ paymentId: 'payment-1', state: 'success', amount: 12_345, processedAmount: 12_345, methodLabel: '**** 4242' },
  ...{ siteReference: 'web', isOfPartner: false, errors: [], acceptedAt: at('10:00:00'), modifiedAt: at('10:00:02') },
  ...{ challengeReference: null, verificationExpiresAt: null },
};

interface Changes extends Partial<Omit<PaymentRecords, 'payment' | 'attempts' | 'refunds'>> {
  readonly payment?: Partial<PaymentRecords['payment']>;
  readonly attempt?: Partial<AttemptRecord>;
  readonly refund?: Partial<RefundRecord>;
}

/** Each step in a line, with `…` while it has no outcome. */
function list({ payment, attempt, refund, ...rest }: Changes): string[] {
  const records: PaymentRecords = {
    payment: { ...PAYMENT, ...payment },
    attempts: [{ ...ATTEMPT, ...attempt }],
    refunds: refund ? [{ ...REFUND, ...refund }] : [],
    ...{ incidents: [], disputeReports: [], disputeChanges: [], settlementLines: [], ...rest },
  };
  return describeRecords(records).map(
    ({ utcDate, event, isOpen }) => `${utcDate.slice(11, 19)} ${event}${isOpen ? ' …' : ''}`,
  );
}

const PAID = [
  '10:00:00 payment accepted',
  '10:00:00 acquirer called',
  '10:00:02 acquirer approved',
  '10:00:02 payment succeeded',
];

test('a paid payment', () => {
  expect(list({})).toEqual(PAID);
});

test('an unknown outcome is open until the acquirer answers', () => {
  const attempt = { state: 'unknown', acquirerReference: null, endedAt: null, nextQueryAt: at('10:01:00') } as const;
  expect(list({ payment: { state: 'processing' }, attempt })).toEqual([
    '10:00:00 payment accepted',
    '10:00:00 acquirer called …',
  ]);
});

test('a challenge of the bank is not a failed attempt', () => {
  const payment = {
    state: 'verificationRequired',
    challengeReference: 'PSP1',
    verificationExpiresAt: at('10:15:00'),
  } as const;
  expect(list({ payment, attempt: { state: 'notAttempted' } })).toEqual([
    '10:00:00 payment accepted',
    '10:00:00 acquirer called',
    '10:00:02 bank asks the payer for a confirmation',
  ]);
  expect(list({ payment: { state: 'failed' }, attempt: { state: 'notAttempted', acquirerReference: null } })).toContain(
    '10:00:02 acquirer took no money',
  );
});

test.each<[string, Partial<AttemptRecord>, string[]]>([
  ['is open until it is confirmed', { captureState: 'requested' }, ['10:00:03 capture requested …']],
  [
    'is confirmed',
    { captureState: 'captured', captureEndedAt: at('10:05:00'), capturedAt: at('10:05:00') },
    ['10:05:00 capture confirmed'],
  ],
  [
    'can fail after it was confirmed',
    {
      captureState: 'failed',
      captureEndedAt: at('12:00:00'),
      capturedAt: at('10:05:00'),
      captureFailure: 'cardScheme',
    },
    ['10:05:00 capture confirmed', '12:00:00 capture failed'],
  ],
])('a capture %s', (_, capture, expected) => {
  const attempt = { captureAmount: 12_345, captureCreatedAt: at('10:00:03'), ...capture };
  expect(list({ attempt })).toEqual([...PAID, ...expected]);
});

test('a reversal is open until the acquirer confirms it', () => {
  const reversalRequestedAt = at('10:16:00');
  expect(list({ attempt: { reversalRequestedAt } })).toEqual([...PAID, '10:16:00 reversal requested …']);
  expect(list({ attempt: { reversalRequestedAt, reversalConfirmedAt: at('10:17:00'), foundCharge: true } })).toEqual([
    ...PAID,
    '10:16:00 reversal requested',
    '10:17:00 reversal confirmed',
  ]);
});

test.each<[string, Partial<RefundRecord>, string[]]>([
  ['succeeds', {}, ['11:00:00 refund requested', '11:00:05 refund succeeded']],
  ['fails', { state: 'failed' }, ['11:00:00 refund requested', '11:00:05 refund failed']],
  ['is pending', { state: 'pending', endedAt: null, nextQueryAt: at('12:00:00') }, ['11:00:00 refund requested …']],
  [
    'is uncertain',
    { state: 'pending', endedAt: null, uncertainSince: at('11:30:00') },
    ['11:00:00 refund requested …', '11:30:00 refund uncertain: only a report of the acquirer ends it …'],
  ],
  [
    'returns',
    { state: 'failed', returnedAt: at('13:00:00') },
    ['11:00:00 refund requested', '11:00:05 refund succeeded', '13:00:00 refund returned: the money came back'],
  ],
])('a refund %s', (_, refund, expected) => {
  expect(list({ refund })).toEqual([...PAID, ...expected]);
});

test('incidents, disputes and settlement have their own time', () => {
  const incident: IncidentRecord = {
    ...{ subject: 'attempt', subjectState: 'approved', response: 'declined', acquirerReference: 'PSP9' },
    ...{ firstSeenAt: at('10:30:00'), lastSeenAt: at('10:31:00'), occurrences: 2 },
  };
  const report = {
    ...{ kind: 'opened', amount: 100, reason: '10.4', respondBy: null, occurredAt: at('14:00:00') },
    ...{ receivedAt: at('14:00:01'), acquirer: 'adyen', disputeReference: 'd', acquirerReference: 'D1' },
  };
  const line = {
    ...{ kind: 'capture', type: 'Settled', acquirer: 'adyen', account: 'KarooBooks', batch: 7, lineNumber: 1 },
    ...{
      grossAmount: 12_345,
      netAmount: 12_000,
      feeAmount: null,
      problem: null,
      isMatched: true,
      storedAt: at('15:00:00'),
    },
  };
  expect(list({ incidents: [incident], disputeReports: [report], settlementLines: [line] })).toEqual([
    ...PAID,
    '10:30:00 incident: the acquirer contradicts the attempt',
    '14:00:01 dispute opened',
    '15:00:00 settlement of the capture',
  ]);
});
