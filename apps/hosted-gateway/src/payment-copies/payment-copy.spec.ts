import { anAnonymousPayment, aPayment, inProgress } from '@svc/testing';
import { toStoredCopy } from './payment-copy.js';

test('a stored copy of a payment of a session contains only the members that the row of the session lacks or that identify it', () => {
  const payment = anAnonymousPayment();
  const { merchantName: _, siteReference: __, source, ...rest } = payment;
  expect(source).toMatchObject({ kind: 'session', apiVersion: 'v3.1' });
  expect(toStoredCopy(payment)).toEqual({
    ...rest,
    source: { kind: 'session', sessionId: payment.payable.payableId, merchantOrderId: 'order-1' },
  });
});

test('a stored copy of a payment of an invoice contains its source', () => {
  const payment = aPayment('8d1f5a1e-6d0e-4a53-9c7a-2f1f7b8f0c11', 'customer-1');
  const { merchantName: _, siteReference: __, ...rest } = payment;
  expect(toStoredCopy(payment)).toEqual(rest);
});

test('a payment in progress is stored as it was reported', () => {
  const payment = inProgress(anAnonymousPayment());
  expect(toStoredCopy(payment)).toEqual(payment);
});
