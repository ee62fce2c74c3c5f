import { randomUUID } from 'node:crypto';
import { type HostedPayableDescriptor, SessionCreatedV1 } from '@svc/contracts';
import { newPaymentReference } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { newDataSource } from '@svc/persistence';
import { anEvent, type HeldLocks, holdLocks } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { attemptEndFor, CHARGEABLE_STATES } from '../../src/payments/attempt.js';
import type { OpenAttempt } from '../../src/payments/attempt.repository.js';
import { acceptedPayment } from '../../src/payments/payment.js';
import { PaymentRepository } from '../../src/payments/payment.repository.js';
import type { PaymentChecks } from '../../src/velocity/velocity-checks.js';
import { buildPayable } from '../builders.js';
import { type Processor, storeOwner } from '../processor.js';
import { buildRoute, createOpenAttempt } from './open-attempt.js';

export const APPROVED = attemptEndFor({ kind: 'approved', acquirerReference: 'a-1' });
export const DECLINED = attemptEndFor({ kind: 'declined', acquirerReference: 'd-1', reason: 'card.declined' });

/** Another simulated process of the service: a repository with its own connection pool. */
export interface TestReplica {
  readonly payments: PaymentRepository;
  readonly events: EventLog;
  readonly dataSource: DataSource;
  stop(): Promise<void>;
}

/** First stores the merchant and the site of {@link buildPayable}, because {@link acceptWith} does not store them. */
export async function startReplica(processor: Processor): Promise<TestReplica> {
  await storeOwner(processor, buildPayable());
  const { url } = processor.dataSource.options as { url: string };
  const dataSource = await newDataSource({ url, applicationName: `replica ${randomUUID()}` }).initialize();
  const events = new EventLog(dataSource, processor.clock);
  const payments = new PaymentRepository(dataSource, events, processor.clock);
  return { payments, events, dataSource, stop: () => dataSource.destroy() };
}

/** Accepts a payment with this repository, as ChargeCard does. */
export function acceptWith(
  payments: PaymentRepository,
  { clock }: Processor,
  payable: HostedPayableDescriptor,
  {
    paymentNumber: nth = 1,
    reference = randomUUID(),
    checks,
  }: { paymentNumber?: number; reference?: string; checks?: PaymentChecks | undefined } = {},
): Promise<OpenAttempt | undefined> {
  const now = clock.now();
  const terms = {
    reference,
    paymentReference: newPaymentReference(now),
    paymentMethodLabel: '**** 4242',
    paymentNumber: nth,
    now,
  };
  return payments.accept(payable, acceptedPayment({ payable, ...terms }), buildRoute(payable), checks);
}

/** Creates a payable that is stored before its first payment. */
export async function createStoredPayable(
  processor: Processor,
  overrides: Partial<HostedPayableDescriptor> = {},
): Promise<HostedPayableDescriptor> {
  const payable = buildPayable(overrides);
  await processor.deliver(anEvent(SessionCreatedV1, payable.payableId, 1, { payable }));
  return payable;
}

/** Locks payables in a separate transaction. Statements that need them wait until the locks are released. */
export function lockPayables(processor: Processor, payables: readonly { payableId: string }[]): Promise<HeldLocks> {
  const ids = payables.map(({ payableId }) => payableId);
  return holdLocks(processor.dataSource, 'SELECT FROM payables WHERE payable_id = ANY ($1) FOR UPDATE', [ids]);
}

/**
 * Blocks the two batches that may run at the same time. Further payments wait until `release`, and are then accepted in
 * the next batch.
 */
export async function holdAccepts(processor: Processor, payments: PaymentRepository): Promise<HeldLocks> {
  const payables = [await createStoredPayable(processor), await createStoredPayable(processor)];
  const lock = await lockPayables(processor, payables);
  return releaseAndCheck(
    lock,
    payables.map((payable) => acceptWith(payments, processor, payable)),
  );
}

/** Blocks the two batches of settlements that may run at the same time, as {@link holdAccepts} does for payments. */
export async function holdSettlements(processor: Processor, payments: PaymentRepository): Promise<HeldLocks> {
  const attempts = [await createOpenAttempt(processor), await createOpenAttempt(processor)];
  const lock = await lockPayables(
    processor,
    attempts.map(({ payment }) => payment.payable),
  );
  return releaseAndCheck(
    lock,
    attempts.map((attempt) => payments.settle(attempt, DECLINED, CHARGEABLE_STATES)),
  );
}

/**
 * `release` releases the lock, waits for the held statements, and checks that each of them has changed something. The
 * end of the scope releases the lock and waits, without a check, because the test may have failed already.
 */
function releaseAndCheck(lock: HeldLocks, heldResults: readonly Promise<unknown>[]): HeldLocks {
  return {
    release: async () => {
      await lock.release();
      if ((await Promise.all(heldResults)).includes(undefined))
        throw new Error('A held statement has changed nothing.');
    },
    [Symbol.asyncDispose]: async () => {
      await lock.release();
      await Promise.allSettled(heldResults);
    },
  };
}

/** The statements that have accepted or settled payments since `spyOnStatements` was called. */
export interface Statements {
  readonly texts: () => string[];
  /** For each statement, the ids of the payables of its items. */
  readonly batches: () => string[][];
}

export function spyOnStatements(dataSource: DataSource): Statements {
  const spy = jest.spyOn(dataSource, 'query');
  const calls = () => spy.mock.calls.filter(([text]) => /^WITH (named|held) AS/.test(text));
  const readPayableIds = (items: unknown) =>
    (JSON.parse(items as string) as { payable_id?: string; lock_order?: string }[]).map(
      ({ payable_id, lock_order }) => (payable_id ?? lock_order)!,
    );
  return {
    texts: () => calls().map(([text]) => text),
    batches: () => calls().map(([, parameters]) => readPayableIds((parameters as unknown[])[0])),
  };
}
