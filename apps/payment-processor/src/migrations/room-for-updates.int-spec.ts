import { updatesOf } from '@svc/testing';
import {
  acceptWith,
  APPROVED,
  createStoredPayable,
  startReplica,
  type TestReplica,
} from '../../test/attempts/shared-statements.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { CHARGEABLE_STATES } from '../payments/attempt.js';

let processor: Processor;
let replica: TestReplica;
beforeAll(async () => {
  processor = await startProcessor();
  replica = await startReplica(processor);
});
afterAll(async () => {
  await replica.stop();
  await processor.stop();
});

test('the statements that reserve and pay a payable update none of its indexes (HOT updates)', async () => {
  const payables = [];
  for (let nth = 0; nth < 60; nth++) payables.push(await createStoredPayable(processor));
  const { payments, dataSource } = replica;
  // The fill factor leaves 40 % of each page free. This is enough for two updates of every third row.
  const everyThirdPayable = payables.filter((_, nth) => nth % 3 === 0);
  const accept = () => Promise.all(everyThirdPayable.map((payable) => acceptWith(payments, processor, payable)));
  let openAttempts: Awaited<ReturnType<typeof accept>> = [];
  expect(await updatesOf(dataSource, 'payables', async () => (openAttempts = await accept()))).toEqual({
    all: 20,
    hot: 20,
  });
  const settle = () =>
    Promise.all(openAttempts.map((attempt) => payments.settle(attempt!, APPROVED, CHARGEABLE_STATES)));
  expect(await updatesOf(dataSource, 'payables', settle)).toEqual({ all: 20, hot: 20 });
});

test('the statement that records a success updates no index of payments, because is_active stays true', async () => {
  const { payments, dataSource } = replica;
  const attempts = [];
  for (let nth = 0; nth < 30; nth++)
    attempts.push(await acceptWith(payments, processor, await createStoredPayable(processor)));
  // The fill factor leaves space for the new versions of more than every third row.
  const everyThirdAttempt = attempts.filter((_, nth) => nth % 3 === 0);
  const settle = () =>
    Promise.all(everyThirdAttempt.map((attempt) => payments.settle(attempt!, APPROVED, CHARGEABLE_STATES)));
  expect(await updatesOf(dataSource, 'payments', settle)).toEqual({ all: 10, hot: 10 });
});
