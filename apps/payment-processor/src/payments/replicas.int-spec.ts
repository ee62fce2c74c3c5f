/** Two processes whose statements need the same rows. */
import { type PayableDescriptor, SessionCreatedV1 } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import {
  acceptWith,
  aKnownPayable,
  DECLINED,
  type Replica,
  startReplica,
} from '../../test/attempts/shared-statements.js';
import { aPayable } from '../../test/builders.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { CHARGEABLE_STATES } from './attempt.js';
import type { OpenAttempt } from './attempt.repository.js';

let processor: Processor;
let replicas: Replica[];
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
    const payables: PayableDescriptor[] = [];
    for (let nth = 1; nth <= 12; nth++)
      payables.push(await aKnownPayable(processor, { expiresAt: LATER, triesMax: 100 }));
    const inBothOrders = <Item, T>(items: readonly Item[], work: (replica: Replica, item: Item) => Promise<T>) =>
      Promise.all([
        ...items.map((item) => work(replicas[0]!, item)),
        ...[...items].reverse().map((item) => work(replicas[1]!, item)),
      ]);
    for (let nth = 1; nth <= 60; nth++) {
      const accepts = await inBothOrders(payables, ({ payments }, payable) =>
        acceptWith(payments, processor, payable, { try: nth }),
      );
      const open = accepts.filter((one): one is OpenAttempt => one !== undefined);
      const reserved = open.map(({ payment }) => payment.payable.payableId).sort();
      expect(reserved).toEqual(payables.map(({ payableId }) => payableId).sort());
      // While outcomes are recorded, other payers pay the same payables.
      const [settled] = await Promise.all([
        inBothOrders(open, ({ payments }, one) => payments.settle(one, DECLINED, CHARGEABLE_STATES)),
        inBothOrders(payables, ({ payments }, payable) => acceptWith(payments, processor, payable, { try: nth })),
      ]);
      expect(settled.filter(Boolean)).toHaveLength(payables.length);
    }
  });

  test('accept payments that overtake the events of their payables, while a consumer inserts these', async () => {
    for (let round = 1; round <= 30; round++) {
      const payables = Array.from({ length: 20 }, () => aPayable({ expiresAt: LATER }));
      const backwards = [...payables].sort((one, other) => (one.payableId < other.payableId ? 1 : -1));
      const [accepts] = await Promise.all([
        Promise.all(payables.map((payable) => acceptWith(replicas[round % 2]!.payments, processor, payable))),
        processor.deliver(...backwards.map((payable) => anEvent(SessionCreatedV1, payable.payableId, 1, { payable }))),
      ]);
      expect(accepts.filter(Boolean)).toHaveLength(payables.length);
    }
  });
});
