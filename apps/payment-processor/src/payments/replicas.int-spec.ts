/** Tests two processes whose statements lock the same rows. */
import { type HostedPayableDescriptor, SessionCreatedV1 } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import {
  acceptWith,
  createStoredPayable,
  DECLINED,
  startReplica,
  type TestReplica,
} from '../../test/attempts/shared-statements.js';
import { buildPayable } from '../../test/builders.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { CHARGEABLE_STATES } from './attempt.js';
import type { OpenAttempt } from './attempt.repository.js';

let processor: Processor;
let replicas: TestReplica[];
beforeAll(async () => {
  processor = await startProcessor();
  replicas = [await startReplica(processor), await startReplica(processor)];
});
afterAll(async () => {
  for (const replica of replicas) await replica.stop();
  await processor.stop();
});

const LATER = '2999-01-01T00:00:00.000Z';

describe('two replicas', () => {
  test('accept and settle the same payments in opposite orders without a deadlock', async () => {
    const payables: HostedPayableDescriptor[] = [];
    for (let nth = 1; nth <= 12; nth++)
      payables.push(await createStoredPayable(processor, { expiresAt: LATER, maxPayments: 100 }));
    const runInBothOrders = <Item, T>(items: readonly Item[], run: (replica: TestReplica, item: Item) => Promise<T>) =>
      Promise.all([
        ...items.map((item) => run(replicas[0]!, item)),
        ...[...items].reverse().map((item) => run(replicas[1]!, item)),
      ]);
    for (let nth = 1; nth <= 60; nth++) {
      const accepts = await runInBothOrders(payables, ({ payments }, payable) =>
        acceptWith(payments, processor, payable, { paymentNumber: nth }),
      );
      const openAttempts = accepts.filter((attempt): attempt is OpenAttempt => attempt !== undefined);
      const reserved = openAttempts.map(({ payment }) => payment.payable.payableId).sort();
      expect(reserved).toEqual(payables.map(({ payableId }) => payableId).sort());
      // While outcomes are recorded, other payers pay the same payables.
      const [settled] = await Promise.all([
        runInBothOrders(openAttempts, ({ payments }, attempt) => payments.settle(attempt, DECLINED, CHARGEABLE_STATES)),
        runInBothOrders(payables, ({ payments }, payable) =>
          acceptWith(payments, processor, payable, { paymentNumber: nth }),
        ),
      ]);
      expect(settled.filter(Boolean)).toHaveLength(payables.length);
    }
  });

  test('accept payments that overtake the events of their payables, while a consumer inserts the same payables', async () => {
    for (let round = 1; round <= 30; round++) {
      const payables = Array.from({ length: 20 }, () => buildPayable({ expiresAt: LATER }));
      const payablesInReverseOrder = [...payables].sort((a, b) => (a.payableId < b.payableId ? 1 : -1));
      const [accepts] = await Promise.all([
        Promise.all(payables.map((payable) => acceptWith(replicas[round % 2]!.payments, processor, payable))),
        processor.deliver(
          ...payablesInReverseOrder.map((payable) => anEvent(SessionCreatedV1, payable.payableId, 1, { payable })),
        ),
      ]);
      expect(accepts.filter(Boolean)).toHaveLength(payables.length);
    }
  });
});
