import { WEBHOOK_EXAMPLES } from '../../../../test/adyen/adyen-documents.js';
import { LIBRARY_ITEM, notificationOf } from '../../../../test/adyen/signed-notification.js';
import type { AcquirerReport } from '../../acquirer-report.js';
import { REFUSAL_REASONS } from '../refusal-reasons.js';
import { type NotificationItem, parseNotification } from './parse-notification.js';
import { duplicateKeyOf, type ReportSource, toReport } from './to-report.js';

const SOURCE: ReportSource = { mode: 'test', isLive: false, checkoutUrl: 'https://checkout-test.adyen.com/v71' };
const ITEM = { ...LIBRARY_ITEM, eventDate: '2026-11-27T10:00:00+02:00', reason: '' };
const parse = (change: object): NotificationItem =>
  parseNotification(JSON.parse(notificationOf([{ ...ITEM, ...change }])))!.items[0]!.kept;
const reportOf = (change: object, source: Partial<ReportSource> = {}): AcquirerReport =>
  toReport(parse(change), { ...SOURCE, ...source });
const FIELDS = {
  acquirer: 'adyen',
  mode: 'test',
  accountReference: 'merchantAccount',
  acquirerReference: 'pspReference',
};
const PAYMENT = { ...FIELDS, paymentReference: 'reference' };

test('an approved charge', () =>
  expect(reportOf({ eventCode: 'AUTHORISATION' })).toEqual({
    kind: 'charge',
    ...PAYMENT,
    outcome: { kind: 'approved' },
    amount: 1_000,
    currencyISOCode: 'EUR',
  }));

test.each(Object.values(REFUSAL_REASONS))('a charge that was declined: $text', ({ text, declineCode }) =>
  expect(reportOf({ eventCode: 'AUTHORISATION', success: 'false', reason: text })).toMatchObject({
    outcome: { kind: 'declined', reason: declineCode },
  }),
);

const AMOUNT = { amount: 1_000, currencyISOCode: 'EUR' };

test.each<[string, string, object]>([
  ['CAPTURE', 'true', { kind: 'capture', outcome: 'captured', ...AMOUNT }],
  ['CAPTURE', 'false', { kind: 'capture', outcome: 'refused', ...AMOUNT }],
  ['CAPTURE_FAILED', 'true', { kind: 'capture', outcome: 'failed', ...AMOUNT }],
  ['CANCELLATION', 'true', { kind: 'reversal', outcome: 'reversed' }],
  ['TECHNICAL_CANCEL', 'true', { kind: 'reversal', outcome: 'reversed' }],
])('%s with success %s', (eventCode, success, outcome) =>
  expect(reportOf({ eventCode, success })).toEqual({ ...PAYMENT, ...outcome }),
);

test.each(['Transaction Recaptured', 'Transaction Auto-recaptured'])('a capture that is repeated: %s', (reason) => {
  const item = { eventCode: 'CAPTURE', reason };
  expect(reportOf(item)).toMatchObject({ kind: 'capture', outcome: 'captured', isRecapture: true });
  expect(duplicateKeyOf(parse(item))).not.toBe(duplicateKeyOf(parse({ eventCode: 'CAPTURE' })));
  expect(reportOf({ ...item, success: 'false' })).not.toHaveProperty('isRecapture');
  expect(reportOf({ ...item, eventCode: 'CAPTURE_FAILED' })).not.toHaveProperty('isRecapture');
});

test.each<[string, string, string]>([
  ['REFUND', 'true', 'succeeded'],
  ['REFUND', 'false', 'declined'],
  ['REFUND_FAILED', 'true', 'returned'],
  ['REFUNDED_REVERSED', 'true', 'returned'],
])('%s with success %s is about the refund of the reference', (eventCode, success, outcome) =>
  expect(reportOf({ eventCode, success })).toEqual({ ...FIELDS, kind: 'refund', refundId: 'reference', outcome }),
);

test.each([
  'CAPTURE_FAILED',
  'REFUND_FAILED',
  'REFUNDED_REVERSED',
  'REPORT_AVAILABLE',
  'CHARGEBACK',
  'SECOND_CHARGEBACK',
])('%s without success has no effect', (eventCode) =>
  expect(reportOf({ eventCode, success: 'false' })).toMatchObject({ kind: 'ignored' }),
);

describe('a cancellation that failed', () => {
  const failed = { eventCode: 'TECHNICAL_CANCEL', success: 'false' };

  test.each([{ originalReference: '' }, { originalReference: undefined }, { reason: 'Transaction not found' }])(
    'has found no charge: %j',
    (change) =>
      expect(reportOf({ ...failed, ...change })).toEqual({ kind: 'reversal', ...PAYMENT, outcome: 'notFound' }),
  );

  test('is not confirmed if Adyen knows the payment', () =>
    expect(reportOf({ ...failed, reason: 'Acquirer error' })).toEqual({
      kind: 'ignored',
      ...FIELDS,
      reason: 'The cancellation failed: Acquirer error',
    }));
});

describe('a dispute', () => {
  test('has its reference, its payment, its deadline and the reason of the card scheme', () => {
    const additionalData = {
      disputeStatus: 'Unresponded',
      defensePeriodEndsAt: '2026-12-27T10:00:00+02:00',
      defendable: 'true',
      chargebackReasonCode: '10.4',
    };
    expect(reportOf({ eventCode: 'CHARGEBACK', reason: 'Other Fraud', additionalData })).toEqual({
      kind: 'dispute',
      ...FIELDS,
      dispute: {
        acquirer: 'adyen',
        mode: 'test',
        reportReference: 'pspReference-CHARGEBACK',
        disputeReference: 'pspReference',
        charge: { paymentReference: 'reference', acquirerReference: 'originalReference' },
        kind: 'debited',
        amount: 1_000,
        currencyISOCode: 'EUR',
        reason: { code: '10.4', text: 'Other Fraud' },
        respondByUTCDate: '2026-12-27T08:00:00.000Z',
        occurredUTCDate: '2026-11-27T08:00:00.000Z',
      },
    });
  });

  test.each([
    ['REQUEST_FOR_INFORMATION', 'inquiry'],
    ['NOTIFICATION_OF_CHARGEBACK', 'opened'],
    ['CHARGEBACK', 'debited'],
    ['CHARGEBACK_REVERSED', 'reversed'],
    ['SECOND_CHARGEBACK', 'debitedAgain'],
    ['INFORMATION_SUPPLIED', 'defended'],
    ['DISPUTE_DEFENSE_PERIOD_ENDED', 'defencePeriodEnded'],
    ['ISSUER_COMMENTS', 'commented'],
    ['ISSUER_RESPONSE_TIMEFRAME_EXPIRED', 'won'],
    ['PREARBITRATION_OPEN', 'preArbitrationOpened'],
    ['PREARBITRATION_ACCEPTED', 'commented'],
    ['PREARBITRATION_DECLINED', 'commented'],
    ['PREARBITRATION_ISSUER_WITHDRAWN', 'won'],
    ['PREARBITRATION_LOST', 'lost'],
    ['PREARBITRATION_WON', 'won'],
    ['SCHEME_ARBITRATION', 'preArbitrationOpened'],
    ['SCHEME_ARBITRATION_LOST', 'lost'],
    ['SCHEME_ARBITRATION_WON', 'won'],
  ])('%s is %s', (eventCode, kind) =>
    expect(reportOf({ eventCode })).toMatchObject({ kind: 'dispute', dispute: { kind } }),
  );

  test.each([
    ['DISPUTE_DEFENSE_PERIOD_ENDED', 'Lost', 'lost'],
    ['PREARBITRATION_ACCEPTED', 'Won', 'won'],
    ['PREARBITRATION_DECLINED', 'Lost', 'lost'],
    ['PREARBITRATION_DECLINED', 'Pending', 'commented'],
    ['CHARGEBACK', 'Lost', 'debited'],
    ['CHARGEBACK_REVERSED', 'Won', 'reversed'],
  ])('%s with the status %s is %s', (eventCode, disputeStatus, kind) =>
    expect(reportOf({ eventCode, additionalData: { disputeStatus } })).toMatchObject({ dispute: { kind } }),
  );

  test.each([{ defendable: 'false' }, { autoDefended: 'true' }, {}])('has no deadline with %j', (change) => {
    const deadline = Object.keys(change).length > 0 ? { defensePeriodEndsAt: '2026-12-27T10:00:00+02:00' } : {};
    const report = reportOf({ eventCode: 'CHARGEBACK', additionalData: { ...deadline, ...change } });
    expect(report).not.toHaveProperty('dispute.respondByUTCDate');
  });

  test('without a date or an original payment', () => {
    expect(reportOf({ eventCode: 'CHARGEBACK', eventDate: 'yesterday' })).toMatchObject({ kind: 'ignored' });
    expect(reportOf({ eventCode: 'CHARGEBACK', originalReference: '' })).toMatchObject({
      dispute: { charge: { paymentReference: 'reference' } },
    });
  });
});

describe('a settlement report', () => {
  const report = {
    eventCode: 'REPORT_AVAILABLE',
    merchantReference: '',
    pspReference: 'settlement_detail_report_batch_1.csv',
  };
  const url = 'https://ca-test.adyen.com/reports/download/MerchantAccount/A/settlement_detail_report_batch_1.csv';

  test('can be downloaded from Adyen', () =>
    expect(reportOf({ ...report, reason: url })).toEqual({
      kind: 'statement',
      ...FIELDS,
      acquirerReference: 'settlement_detail_report_batch_1.csv',
      url,
    }));

  test('can be downloaded from the configured host', () => {
    const emulator = { reason: 'http://127.0.0.1:17300/report.csv' };
    expect(reportOf({ ...report, ...emulator }, { checkoutUrl: 'http://127.0.0.1:17300/v71' })).toMatchObject({
      kind: 'statement',
    });
    expect(reportOf({ ...report, ...emulator })).toMatchObject({ kind: 'ignored' });
  });

  test.each(['received_payments_report_2026_03_01.csv', 'x_settlement_detail_report_batch_1.csv'])(
    'of another kind, %p, is ignored',
    (pspReference) => expect(reportOf({ ...report, pspReference, reason: url })).toMatchObject({ kind: 'ignored' }),
  );

  test.each([
    '',
    'https://adyen.com.example/a.csv',
    'http://ca-test.adyen.com/a.csv',
    'https://ca-live.adyen.com/a.csv',
    'file:///etc/passwd',
  ])('is not downloaded from %p', (reason) =>
    expect(reportOf({ ...report, reason })).toMatchObject({ kind: 'ignored' }),
  );
});

test.each([
  'EXPIRE',
  // A type of settlement lines, and no event.
  'SETTLED_REVERSED',
  'OFFER_CLOSED',
  'NOTIFICATION_OF_FRAUD',
  'RECURRING_CONTRACT',
  'CANCEL_OR_REFUND',
  'NEW',
  'constructor',
])('%s is ignored', (eventCode) =>
  expect(reportOf({ eventCode })).toEqual({ kind: 'ignored', ...FIELDS, reason: `${eventCode} has no effect.` }),
);

test('an item of the other mode, or with an unusable field, is ignored', () => {
  expect(reportOf({}, { isLive: true })).toMatchObject({
    kind: 'ignored',
    reason: 'The notification is of the other mode.',
  });
  expect(reportOf({}, { mode: 'live' })).toMatchObject({ kind: 'ignored', mode: 'live' });
  expect(reportOf({}, { mode: 'live', isLive: true })).toMatchObject({ kind: 'capture', mode: 'live' });
  expect(reportOf({ amount: {} })).toMatchObject({ kind: 'ignored', reason: 'The field amount is not usable.' });
});

test("each of Adyen's examples has a report of a known kind", () => {
  const kinds = Object.values(WEBHOOK_EXAMPLES).flatMap((example) => {
    const notification = parseNotification(example);
    const source = {
      ...SOURCE,
      mode: notification?.isLive ? 'live' : 'test',
      isLive: notification?.isLive ?? false,
    } as const;
    return notification?.items.map(({ kept }) => toReport(kept, source).kind) ?? [];
  });
  expect(new Set(kinds)).toEqual(new Set(['capture', 'charge', 'dispute', 'ignored', 'refund', 'reversal']));
});

test('deliveries of one event have one key, and other events have other keys', () => {
  const keyOf = (change: object): string => duplicateKeyOf(parse(change));
  expect(keyOf({ eventDate: '2027-01-01T00:00:00Z', reason: 'other', merchantReference: 'x' })).toBe(keyOf({}));
  expect(keyOf({})).toBe('merchantAccount pspReference CAPTURE true');
  const changes = [{ pspReference: 'x' }, { eventCode: 'REFUND' }, { success: 'false' }, { merchantAccountCode: 'x' }];
  expect(new Set([{}, ...changes].map(keyOf)).size).toBe(5);
});
