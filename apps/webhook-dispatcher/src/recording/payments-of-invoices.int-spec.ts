import { randomUUID } from 'node:crypto';
import { PaymentFailedV1, PaymentSucceededV1 } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import { DispatcherUnderTest } from '../../test/dispatcher.js';

let dispatcher: DispatcherUnderTest;
beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
});
afterAll(() => dispatcher.test.stop());

test('a payment of an invoice is skipped, because it has no notificationUrl, and other payments are still recorded', async () => {
  const [sessionPayment, invoicePayment] = [
    dispatcher.newPayment('https://shop.example/hook'),
    dispatcher.newPayment('https://x.example'),
  ];
  const source = { kind: 'invoice' as const, invoiceReference: randomUUID(), siteReference: 'T', code: '0'.repeat(20) };
  const { test } = dispatcher;
  await test.deliver(
    anEvent(PaymentSucceededV1, randomUUID(), 2, { ...invoicePayment, source }),
    anEvent(PaymentSucceededV1, randomUUID(), 2, sessionPayment),
    anEvent(PaymentFailedV1, randomUUID(), 2, {
      ...dispatcher.newPayment('https://x.example', { state: 'failed' }),
      source,
    }),
  );
  expect(await test.dataSource.query(`SELECT payment_reference FROM notifications`)).toEqual([
    { payment_reference: sessionPayment.paymentReference },
  ]);
  expect(await test.dataSource.query(`SELECT message_id FROM dead_letters`)).toEqual([]);
});
