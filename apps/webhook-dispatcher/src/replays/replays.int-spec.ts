import { randomUUID } from 'node:crypto';
import type { HostedPaymentSnapshot } from '@svc/contracts';
import { notificationIdOf } from '@svc/kernel';
import { DispatcherUnderTest } from '../../test/dispatcher.js';
import { Receiver, respondWith } from '../../test/receiver.js';

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;

let dispatcher: DispatcherUnderTest;
let receiver: Receiver;

beforeEach(async () => {
  dispatcher = await DispatcherUnderTest.start();
  await dispatcher.deliverDefaultSecrets();
  await dispatcher.deliverDefaultSecrets(8);
  receiver = await Receiver.start();
});
afterEach(async () => {
  await receiver.stop();
  await dispatcher.test.stop();
});

// A Success is the notification of a successful payment, a Failed is the notification of a failed payment.
const receiverEndpoint = (): string => `127.0.0.1:${receiver.port}`;
const receivedIds = (): string[] => receiver.received.map(({ headers }) => String(headers['webhook-id']));

async function sendAll(): Promise<void> {
  while ((await dispatcher.runStep()) > 0);
}

async function deliverNewPayments(
  count: number,
  overrides: Partial<HostedPaymentSnapshot> = {},
): Promise<HostedPaymentSnapshot[]> {
  const payments = Array.from({ length: count }, () => ({ ...dispatcher.newPayment(receiver.url), ...overrides }));
  await dispatcher.deliverPayments(...payments);
  return payments;
}

/** Sets the state of the notifications of these payments. */
const setState = (state: 'exhausted' | 'gone', payments: HostedPaymentSnapshot[]): Promise<unknown> =>
  dispatcher.test.dataSource.query(
    `UPDATE notifications SET state = $1, next_attempt_at = NULL WHERE payment_reference = ANY($2)`,
    [state, payments.map(({ paymentReference }) => paymentReference)],
  );

const openCircuit = (ms: number): Promise<unknown> =>
  dispatcher.test.dataSource.query(
    `INSERT INTO circuits (merchant_id, endpoint, failures, openings, open_until) VALUES (7, $1, 20, 2, $2)`,
    [receiverEndpoint(), dispatcher.clock.later(ms)],
  );

describe('a replay', () => {
  it('sends a notification again with the same id and a new schedule', async () => {
    receiver.setBehaviours(respondWith(500));
    const payment = dispatcher.newPayment(receiver.url);
    await dispatcher.deliverPayments(payment);
    for (let i = 0; i < 12; i++) {
      await dispatcher.runStep();
      // Longer than the longest wait of the schedule, which is 24 hours with a jitter of 20 %.
      dispatcher.clock.advance(29 * HOUR);
    }
    const { id, state } = await dispatcher.getNotificationRow(payment);
    expect(state).toBe('exhausted');

    expect(await dispatcher.requestAdmin('POST', `/${id}/replay`)).toEqual({ status: 202, body: { status: 'due' } });
    await dispatcher.runStep();
    expect(await dispatcher.getNotificationRow(payment)).toMatchObject({
      state: 'pending',
      attempt_count: 13,
      schedule_position: 1,
    });
    receiver.setBehaviours(respondWith(200));
    // The replay was a failed probe, so the circuit is open for at most five minutes.
    dispatcher.clock.advance(6 * MINUTE);
    await dispatcher.runStep();
    expect(await dispatcher.getNotificationRow(payment)).toMatchObject({ state: 'delivered', attempt_count: 14 });
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([id]));

    expect((await dispatcher.requestAdmin('POST', `/${id}/replay`)).status).toBe(202);
    await dispatcher.runStep();
    expect(receiver.received).toHaveLength(15);
    expect(await dispatcher.getNotificationRow(payment)).toMatchObject({ state: 'delivered', attempt_count: 15 });
  });

  it('makes waiting notifications due when the endpoint responds after an outage', async () => {
    const [replayed, waiting] = await deliverNewPayments(2);
    await setState('exhausted', [replayed!]);
    await dispatcher.test.superuser.query(`UPDATE notifications SET next_attempt_at = $1 WHERE state = 'pending'`, [
      dispatcher.clock.later(6 * HOUR),
    ]);
    await openCircuit(MINUTE);
    const { id } = await dispatcher.getNotificationRow(replayed!);
    await dispatcher.requestAdmin('POST', `/${id}/replay`);
    expect([await dispatcher.runStep(), await dispatcher.runStep()]).toEqual([1, 1]);
    expect((await dispatcher.getNotificationRow(waiting!)).state).toBe('delivered');
  });

  it('opens the circuit again if it fails, because it is a probe', async () => {
    receiver.setBehaviours(respondWith(500));
    const [replayed] = await deliverNewPayments(1);
    await openCircuit(MINUTE);
    const { id } = await dispatcher.getNotificationRow(replayed!);
    await dispatcher.requestAdmin('POST', `/${id}/replay`);
    expect(await dispatcher.runStep()).toBe(1);
    expect(await dispatcher.test.dataSource.query(`SELECT openings FROM circuits`)).toEqual([{ openings: 3 }]);
  });

  it('is rejected for a Failed notification after its session was paid', async () => {
    const sessionId = randomUUID();
    const delivered = dispatcher.newPayment(receiver.url, { sessionId, state: 'failed' });
    await dispatcher.deliverPayments(delivered);
    await dispatcher.runStep();
    const superseded = dispatcher.newPayment(receiver.url, { sessionId, state: 'failed' });
    await dispatcher.deliverPayments(superseded);
    await dispatcher.deliverPayments(dispatcher.newPayment(receiver.url, { sessionId }));
    for (const payment of [delivered, superseded]) {
      const { id } = await dispatcher.getNotificationRow(payment);
      expect((await dispatcher.requestAdmin('POST', `/${id}/replay`)).status).toBe(409);
    }
    await dispatcher.runStep();
    expect(receiver.paymentStatuses).toEqual(['Failed', 'Success']);
  });

  it('is rejected while the notification is in flight', async () => {
    let release: () => void = () => undefined;
    receiver.setBehaviours((response) => {
      release = () => response.writeHead(200).end();
    });
    const payment = dispatcher.newPayment(receiver.url);
    await dispatcher.deliverPayments(payment);
    const arrived = receiver.nextRequest();
    const sending = dispatcher.runStep();
    await arrived;
    const { id } = await dispatcher.getNotificationRow(payment);
    expect((await dispatcher.requestAdmin('POST', `/${id}/replay`)).status).toBe(409);
    release();
    await sending;
    expect((await dispatcher.getNotificationRow(payment)).state).toBe('delivered');
    expect(receiver.received).toHaveLength(1);
  });
});

describe('a replay of many notifications', () => {
  it('sends all notifications of one endpoint since a time, both delivered and undelivered', async () => {
    const earlier = await deliverNewPayments(2);
    await sendAll();
    dispatcher.clock.advance(HOUR);
    const since = dispatcher.clock.nowISO();
    const delivered = await deliverNewPayments(3);
    await sendAll();
    const gone = await deliverNewPayments(2);
    await setState('gone', gone);
    await deliverNewPayments(2, { merchantId: 8 });
    await sendAll();
    const toOtherEndpoint = dispatcher.newPayment(receiver.url.replace('127.0.0.1', 'localhost'));
    await dispatcher.deliverPayments(toOtherEndpoint);
    await setState('gone', [toOtherEndpoint]);
    const before = receivedIds().length;

    const { status, body } = await dispatcher.requestReplays({ merchantId: 7, endpoint: receiverEndpoint(), since });
    expect({ status, body }).toEqual({ status: 202, body: { replayed: 5, skipped: 0, after: null } });
    await sendAll();
    const rows = await Promise.all([...delivered, ...gone].map((payment) => dispatcher.getNotificationRow(payment)));
    expect(receivedIds().slice(before).toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['delivered']));
    expect(await dispatcher.getNotificationRow(earlier[0]!)).toMatchObject({ attempt_count: 1 });
    expect((await dispatcher.getNotificationRow(toOtherEndpoint)).state).toBe('gone');
  });

  it('sends all exhausted notifications of all merchants or of one merchant', async () => {
    const exhausted = [await deliverNewPayments(2), await deliverNewPayments(3, { merchantId: 8 })].flat();
    const gone = await deliverNewPayments(1);
    await setState('exhausted', exhausted);
    await setState('gone', gone);
    expect((await dispatcher.requestReplays({ state: 'exhausted', merchantId: 8 })).body).toMatchObject({
      replayed: 3,
    });
    expect((await dispatcher.requestReplays({ state: 'exhausted' })).body).toMatchObject({ replayed: 2 });
    await sendAll();
    expect(receiver.received).toHaveLength(5);
    expect((await dispatcher.getNotificationRow(gone[0]!)).state).toBe('gone');
  });

  it('sends one notification as a probe, and the others after the response to the probe', async () => {
    receiver.setBehaviours(respondWith(500));
    await deliverNewPayments(6);
    await dispatcher.runStep();
    receiver.setBehaviours(respondWith(200));
    expect(await dispatcher.runStep()).toBe(0);
    await dispatcher.requestReplays({ merchantId: 7, since: '2026-03-01T00:00Z' });
    expect([await dispatcher.runStep(), await dispatcher.runStep()]).toEqual([1, 5]);
  });

  it('opens the circuit again and sends no other notification if its probe fails', async () => {
    receiver.setBehaviours(respondWith(500));
    await deliverNewPayments(6);
    await openCircuit(MINUTE);
    await dispatcher.requestReplays({ merchantId: 7, since: '2026-03-01T00:00Z' });
    expect([await dispatcher.runStep(), await dispatcher.runStep()]).toEqual([1, 0]);
    expect(await dispatcher.test.dataSource.query(`SELECT openings FROM circuits`)).toEqual([{ openings: 3 }]);
  });

  it('skips notifications that are being sent, and Failed notifications whose session was paid', async () => {
    const sessionId = randomUUID();
    const failed = dispatcher.newPayment(receiver.url, { sessionId, state: 'failed' });
    await dispatcher.deliverPayments(failed);
    await sendAll();
    await dispatcher.deliverPayments(dispatcher.newPayment(receiver.url, { sessionId }));
    await sendAll();
    let release: () => void = () => undefined;
    receiver.setBehaviours((response) => (release = () => response.writeHead(200).end()), respondWith(200));
    await deliverNewPayments(1);
    const arrived = receiver.nextRequest();
    const sending = dispatcher.runStep();
    await arrived;
    const { body } = await dispatcher.requestReplays({ merchantId: 7, since: '2026-01-01T00:00:00Z' });
    expect(body).toMatchObject({ replayed: 1, skipped: 2 });
    release();
    await sending;
    await sendAll();
    expect(receiver.paymentStatuses).toEqual(['Failed', 'Success', 'Success', 'Success']);
  });

  it('is requested in pages of 1000 notifications, and each notification is in exactly one page', async () => {
    const payments = await deliverNewPayments(2_300);
    await setState('exhausted', payments);
    const pages: number[] = [];
    let after: unknown;
    do {
      const { body } = await dispatcher.requestReplays({ state: 'exhausted', ...(after ? { after } : {}) });
      pages.push(body['replayed'] as number);
      ({ after } = body);
    } while (after !== null);
    expect(pages).toEqual([1_000, 1_000, 300]);
  });

  it.each([
    [{}, 'state'],
    [{ merchantId: 7 }, 'state'],
    [{ since: '2026-03-01T00:00:00Z' }, 'state'],
    [{ endpoint: 'shop.example:443', state: 'exhausted' }, 'merchantId'],
    [{ state: 'pending' }, 'state'],
    [{ merchantId: '7', since: '2026-03-01T00:00:00Z' }, 'merchantId'],
    [{ merchantId: 7, since: 'yesterday' }, 'since'],
    [{ merchantId: 7, since: '2026-13-41T00:00:00Z' }, 'since'],
    [{ merchantId: 7, endpoint: 'https://shop.example/', since: '2026-03-01T00:00:00Z' }, 'endpoint'],
    [{ state: 'exhausted', after: '1' }, 'after'],
  ])('is rejected if its body is %j, and the error names %s', async (request, field) => {
    const { status, body } = await dispatcher.requestReplays(request);
    expect(status).toBe(400);
    expect(body['errors']).toMatchObject([{ field }]);
  });
});

test('a receiver that was down for an hour acknowledges each notification once after it recovers', async () => {
  receiver.setBehaviours(respondWith(503));
  const payments: HostedPaymentSnapshot[] = [];
  // An hour of simulated time: two payments a minute, and a worker that polls every ten seconds.
  for (let elapsed = 0; elapsed < HOUR; elapsed += 10 * SECOND) {
    if (elapsed % (30 * SECOND) === 0) payments.push(...(await deliverNewPayments(1)));
    await dispatcher.runStep();
    dispatcher.clock.advance(10 * SECOND);
  }
  const attemptsDuringOutage = receiver.received.length;
  const acknowledged: string[] = [];
  receiver.setBehaviours((response, { headers }) => {
    acknowledged.push(String(headers['webhook-id']));
    response.writeHead(200).end();
  });
  for (let elapsed = 0; elapsed < 2 * HOUR; elapsed += MINUTE) {
    await sendAll();
    dispatcher.clock.advance(MINUTE);
  }
  const rows = await Promise.all(payments.map((payment) => dispatcher.getNotificationRow(payment)));
  expect(rows).toHaveLength(120);
  expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['delivered']));
  expect(acknowledged).toHaveLength(120);
  expect(acknowledged.toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
  // The feed of hosted-gateway shows the same ids.
  expect(rows.map(({ id }) => id)).toEqual(payments.map(notificationIdOf));
  // The open circuit prevented most of the failing attempts.
  expect(attemptsDuringOutage).toBeLessThan(120);
});
