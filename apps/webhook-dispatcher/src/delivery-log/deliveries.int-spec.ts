import { randomUUID } from 'node:crypto';
import {
  type CommandType,
  type DeliveryOwner,
  type DeliveryPage,
  type DeliveryState,
  GetDeliveryV1,
  ListDeliveriesV1,
  ResendDeliveryV1,
  WebhookDispatcherAdministeredV1,
} from '@svc/contracts';
import { Commands } from '@svc/messaging';
import { holdLocks, planOf } from '@svc/testing';
import { DispatcherUnderTest } from '../../test/dispatcher.js';
import { TEST_SITE } from '../../test/payment.js';
import { Receiver, respondWith } from '../../test/receiver.js';
import { DeliveriesConsumer, MIN_RESEND_INTERVAL_MS } from './deliveries.consumer.js';
import { listDeliveries } from './deliveries.query.js';
import { MAX_READS, MAX_WAITING_READS } from './read-limit.js';

let dispatcher: DispatcherUnderTest;
let receiver: Receiver;
beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
  await dispatcher.deliverDefaultSecrets();
});
afterAll(() => dispatcher.test.stop());
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(async () => {
  await receiver.stop();
  await dispatcher.test.superuser.query(`TRUNCATE notifications, delivery_attempts, circuits`);
});

const OWNER: DeliveryOwner = TEST_SITE;
const OTHER_OWNERS: readonly [string, DeliveryOwner][] = [
  ['the same site in live mode', { ...OWNER, mode: 'live' }],
  ['another site', { ...OWNER, siteId: 72 }],
  ['another merchant', { ...OWNER, merchantId: 8 }],
];

const sendCommand = <Request, Reply>(type: CommandType<Request, Reply>, request: Request): Promise<Reply> =>
  dispatcher.test.service.app.get(Commands).request(type, request);
const requestDeliveries = (
  filter: { state?: DeliveryState; after?: string } = {},
  owner = OWNER,
): Promise<DeliveryPage> => sendCommand(ListDeliveriesV1, { owner, ...filter });
const resend = (id: string, owner = OWNER): Promise<unknown> => sendCommand(ResendDeliveryV1, { owner, id });

/** Creates a pending notification with one attempt, which the endpoint rejected. Returns its id. */
async function deliverRejectedNotification(text = 'out of order'): Promise<string> {
  receiver.setBehaviours(respondWith(500, {}, text));
  const payment = dispatcher.newPayment(receiver.url, { state: 'failed' });
  await dispatcher.deliverPayments(payment);
  await dispatcher.runStep();
  return (await dispatcher.getNotificationRow(payment)).id;
}
const updateNotification = (id: string, columns: string, ...values: unknown[]): Promise<unknown> =>
  dispatcher.test.dataSource.query(`UPDATE notifications SET ${columns} WHERE id = $1`, [id, ...values]);

it('a delivery contains the response of the endpoint and the time of the next attempt', async () => {
  const id = await deliverRejectedNotification('x'.repeat(300));
  const { deliveries, hasMore, after } = await requestDeliveries();
  expect([deliveries.length, hasMore, after]).toEqual([1, false, undefined]);
  const startedUTCDate = dispatcher.clock.nowISO();
  const { nextAttemptUTCDate, lastAttempt } = deliveries[0]!;
  expect(deliveries[0]).toMatchObject({
    id,
    webhookId: id,
    recipient: 'session',
    type: 'payment',
    paymentStatus: 'Failed',
    url: receiver.url,
    state: 'pending',
    attemptCount: 1,
    createdUTCDate: startedUTCDate,
    deliveredUTCDate: null,
    missingKeys: null,
  });
  expect(lastAttempt).toEqual({
    ...{ attemptNumber: 1, startedUTCDate, durationMs: expect.any(Number) as number },
    ...{ outcome: 'refused', statusCode: 500, errorClass: null, hint: null, response: 'x'.repeat(200) },
  });
  const waitMs = Date.parse(nextAttemptUTCDate!) - Date.parse(startedUTCDate);
  expect(waitMs).toBeGreaterThanOrEqual(4_000);
  expect(waitMs).toBeLessThanOrEqual(6_000);

  receiver.setBehaviours(respondWith(200, {}, 'ok'));
  dispatcher.clock.advance(6_000);
  await dispatcher.runStep();
  const delivery = await sendCommand(GetDeliveryV1, { owner: OWNER, id });
  expect(delivery).toMatchObject({
    state: 'delivered',
    attemptCount: 2,
    nextAttemptUTCDate: null,
    deliveredUTCDate: dispatcher.clock.nowISO(),
  });
  expect(delivery.attempts).toMatchObject([
    { attemptNumber: 2, statusCode: 200, response: 'ok' },
    { attemptNumber: 1, statusCode: 500, response: 'x'.repeat(300) },
  ]);
});

it.each<[behaviour: string, Parameters<typeof respondWith>, state: string, outcome: string, hint: string]>([
  [
    'an HTML page',
    [200, { 'content-type': 'text/html' }, '<!DOCTYPE html><title>Shop</title>'],
    'delivered',
    'acknowledged',
    'The endpoint responded with an HTML page. The notification counts as delivered, but a page of the shop, a login or a maintenance page may have received it. Check the address.',
  ],
  [
    'a redirect',
    [301, { location: 'https://www.shop.example/hooks?shop=1' }, '<html>moved'],
    'pending',
    'refused',
    'Redirects are not followed. Change the address to: https://www.shop.example/hooks?shop=1',
  ],
])(
  'a delivery to an endpoint that responds with %s has a hint, in the log and in the lists',
  async (_, behaviour, state, outcome, hint) => {
    receiver.setBehaviours(respondWith(...behaviour));
    const payment = dispatcher.newPayment(receiver.url);
    await dispatcher.deliverPayments(payment);
    const startedUTCDate = dispatcher.clock.nowISO();
    await dispatcher.runStep();
    const { id } = await dispatcher.getNotificationRow(payment);
    const attempt = {
      ...{ attemptNumber: 1, startedUTCDate, durationMs: expect.any(Number) as number },
      ...{ outcome, statusCode: behaviour[0], errorClass: null, hint, response: behaviour[2] },
    };
    const { deliveries } = await requestDeliveries();
    expect(deliveries).toMatchObject([{ id, state, attemptCount: 1 }]);
    expect(deliveries[0]!.lastAttempt).toEqual(attempt);
    const delivery = await sendCommand(GetDeliveryV1, { owner: OWNER, id });
    expect([delivery.state, delivery.lastAttempt, delivery.attempts]).toEqual([state, attempt, [attempt]]);

    const listed = await dispatcher.requestAdmin('GET', '');
    expect(listed.body).toMatchObject({ notifications: [{ id, state, lastAttempt: { hint } }] });
    const details = await dispatcher.requestAdmin('GET', `/${id}`);
    expect(details.body).toMatchObject({ id, state, attempts: [{ hint }] });
  },
);

it('a delivery shows when its circuit allows the next attempt, and shows no time while the notification is sent', async () => {
  const id = await deliverRejectedNotification();
  const openUntil = dispatcher.clock.later(60_000);
  await dispatcher.test.dataSource.query(
    `INSERT INTO circuits (merchant_id, endpoint, failures, openings, open_until)
     SELECT merchant_id, endpoint, 5, 1, $2 FROM notifications WHERE id = $1
     ON CONFLICT (merchant_id, endpoint) DO UPDATE SET failures = 5, openings = 1, open_until = $2`,
    [id, openUntil],
  );
  const readNextAttempt = async (): Promise<string | null> =>
    (await requestDeliveries()).deliveries[0]!.nextAttemptUTCDate;
  // Another merchant has its own circuit for this endpoint. Another endpoint of this merchant also has its own circuit.
  await dispatcher.test.dataSource.query(
    `INSERT INTO circuits (merchant_id, endpoint, failures, openings, open_until)
     SELECT merchant_id + 1, endpoint, 5, 1, $2::timestamptz FROM notifications WHERE id = $1
     UNION ALL SELECT merchant_id, 'other.example:443', 5, 1, $2 FROM notifications WHERE id = $1`,
    [id, dispatcher.clock.later(120_000)],
  );
  expect((await requestDeliveries()).deliveries).toHaveLength(1);
  expect(await readNextAttempt()).toBe(openUntil.toISOString());
  await updateNotification(id, `lease_id = gen_random_uuid(), leased_until = $2`, dispatcher.clock.later(1));
  expect(await readNextAttempt()).toBeNull();
  dispatcher.clock.advance(1);
  expect(await readNextAttempt()).toBe(openUntil.toISOString());
  await updateNotification(id, `state = 'exhausted', next_attempt_at = NULL, lease_id = NULL, leased_until = NULL`);
  expect(await readNextAttempt()).toBeNull();
});

it('a delivery does not reveal whether a host exists in our network', async () => {
  const id = await deliverRejectedNotification();
  const readErrorClasses = async (): Promise<unknown[]> => [
    (await requestDeliveries()).deliveries[0]!.lastAttempt?.errorClass,
    (await sendCommand(GetDeliveryV1, { owner: OWNER, id })).attempts[0]?.errorClass,
  ];
  for (const recordedClass of ['address-refused:private', 'name-not-found']) {
    await dispatcher.test.superuser.query(
      `UPDATE delivery_attempts SET outcome = 'unanswered', status_code = NULL, response = NULL, error_class = $1`,
      [recordedClass],
    );
    expect(await readErrorClasses()).toEqual(['address-unavailable', 'address-unavailable']);
    expect((await dispatcher.requestAdmin('GET', `/${id}`)).body).toMatchObject({
      attempts: [{ errorClass: recordedClass }],
    });
  }
});

it.each(OTHER_OWNERS)('a delivery is not found for %s', async (_, otherOwner) => {
  const id = await deliverRejectedNotification();
  expect((await requestDeliveries({}, otherOwner)).deliveries).toEqual([]);
  await expect(sendCommand(GetDeliveryV1, { owner: otherOwner, id })).rejects.toMatchObject({
    code: 'resource.not-found',
  });
  await expect(resend(id, otherOwner)).rejects.toMatchObject({ code: 'resource.not-found' });
  expect((await requestDeliveries()).deliveries[0]).toMatchObject({ state: 'pending', attemptCount: 1 });
});

it('a delivery with an invalid or unknown id is not found', async () => {
  for (const id of ['1', '', randomUUID()]) {
    await expect(sendCommand(GetDeliveryV1, { owner: OWNER, id })).rejects.toMatchObject({
      code: 'resource.not-found',
    });
    await expect(resend(id)).rejects.toMatchObject({ code: 'resource.not-found' });
  }
});

it('deliveries are listed in pages of 50, newest first, and can be filtered by state', async () => {
  const payments = Array.from({ length: 51 }, () => dispatcher.newPayment(receiver.url));
  await dispatcher.deliverPayments(...payments);
  const first = await requestDeliveries();
  expect([first.deliveries.length, first.hasMore]).toEqual([50, true]);
  const ids = first.deliveries.map(({ id }) => id);
  expect(ids).toEqual(ids.toSorted().toReversed());
  const second = await requestDeliveries({ after: first.after! });
  expect([second.deliveries.length, second.hasMore, second.after]).toEqual([1, false, undefined]);
  expect(ids).not.toContain(second.deliveries[0]!.id);
  await updateNotification(ids[3]!, `state = 'exhausted', next_attempt_at = NULL`);
  expect((await requestDeliveries({ state: 'exhausted' })).deliveries.map(({ id }) => id)).toEqual([ids[3]]);
  expect((await requestDeliveries({ state: 'gone' })).deliveries).toEqual([]);
});

it.each([
  [{ state: 'none' as DeliveryState }, 'state'],
  [{ state: "x' OR true --" as DeliveryState }, 'state'],
  [{ state: ['gone'] as unknown as DeliveryState }, 'state'],
  [{ after: 'x' }, 'after'],
])('a list request with the query %j is rejected', async (query, field) => {
  await expect(requestDeliveries(query)).rejects.toMatchObject({ code: 'request.invalid', fields: [{ field }] });
});

test('a list request with an unknown state is rejected without the JSON Schema too, because the state becomes SQL', () => {
  const consumer = dispatcher.test.service.app.get(DeliveriesConsumer);
  const state = `x' OR 'x' = 'x` as DeliveryState;
  expect(() => consumer.list({ owner: OWNER, state })).toThrow(
    expect.objectContaining({ code: 'request.invalid', fields: [expect.objectContaining({ field: 'state' })] }),
  );
});

describe('a resend', () => {
  it('sends the notification again with the same webhook-id, and is possible again after ten seconds', async () => {
    const id = await deliverRejectedNotification();
    await resend(id);
    receiver.setBehaviours(respondWith(200));
    await dispatcher.runStep();
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([id, id]);
    expect(await sendCommand(GetDeliveryV1, { owner: OWNER, id })).toMatchObject({
      state: 'delivered',
      attemptCount: 2,
    });

    dispatcher.clock.advance(MIN_RESEND_INTERVAL_MS - 1_500);
    await expect(resend(id)).rejects.toMatchObject({ code: 'request.rate-limited', retryAfterSeconds: 2 });
    dispatcher.clock.advance(1_499);
    await expect(resend(id)).rejects.toMatchObject({ code: 'request.rate-limited', retryAfterSeconds: 1 });
    dispatcher.clock.advance(1);
    await resend(id);
    expect((await requestDeliveries()).deliveries[0]).toMatchObject({ state: 'pending' });
  });

  it('is rejected while the notification is being sent, and after its session was paid', async () => {
    const id = await deliverRejectedNotification();
    await updateNotification(id, `lease_id = gen_random_uuid(), leased_until = $2`, dispatcher.clock.later(1));
    await expect(resend(id)).rejects.toMatchObject({ code: 'resource.conflict' });
    await updateNotification(id, `state = 'superseded', next_attempt_at = NULL, lease_id = NULL, leased_until = NULL`);
    await expect(resend(id)).rejects.toMatchObject({ code: 'resource.conflict' });
  });

  it('that arrives twice has one effect, also while the notification is being sent and after it was delivered', async () => {
    const id = await deliverRejectedNotification();
    const request = { owner: OWNER, id, requestId: randomUUID() };
    const send = (): Promise<unknown> => sendCommand(ResendDeliveryV1, request);
    expect(await send()).toEqual({ due: true });
    await updateNotification(id, `lease_id = gen_random_uuid(), leased_until = $2`, dispatcher.clock.later(1));
    expect(await send()).toEqual({ due: true });
    await updateNotification(id, `lease_id = NULL, leased_until = NULL`);
    receiver.setBehaviours(respondWith(200));
    await dispatcher.runStep();
    expect(await send()).toEqual({ due: true });
    expect(await sendCommand(GetDeliveryV1, { owner: OWNER, id })).toMatchObject({ state: 'delivered' });
    // Another request is a new one.
    request.requestId = randomUUID();
    await expect(send()).rejects.toMatchObject({ code: 'request.rate-limited' });
    await expect(sendCommand(ResendDeliveryV1, { ...request, requestId: 'a' })).rejects.toMatchObject({
      code: 'request.invalid',
    });
  });

  it('by a person is in the audit log once; by the merchant’s server it is not', async () => {
    const id = await deliverRejectedNotification();
    const audited = async (): Promise<unknown[]> =>
      (await dispatcher.test.published(WebhookDispatcherAdministeredV1))
        .map(({ payload }) => payload)
        .filter(({ after }) => (after as { notificationId?: string }).notificationId === id);
    await resend(id);
    expect(await audited()).toEqual([]);
    dispatcher.clock.advance(MIN_RESEND_INTERVAL_MS);
    const [personId, requestId] = [randomUUID(), randomUUID()];
    const send = (changes = {}): Promise<unknown> =>
      sendCommand(ResendDeliveryV1, { owner: OWNER, id, requestId, personId, ...changes });
    await send();
    await send();
    expect(await audited()).toEqual([
      {
        action: 'notification.replayed',
        actor: `person:${personId}`,
        requestId,
        merchantId: OWNER.merchantId,
        siteId: OWNER.siteId,
        after: { notificationId: id },
      },
    ]);
    for (const changes of [{ personId: 'a' }, { requestId: undefined }])
      await expect(send(changes)).rejects.toMatchObject({ code: 'request.invalid' });
  });

  it('by an administrator has no minimum interval', async () => {
    const id = await deliverRejectedNotification();
    await resend(id);
    expect((await dispatcher.requestAdmin('POST', `/${id}/replay`)).status).toBe(202);
  });
});

test('reads use only some of the database connections, and a read is rejected when too many reads wait', async () => {
  const { dataSource } = dispatcher.test;
  await using lock = await holdLocks(dataSource, `LOCK TABLE notifications`);
  const reads = Array.from({ length: MAX_READS + MAX_WAITING_READS }, () => requestDeliveries());
  await expect(requestDeliveries()).rejects.toMatchObject({ code: 'service.not-ready', retryAfterSeconds: 1 });
  await expect(sendCommand(GetDeliveryV1, { owner: OWNER, id: randomUUID() })).rejects.toMatchObject({
    code: 'service.not-ready',
  });
  expect(await dataSource.query(`SELECT 1 AS free`)).toEqual([{ free: 1 }]);
  await lock.release();
  expect(await Promise.all(reads)).toHaveLength(MAX_READS + MAX_WAITING_READS);
});

test('a request without an owner is rejected', async () => {
  const id = await deliverRejectedNotification();
  await expect(resend(id, {} as DeliveryOwner)).rejects.toMatchObject({ code: 'request.invalid' });
});

test.each([
  [{}, ['notifications_pending_of_site', 'notifications_of_site']],
  [{ after: randomUUID() }, ['notifications_pending_of_site', 'notifications_of_site']],
  [
    { from: '2026-03-01T00:00:00.000Z', until: '2026-03-02T00:00:00.000Z' },
    ['notifications_pending_of_site', 'notifications_of_site'],
  ],
  [{ state: 'delivered' as const }, ['notifications_of_site']],
  [{ state: 'pending' as const }, ['notifications_pending_of_site']],
  [{ state: 'exhausted' as const }, ['notifications_undelivered_of_site']],
  [{ state: 'gone' as const, after: randomUUID() }, ['notifications_undelivered_of_site']],
  [{ state: 'superseded' as const }, ['notifications_undelivered_of_site']],
])('a list request with the query %j reads only rows of its page, with index %s', async (query, indexes) => {
  const { dataSource, clock } = dispatcher.test;
  const plan = await planOf(dataSource, () => listDeliveries(dataSource, clock.now(), { owner: OWNER, ...query }));
  const scans = [...plan.matchAll(/Index Scan Backward using (\w+) on notifications.*\n\s+Index Cond: (.*)/g)];
  expect(scans.map(([, index]) => index)).toEqual(indexes);
  for (const [, , condition] of scans) expect(condition).toMatch(/^\(+merchant_id = .*site_id = .*mode = /);
  expect(plan.includes('Merge Append')).toBe(indexes.length > 1);
  expect(plan.replaceAll('Sort Key', '')).not.toMatch(/Sort|Seq Scan|Hash/);
});
