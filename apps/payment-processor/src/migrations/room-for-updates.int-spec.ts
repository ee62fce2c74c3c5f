import { updatesOf } from '@svc/testing';
import {
  acceptWith,
  aKnownPayable,
  APPROVED,
  type Replica,
  startReplica,
} from '../../test/attempts/shared-statements.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { CHARGEABLE_STATES } from '../payments/attempt.js';

let processor: Processor;
let replica: Replica;
beforeAll(async () => {
  processor = await startProcessor();
  replica = await startReplica(processor);
});
afterAll(async () => {
  await replica.stop();
  await processor.stop();
});

test('reserving and paying a payable updates none of its indexes', async () => {
  const payables = [];
  for (let nth = 0; nth < 60; nth++) payables.push(await aKnownPayable(processor));
  const { payments, dataSource } = replica;
  const chosen = payables.filter((_, nth) => nth % 3 === 0);
  const accept = () => Promise.all(chosen.map((payable) => acceptWith(payments, processor, payable)));
  let open: Awaited<ReturnType<typeof accept>> = [];
  expect(await updatesOf(dataSource, 'payables', async () => (open = await accept()))).toEqual({ all: 20, hot: 20 });
  const settle = () => Promise.all(open.map((one) => payments.settle(one!, APPROVED, CHARGEABLE_STATES)));
  expect(await updatesOf(dataSource, 'payables', settle)).toEqual({ all: 20, hot: 20 });
});
