import { randomUUID } from 'node:crypto';
import { MAX_TRACED_DELIVERIES, type TracedDelivery, TraceDeliveriesV1 } from '@svc/contracts';
import { notificationIdOf } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { planOf } from '@svc/testing';
import { DispatcherUnderTest } from '../../test/dispatcher.js';
import { Receiver, respondWith } from '../../test/receiver.js';
import { traceDeliveries } from './deliveries.query.js';

let dispatcher: DispatcherUnderTest;
let receiver: Receiver;
beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
  await dispatcher.deliverDefaultSecrets();
  receiver = await Receiver.start();
});
afterAll(async () => {
  await receiver.stop();
  await dispatcher.test.stop();
});

const trace = async (ids: string[]): Promise<TracedDelivery[]> => {
  const { deliveries } = await dispatcher.test.service.app.get(Commands).request(TraceDeliveriesV1, { ids });
  return deliveries;
};

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';

test('the deliveries of any site have their attempts, the beginning of the answers and the trace', async () => {
  receiver.setBehaviours(respondWith(500, {}, 'x'.repeat(300)), respondWith(200));
  const payment = dispatcher.newPayment(receiver.url, { state: 'failed' });
  const id = notificationIdOf(payment);
  await dispatcher.deliverPayments(payment);
  await dispatcher.test.superuser.query(`UPDATE notifications SET traceparent = $2 WHERE id = $1`, [
    id,
    `00-${TRACE_ID}-b7ad6b7169203331-01`,
  ]);
  await dispatcher.runStep();
  expect(await trace([randomUUID(), id])).toEqual([
    expect.objectContaining({
      ...{ id, state: 'pending', attemptCount: 1, traceId: TRACE_ID, nextAttemptUTCDate: expect.any(String) },
      attempts: [expect.objectContaining({ attemptNumber: 1, statusCode: 500, response: 'x'.repeat(200) })],
    }),
  ]);
  dispatcher.clock.advance(10_000);
  await dispatcher.runStep();
  const [delivered] = await trace([id]);
  expect(delivered).toMatchObject({ state: 'delivered', nextAttemptUTCDate: null });
  expect(delivered!.attempts.map(({ statusCode }) => statusCode)).toEqual([200, 500]);
});

test('a delivery without a trace has the trace id null', async () => {
  const payment = dispatcher.newPayment(receiver.url, { state: 'failed' });
  await dispatcher.deliverPayments(payment);
  expect(await trace([notificationIdOf(payment)])).toMatchObject([{ traceId: null, attempts: [] }]);
});

test.each([
  ['more ids than a payment can have', Array.from({ length: MAX_TRACED_DELIVERIES + 1 }, () => randomUUID())],
  ['an id that is no UUID', ['1']],
])('%s are refused', async (_, ids) => {
  await expect(trace(ids)).rejects.toMatchObject({ code: 'request.invalid' });
});

test('the largest request is read by keys', async () => {
  const ids = Array.from({ length: MAX_TRACED_DELIVERIES }, () => randomUUID());
  expect(await trace(ids)).toEqual([]);
  const { dataSource, clock } = dispatcher.test;
  const plan = await planOf(dataSource, () => traceDeliveries(dataSource, clock.now(), ids));
  for (const index of ['notifications_pkey', 'delivery_attempts_pkey', 'circuits_pkey'])
    expect(plan).toMatch(new RegExp(`(?:using|on) ${index}`));
  expect(plan).not.toMatch(/Seq Scan/);
});
