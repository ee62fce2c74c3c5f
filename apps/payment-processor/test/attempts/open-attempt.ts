import { randomUUID } from 'node:crypto';
import type { HostedPayableDescriptor } from '@svc/contracts';
import { newPaymentReference } from '@svc/kernel';
import type { ChargeRoute } from '../../src/acquirers/acquirers.js';
import type { OpenAttempt } from '../../src/payments/attempt.repository.js';
import { acceptedPayment } from '../../src/payments/payment.js';
import { PaymentRepository } from '../../src/payments/payment.repository.js';
import { buildPayable } from '../builders.js';
import { type Processor, storeOwner } from '../processor.js';

/** The acquirer and account for payments of this payable. */
export function buildRoute({ mode, merchantId }: HostedPayableDescriptor): ChargeRoute {
  return { acquirer: 'simulated', account: { mode, accountReference: `merchant-${merchantId}` } };
}

/** Accepts a payment as ChargeCard does, without calling the acquirer. First stores the payable's merchant and site. */
export async function acceptPayment(
  processor: Processor,
  payable: HostedPayableDescriptor = buildPayable(),
  nth = 1,
  reference: string = randomUUID(),
): Promise<OpenAttempt | undefined> {
  await storeOwner(processor, payable);
  const now = processor.clock.now();
  const payment = acceptedPayment({
    payable,
    reference,
    paymentReference: newPaymentReference(now),
    paymentMethodLabel: '**** 4242',
    paymentNumber: nth,
    now,
  });
  return processor.service.app.get(PaymentRepository).accept(payable, payment, buildRoute(payable));
}

export async function createOpenAttempt(processor: Processor, payable?: HostedPayableDescriptor): Promise<OpenAttempt> {
  const attempt = await acceptPayment(processor, payable);
  if (!attempt) throw new Error('The payable could not be reserved.');
  return attempt;
}

/**
 * Changes one row in a way that the service never does. Tests use this to make exactly one condition of a statement
 * false.
 */
export async function changeRow(processor: Processor, statement: string, id: string): Promise<void> {
  const [, count] = await processor.dataSource.query<[unknown[], number]>(statement, [id]);
  if (count !== 1) throw new Error(`${count} rows instead of one row were changed: ${statement}`);
}

/** Reads the states and counts of all rows of a payment, to check that a statement changes nothing. */
export async function readPaymentRows(processor: Processor, paymentId: string): Promise<Record<string, unknown>> {
  const [row] = await processor.dataSource.query<Record<string, unknown>[]>(
    `SELECT p.state AS payment, p.version AS "paymentVersion", y.state AS payable, y.version AS "payableVersion", y.payment_count, y.holder,
            (SELECT jsonb_agg(a.state ORDER BY a.attempt_id) FROM attempts a WHERE a.payment_id = p.payment_id) AS attempts,
            (SELECT count(*) FROM transfers t WHERE t.payment_id = p.payment_id) AS transfers,
            (SELECT count(*) FROM event_log e WHERE e.aggregate_id = p.payment_id::text) AS events,
            (SELECT v.open FROM verifications v WHERE v.payment_id = p.payment_id) AS "verificationOpen"
       FROM payments p JOIN payables y USING (payable_id) WHERE p.payment_id = $1`,
    [paymentId],
  );
  if (!row) throw new Error('The payment does not exist.');
  return row;
}
