/** How the statements of refunds find their rows, for tables that were never analysed. */
import { randomUUID } from 'node:crypto';
import { planOf } from '@svc/testing';
import { type Processor, startProcessor } from '../../test/processor.js';
import { AdminRefundsQuery } from './admin-refunds.query.js';
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
const refunds = () => processor.service.app.get(RefundRepository);
const admin = () => processor.service.app.get(AdminRefundsQuery);

test.each<[string, () => Promise<unknown>, string[]]>([
  [
    'a payment to refund',
    () => refunds().findPayment(OWNER, 'P'),
    ['payments_payment_reference', 'payables_pkey', 'attempts_one_open'],
  ],
  ['a key', () => refunds().findByKey(OWNER, 'k'), ['refund_idempotency_keys_pkey', 'refunds_pkey', 'payments_pkey']],
  ['the refunds of a payment', () => refunds().list(PAYMENT), ['refunds_of_payment', 'payments_pkey']],
  [
    'the payment of a new refund',
    () =>
      refunds().create({
        ...{ owner: OWNER, payment: PAYMENT, amount: 1, reason: undefined },
        ...{ idempotencyKey: 'k', fingerprint: 'f'.repeat(64), requestedBy: randomUUID() },
      }),
    ['payments_pkey'],
  ],
  [
    'refunds that are due',
    () => refunds().leaseDue(new Date(), 50),
    ['refunds_due', 'refunds_pkey', 'attempts_pkey', 'payments_pkey', 'payables_pkey'],
  ],
  [
    'a refund that a client waits for',
    () => refunds().leaseForPoll(randomUUID(), new Date()),
    ['refunds_pkey', 'attempts_pkey', 'payments_pkey', 'payables_pkey'],
  ],
  ['the newest refunds', () => admin().list('newest'), ['refunds_pkey', 'payments_pkey', 'refund_incidents_pkey']],
  ['the pending refunds', () => admin().list('pending'), ['refunds_longest_pending', 'payments_pkey']],
  [
    'the refunds of one payment, for administrators',
    () => admin().list({ paymentReference: 'P' }),
    ['payments_payment_reference', 'refunds_of_payment'],
  ],
])('an index finds %s', async (_, work, indexes) => {
  const plan = await planOf(processor.dataSource, work);
  expect(plan).not.toMatch(/Seq Scan/);
  for (const index of indexes) expect(plan).toMatch(new RegExp(`(using|on) ${index}\\b`));
});
