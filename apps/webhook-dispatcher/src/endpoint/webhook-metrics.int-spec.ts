import { GaugeReader } from '@svc/testing';
import { DispatcherUnderTest } from '../../test/dispatcher.js';
import { Receiver, respondWith } from '../../test/receiver.js';

let gauges: GaugeReader;
let dispatcher: DispatcherUnderTest;
let receiver: Receiver;
beforeAll(async () => {
  gauges = GaugeReader.begin();
  dispatcher = await DispatcherUnderTest.start();
  await dispatcher.deliverDefaultSecrets();
  receiver = await Receiver.start();
});
afterAll(async () => {
  await receiver.stop();
  await dispatcher.test.stop();
  gauges.end();
});

test('attempts are counted by outcome and class of the response, and the delay of the first one is measured', async () => {
  receiver.setBehaviours(respondWith(503), respondWith(200));
  const payment = dispatcher.newPayment(receiver.url, { state: 'success' });
  await dispatcher.deliverPayments(payment);
  dispatcher.clock.advance(2_000);
  await dispatcher.runStep();
  dispatcher.clock.advance(3_600_000);
  await dispatcher.runStep();

  const recipient = 'session';
  const attempts = await gauges.read('svc.webhook.attempts');
  expect(attempts).toEqual([
    { value: 1, attributes: { recipient, outcome: 'retry', response: '5xx' } },
    { value: 1, attributes: { recipient, outcome: 'acknowledged', response: '2xx' } },
  ]);
  expect(await gauges.read('svc.webhook.first.delay')).toMatchObject([
    { value: { count: 1, sum: 2 }, attributes: { recipient } },
  ]);
  expect(await gauges.read('svc.webhook.delivery.delay')).toMatchObject([
    { value: { count: 1, sum: 3_602 }, attributes: { recipient } },
  ]);
});

test('circuits are counted by state, and a healthy endpoint has none', async () => {
  const read = async (): Promise<unknown> =>
    Object.fromEntries(
      (await gauges.read('svc.webhook.circuits')).map(({ value, attributes }) => [attributes['state'], value]),
    );
  expect(await read()).toEqual({ open: 0, halfOpen: 0 });
  const { superuser } = dispatcher.test;
  const insert = (endpoint: string, openUntil: Date | null, lease: string | null) =>
    superuser.query(
      `INSERT INTO circuits (merchant_id, endpoint, failures, openings, open_until, probe_lease_id)
       VALUES (7, $1, 5, CASE WHEN $2::timestamptz IS NULL THEN 0 ELSE 1 END, $2, $3)`,
      [endpoint, openUntil, lease],
    );
  await insert('open.example:443', dispatcher.clock.later(10_000), null);
  await insert('due.example:443', dispatcher.clock.later(-1), null);
  await insert('probe.example:443', dispatcher.clock.later(10_000), '0190a1b2-0000-7000-8000-000000000001');
  await insert('failing.example:443', null, null);
  expect(await read()).toEqual({ open: 1, halfOpen: 2 });
});
