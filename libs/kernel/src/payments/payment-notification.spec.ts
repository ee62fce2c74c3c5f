import type { PaymentSnapshot } from '@svc/contracts';
import { notificationIdOf } from './notification-id.js';
import { buildPaymentNotification, hasNotification, isPaymentOutcome } from './payment-notification.js';

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
    code: '01234567890123456789',
  },
  payable: { payableId: 'session-1', state: 'open', version: 3, paymentCount: 1 },
  merchantName: 'Karoo Books',
  siteReference: 'WEB',
};

test('the notification of a final payment has the same id as the notification of its session (E8)', () => {
  const { id, notification } = buildPaymentNotification(failedPayment);
  expect(id).toBe(notificationIdOf(failedPayment));
  expect(notification).toMatchObject({ type: 'payment', status: 2, tenderedAmount: 12_500, siteReference: 'WEB' });
  expect(notification).not.toHaveProperty('refund');
});

test('a reversal is published as a refund of the whole charge, with a separate id (M6)', () => {
  const reversed = { ...failedPayment, reversedUTCDate: '2026-03-01T10:01:00.000Z' };
  const { id, notification } = buildPaymentNotification(reversed);
  expect(notification).toEqual({
    ...buildPaymentNotification(failedPayment).notification,
    type: 'refund',
    refund: { refundReference: id, amount: 12_500, status: 'succeeded', createdUTCDate: '2026-03-01T10:01:00.000Z' },
  });
  expect(id).not.toBe(buildPaymentNotification(failedPayment).id);
  expect(buildPaymentNotification(reversed).id).toBe(id);
  expect(buildPaymentNotification({ ...reversed, paymentReference: 'Q' }).id).not.toBe(id);
});

test('a refund is published with its payment, and its id is the refund reference (M6)', () => {
  const succeeded = { ...failedPayment, state: 'success' as const, processedAmount: 12_500 };
  const createdUTCDate = '2026-03-02T10:01:00.000Z';
  for (const status of ['succeeded', 'failed'] as const) {
    const refund = { refundReference: 'refund-1', amount: 4_000, status, createdUTCDate };
    const refunded = { ...succeeded, refund: { ...refund, fieldOfNewerRelease: true } };
    const identified = buildPaymentNotification(refunded);
    expect(identified).toEqual({
      id: 'refund-1',
      notification: { ...buildPaymentNotification(succeeded).notification, type: 'refund', refund },
    });
    expect(hasNotification(refunded)).toBe(true);
  }
});

test('a change of a dispute is published with its payment, and its id is that of the change (M8)', () => {
  const succeeded = { ...failedPayment, state: 'success' as const, processedAmount: 12_500 };
  const dispute = {
    ...{ disputeReference: 'dispute-1', stage: 'opened' as const, amount: 4_000, reason: '10.4 Fraud' },
    createdUTCDate: '2026-03-02T10:01:00.000Z',
  };
  const change = { changeReference: 'change-1', changedUTCDate: '2026-03-03T10:01:00.000Z' };
  for (const deadline of [{ respondByUTCDate: '2026-03-09T10:01:00.000Z' }, {}]) {
    const disputed = { ...succeeded, dispute: { ...dispute, ...deadline, ...change, fieldOfNewerRelease: true } };
    expect(buildPaymentNotification(disputed)).toStrictEqual({
      id: 'change-1',
      notification: {
        ...buildPaymentNotification(succeeded).notification,
        type: 'dispute',
        dispute: { ...dispute, ...deadline },
      },
    });
    expect([hasNotification(disputed), isPaymentOutcome(disputed)]).toEqual([true, false]);
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

test('the refund amount in the notification of a reversal does not include vouchers', () => {
  const vouchers = [
    { merchantLiable: true, amount: 8_000 },
    { merchantLiable: false, amount: 500 },
  ];
  const { notification } = buildPaymentNotification({
    ...failedPayment,
    vouchers,
    reversedUTCDate: '2026-03-01T10:01:00.000Z',
  });
  expect(notification).toMatchObject({ tenderedAmount: 12_500, refund: { amount: 4_000 } });
});

test('hasNotification is false for the reversal of a second charge of a successful payment', () => {
  const reversed = { ...failedPayment, reversedUTCDate: '2026-03-01T10:01:00.000Z' };
  expect([failedPayment, { ...failedPayment, state: 'success' as const }, reversed].map(hasNotification)).toEqual([
    true,
    true,
    true,
  ]);
  expect(hasNotification({ ...reversed, state: 'success' })).toBe(false);
});

test('buildPaymentNotification throws for a payment in progress', () =>
  expect(() => buildPaymentNotification({ ...failedPayment, state: 'processing' })).toThrow('not final'));
