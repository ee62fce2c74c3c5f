import { WEBHOOK_EXAMPLES } from '../../../../test/adyen/adyen-documents.js';
import { LIBRARY_ITEM, notificationOf } from '../../../../test/adyen/signed-notification.js';
import { type NotificationItem, parseNotification } from './parse-notification.js';

const parseOne = (change: object = {}): NotificationItem =>
  parseNotification(JSON.parse(notificationOf([{ ...LIBRARY_ITEM, ...change }])))!.items[0]!.kept;

/** The examples of standard webhooks, without those of another structure. */
const EXAMPLES = Object.entries(WEBHOOK_EXAMPLES).filter(([, example]) => 'notificationItems' in (example as object));

test.each(EXAMPLES)("Adyen's example %s can be used", (_, example) => {
  const notification = parseNotification(example)!;
  const { live } = example as { live: string };
  expect(notification.isLive).toBe(live === 'true');
  for (const { kept } of notification.items)
    expect([kept.invalidField, kept.eventUTCDate]).toEqual([undefined, expect.any(String)]);
});

test('there is an example for most events', () => expect(EXAMPLES.length).toBeGreaterThan(25));

test.each([
  '"x"',
  'null',
  '[]',
  '{}',
  notificationOf([]),
  notificationOf([LIBRARY_ITEM], true),
  notificationOf([LIBRARY_ITEM], 'TRUE'),
  notificationOf(Array.from({ length: 101 }, () => LIBRARY_ITEM)),
  JSON.stringify({ live: 'false', notificationItems: { 0: LIBRARY_ITEM } }),
])('the body %# is not a notification', (body) => expect(parseNotification(JSON.parse(body))).toBeUndefined());

/** Limit of every request body of the platform (C6). */
const MAX_BODY_BYTES = 256 * 1024;

test('100 items fit', () => {
  const body = notificationOf(Array.from({ length: 100 }, () => LIBRARY_ITEM));
  expect(parseNotification(JSON.parse(body))!.items).toHaveLength(100);
  expect(body.length).toBeLessThan(MAX_BODY_BYTES);
});

test('no field of a card is kept', () => {
  const additionalData = {
    ...LIBRARY_ITEM.additionalData,
    cardSummary: '7777',
    cardBin: '411111',
    expiryDate: '12/2012',
    cardHolderName: 'S Hopper',
    authCode: '874574',
    shopperReference: 'shopper',
    'riskdata.card': '4111111111111111',
  };
  const authorisation = { eventCode: 'AUTHORISATION', additionalData, paymentMethod: 'visa' };
  const approved = { ...authorisation, reason: '874574:7777:12/2012' };
  const declined = { ...authorisation, success: 'false', reason: 'Refused 4111 1111 1111 1111' };
  expect(parseOne(approved)).toEqual({
    pspReference: 'pspReference',
    originalReference: 'originalReference',
    merchantAccountCode: 'merchantAccount',
    merchantReference: 'reference',
    amount: { value: 1_000, currency: 'EUR' },
    eventCode: 'AUTHORISATION',
    success: 'true',
    eventUTCDate: '1970-01-01T00:00:00.000Z',
    reason: undefined,
    dispute: undefined,
    invalidField: undefined,
  });
  expect(parseOne(declined).reason).toBe('Refused [number]');
});

test.each([
  ['2021-07-31T03:03:07+02:00', '2021-07-31T01:03:07.000Z'],
  ['2019-05-06T17:15:34.121Z', '2019-05-06T17:15:34.121Z'],
  ['2021-13-31T03:03:07+02:00', undefined],
  ['2021-07-31', undefined],
  ['x2021-07-31T03:03:07+02:00', undefined],
  ['2021-07-31T03:03:07+02:00x', undefined],
  [`2021-07-31T03:03:07${' '.repeat(9)}`, undefined],
  [1_622_505_787, undefined],
])('the date %p is %p in UTC', (eventDate, utcDate) => expect(parseOne({ eventDate }).eventUTCDate).toBe(utcDate));

test('the fields of a dispute are kept', () => {
  const dispute = {
    disputeStatus: 'Unresponded',
    defensePeriodEndsAt: '2021-07-31T03:03:07+02:00',
    defendable: 'true',
    chargebackReasonCode: ' 4853',
    chargebackSchemeCode: 'mc',
    capturePspReference: '8636172945333378',
    shopperReference: 'shopper',
  };
  expect(parseOne({ additionalData: dispute }).dispute).toEqual({
    disputeStatus: 'Unresponded',
    defensePeriodEndsUTCDate: '2021-07-31T01:03:07.000Z',
    defendable: 'true',
    reasonCode: '4853',
    schemeCode: 'mc',
    capturePspReference: '8636172945333378',
  });
  expect(parseOne({ additionalData: { rfiReasonCode: '30', disputeStatus: 'x'.repeat(101) } }).dispute).toEqual({
    reasonCode: '30',
  });
});

test.each<[string, object]>([
  ['pspReference', { pspReference: '' }],
  ['pspReference', { pspReference: 'x'.repeat(101) }],
  ['pspReference', { pspReference: 'a\u0000b' }],
  ['pspReference', { pspReference: 7 }],
  ['originalReference', { originalReference: 'x'.repeat(101) }],
  ['merchantAccountCode', { merchantAccountCode: undefined }],
  ['merchantReference', { merchantReference: '' }],
  ['eventCode', { eventCode: null }],
  ['success', { success: true }],
  ['success', { success: 'maybe' }],
  ['amount', { amount: undefined }],
  ['amount', { amount: { value: 1.5, currency: 'EUR' } }],
  ['amount', { amount: { value: -1, currency: 'EUR' } }],
  ['amount', { amount: { value: 1e15, currency: 'EUR' } }],
  ['amount', { amount: { value: 1, currency: 'eur' } }],
])('an unusable %s is named, and the item fits into its columns', (field, change) => {
  const item = parseOne(change);
  expect(item.invalidField).toBe(field);
  const { pspReference, originalReference, merchantAccountCode, merchantReference, eventCode, amount } = item;
  for (const text of [pspReference, originalReference, merchantAccountCode, merchantReference, eventCode]) {
    expect(text.length).toBeLessThanOrEqual(100);
    expect(text).not.toMatch(/\u0000/);
  }
  expect(Number.isSafeInteger(amount.value)).toBe(true);
});

test('an item without an original payment, and an amount of 0, are usable', () => {
  expect(
    parseOne({ originalReference: undefined, amount: { value: 0, currency: 'EUR' } }).invalidField,
  ).toBeUndefined();
});

test('a report has no payment, and keeps its URL unchanged or not at all', () => {
  const report = { eventCode: 'REPORT_AVAILABLE', merchantReference: '', originalReference: undefined };
  const url = 'https://ca-test.adyen.com/reports/download/MerchantAccount/A/batch_1234567890123.csv';
  expect(parseOne({ ...report, reason: url })).toMatchObject({ reason: url, invalidField: undefined });
  expect(parseOne({ ...report, reason: `${url}${'x'.repeat(500)}` }).reason).toBeUndefined();
});

test('a reason is at most 500 characters without control characters', () => {
  const reason = parseOne({ reason: `a\nb${'x'.repeat(600)}` }).reason!;
  expect([reason.length, reason.slice(0, 3)]).toEqual([500, 'a b']);
  expect(parseOne({ reason: ' ' }).reason).toBeUndefined();
});
