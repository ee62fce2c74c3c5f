/** Checks that the statements of refunds find their rows by indexes, even before the tables are analysed. */
import { randomUUID } from 'node:crypto';
import { planOf } from '@svc/testing';
import { type Processor, startProcessor } from '../../test/processor.js';
import { AdminRefundsQuery } from './administration/admin-refunds.query.js';
import { type PaymentToRefund, RefundRepository } from './refund.repository.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const OWNER = { merchantId: 1001, mode: 'test', siteId: undefined } as const;
const PAYMENT = {
  paymentId: randomUUID(),
  charge: {
    attemptId: randomUUID(),
    acquirerReference: 'a-1',
    acquirer: 'simulated',
    account: { mode: 'test', accountReference: 'm' },
  },
} as PaymentToRefund;
const getRefunds = () => processor.service.app.get(RefundRepository);
const getAdminRefunds = () => processor.service.app.get(AdminRefundsQuery);

test.each<[string, () => Promise<unknown>, string[]]>([
  [
    'a payment to refund',
    () => getRefunds().findPayment(OWNER, 'P'),
    ['payments_payment_reference', 'payables_pkey', 'attempts_one_open'],
  ],
  [
    'a refund by its idempotency key',
    () => getRefunds().findByKey(OWNER, 'k'),
    ['refund_idempotency_keys_pkey', 'refunds_pkey', 'payments_pkey'],
  ],
  ['the refunds of a payment', () => getRefunds().list(PAYMENT), ['refunds_of_payment', 'payments_pkey']],
  [
    'the payment of a new refund',
    () =>
      getRefunds().create({
        ...{ owner: OWNER, payment: PAYMENT, amount: 1, reason: undefined },
        ...{ idempotencyKey: 'k', fingerprint: 'f'.repeat(64), requestedBy: randomUUID() },
      }),
    ['payments_pkey'],
  ],
  [
    'due refunds',
    () => getRefunds().leaseDue('simulated', new Date(), 50),
    ['refunds_due', 'refunds_pkey', 'attempts_pkey', 'payments_pkey', 'payables_pkey'],
  ],
  [
    'a refund that a client waits for',
    () => getRefunds().leaseForPoll(randomUUID(), new Date()),
    ['refunds_pkey', 'attempts_pkey', 'payments_pkey', 'payables_pkey'],
  ],
  ['refunds that wait for a capture', () => getRefunds().wake(randomUUID()), ['refunds_of_payment']],
  [
    'the newest refunds',
    () => getAdminRefunds().list('newest'),
    ['refunds_pkey', 'payments_pkey', 'refund_incidents_pkey'],
  ],
  ['the pending refunds', () => getAdminRefunds().list('pending'), ['refunds_longest_pending', 'payments_pkey']],
  [
    'the refunds of one payment, for administrators',
    () => getAdminRefunds().list({ paymentReference: 'P' }),
    ['payments_payment_reference', 'refunds_of_payment'],
  ],
])('the statement that reads %s uses indexes', async (_, runQuery, indexes) => {
  const plan = await planOf(processor.dataSource, runQuery);
  expect(plan).not.toMatch(/Seq Scan/);
  for (const index of indexes) expect(plan).toMatch(new RegExp(`(using|on) ${index}\\b`));
});
