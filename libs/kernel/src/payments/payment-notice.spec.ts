import type { PaymentSnapshot } from '@svc/contracts';
import { notificationIdOf } from './notification-id.js';
import { hasNotice, isPaymentOutcome, noticeOf } from './payment-notice.js';

const failedPayment: PaymentSnapshot = {
  reference: 'r',
  paymentReference: 'P',
  mode: 'test',
  merchantId: 1001,
  siteId: 5001,
  state: 'failed',
  currencyISOCode: 'ZAR',
  invoicedAmount: 12_345,
  amount: 12_000,
  tipAmount: 500,
  processedAmount: 0,
  paymentUTCDate: '2026-03-01T10:00:00.123Z',
  modifiedUTCDate: '2026-03-01T10:00:01.456Z',
  paymentMethodType: 'Card',
  paymentMethodLabel: '**** 4242',
  errors: [],
  source: {
    kind: 'session',
    sessionId: 'session-1',
    apiVersion: 'v3.1',
    merchantOrderId: 'order-1',
    notificationUrl: 'https://shop.example/hook',
  },
  payable: { payableId: 'session-1', state: 'open', version: 3, tries: 1 },
};

test('the notice of a final payment has the same id as the notification of its session (E8)', () => {
  const { id, notice } = noticeOf(failedPayment);
  expect(id).toBe(notificationIdOf(failedPayment));
  expect(notice).toMatchObject({ type: 'payment', status: 2, tenderedAmount: 12_500, siteReference: '' });
  expect(notice).not.toHaveProperty('refund');
});

test('a reversal is published as a refund of the whole charge, with a separate id (M6)', () => {
  const reversed = { ...failedPayment, reversedUTCDate: '2026-03-01T10:01:00.000Z' };
  const { id, notice } = noticeOf(reversed);
  expect(notice).toEqual({
    ...noticeOf(failedPayment).notice,
    type: 'refund',
    refund: { refundReference: id, amount: 12_500, status: 'succeeded', createdUTCDate: '2026-03-01T10:01:00.000Z' },
  });
  expect(id).not.toBe(noticeOf(failedPayment).id);
  expect(noticeOf(reversed).id).toBe(id);
  expect(noticeOf({ ...reversed, paymentReference: 'Q' }).id).not.toBe(id);
});

test('a refund is published with its payment, and its id is the refund reference (M6)', () => {
  const succeeded = { ...failedPayment, state: 'success' as const, processedAmount: 12_500 };
  const createdUTCDate = '2026-03-02T10:01:00.000Z';
  for (const status of ['succeeded', 'failed'] as const) {
    const refund = { refundReference: 'refund-1', amount: 4_000, status, createdUTCDate };
    const refunded = { ...succeeded, refund: { ...refund, fieldOfNewerRelease: true } };
    const identifiedNotice = noticeOf(refunded);
    expect(identifiedNotice).toEqual({
      id: 'refund-1',
      notice: { ...noticeOf(succeeded).notice, type: 'refund', refund },
    });
    expect(hasNotice(refunded)).toBe(true);
  }
});

test('isPaymentOutcome is true for the result of a payment, but not for a reversal or a refund', () => {
  const createdUTCDate = '2026-03-02T10:01:00.000Z';
  const refund = { refundReference: 'refund-1', amount: 1, status: 'succeeded' as const, createdUTCDate };
  expect(
    [failedPayment, { ...failedPayment, reversedUTCDate: createdUTCDate }, { ...failedPayment, refund }].map(
      isPaymentOutcome,
    ),
  ).toEqual([true, false, false]);
});

test('the refund amount in the notice of a reversal does not include vouchers', () => {
  const vouchers = [
    { merchantLiable: true, amount: 8_000 },
    { merchantLiable: false, amount: 500 },
  ];
  const { notice } = noticeOf({ ...failedPayment, vouchers, reversedUTCDate: '2026-03-01T10:01:00.000Z' });
  expect(notice).toMatchObject({ tenderedAmount: 12_500, refund: { amount: 4_000 } });
});

test('hasNotice is false for the reversal of a second charge of a successful payment', () => {
  const reversed = { ...failedPayment, reversedUTCDate: '2026-03-01T10:01:00.000Z' };
  expect([failedPayment, { ...failedPayment, state: 'success' as const }, reversed].map(hasNotice)).toEqual([
    true,
    true,
    true,
  ]);
  expect(hasNotice({ ...reversed, state: 'success' })).toBe(false);
});

test('a notice has the default site reference if the payment is from an earlier release and has no site reference', () => {
  expect(noticeOf(failedPayment, 'WEB').notice.siteReference).toBe('WEB');
  expect(noticeOf({ ...failedPayment, siteReference: 'TILL-1' }, 'WEB').notice.siteReference).toBe('TILL-1');
});

test('noticeOf throws for a payment in progress', () =>
  expect(() => noticeOf({ ...failedPayment, state: 'processing' })).toThrow('not final'));
