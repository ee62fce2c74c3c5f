import { randomUUID } from 'node:crypto';
import { DispatcherUnderTest } from '../../test/dispatcher.js';
import { Receiver, respondWith } from '../../test/receiver.js';

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
afterEach(() => receiver.stop());

interface Summary {
  id: string;
  state: string;
  sessionId: string;
}

const listNotifications = async (query: string): Promise<Summary[]> =>
  (await dispatcher.requestAdmin('GET', query)).body['notifications'] as Summary[];

describe('the administration API', () => {
  it.each([null, 'another key'])('responds to the key %j with a 401 and an empty body', async (key) => {
    for (const [method, path] of [
      ['GET', ''],
      ['GET', `/${randomUUID()}`],
      ['GET', '/circuits'],
      ['POST', '/replays'],
      ['POST', `/${randomUUID()}/replay`],
    ] as const) {
      expect(await dispatcher.requestAdmin(method, path, key)).toEqual({ status: 401, body: {} });
    }
  });

  it('shows a notification with all its attempts', async () => {
    receiver.setBehaviours(respondWith(500, {}, 'out of order'), respondWith(200, {}, 'ok'));
    const payment = dispatcher.newPayment(receiver.url, { state: 'failed' });
    await dispatcher.deliverPayments(payment);
    await dispatcher.runStep();
    dispatcher.clock.advance(6_000);
    await dispatcher.runStep();
    const { id } = await dispatcher.getNotificationRow(payment);
    const { status, body } = await dispatcher.requestAdmin('GET', `/${id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id,
      merchantId: 7,
      siteId: 71,
      mode: 'test',
      sessionId: payment.source.sessionId,
      paymentReference: payment.paymentReference,
      paymentStatus: 'Failed',
      apiVersion: 'v3.1',
      url: receiver.url,
      state: 'delivered',
      attemptCount: 2,
      nextAttemptAt: null,
      createdAt: '2026-03-01T10:00:00.000Z',
      deliveredAt: '2026-03-01T10:00:06.000Z',
      fields: { amount: 12_345, userMessage: 'The card was declined by the bank.' },
      attempts: [
        {
          attemptNumber: 2,
          startedAt: '2026-03-01T10:00:06.000Z',
          outcome: 'acknowledged',
          statusCode: 200,
          errorClass: null,
          response: 'ok',
        },
        {
          attemptNumber: 1,
          startedAt: '2026-03-01T10:00:00.000Z',
          outcome: 'refused',
          statusCode: 500,
          errorClass: null,
          response: 'out of order',
        },
      ],
    });
  });

  it('lists the order of a notification, and why its last attempt failed', async () => {
    receiver.setBehaviours(respondWith(503, {}, 'busy'), respondWith(500, {}, 'out of order'));
    const sessionId = randomUUID();
    const payment = dispatcher.newPayment(receiver.url, { sessionId });
    await dispatcher.deliverPayments(payment);
    const { merchantOrderId } = payment.source;
    const list = async () => listNotifications(`?sessionId=${sessionId}`);
    expect(await list()).toMatchObject([{ orderId: merchantOrderId, lastAttempt: null }]);
    await dispatcher.runStep();
    expect(await list()).toMatchObject([{ lastAttempt: { statusCode: 503, errorClass: null } }]);
    dispatcher.clock.advance(6_000);
    await dispatcher.runStep();
    expect(await list()).toMatchObject([
      { orderId: merchantOrderId, attemptCount: 2, lastAttempt: { statusCode: 500, errorClass: null } },
    ]);
  });

  it('shows the end of the lease as the time of the next attempt while a notification is being sent', async () => {
    const payment = dispatcher.newPayment(receiver.url);
    await dispatcher.deliverPayments(payment);
    const { id } = await dispatcher.getNotificationRow(payment);
    const readNextAttemptAt = async (): Promise<unknown> =>
      (await dispatcher.requestAdmin('GET', `/${id}`)).body['nextAttemptAt'];
    expect(await readNextAttemptAt()).toBe(dispatcher.clock.nowISO());
    await dispatcher.test.dataSource.query(
      `UPDATE notifications SET lease_id = gen_random_uuid(), leased_until = $1 WHERE id = $2`,
      [dispatcher.clock.later(30_000), id],
    );
    expect(await readNextAttemptAt()).toBe(dispatcher.clock.later(30_000).toISOString());
  });

  it('lists notifications in pages, newest first, and filters them', async () => {
    const sessionId = randomUUID();
    for (let i = 0; i < 52; i++)
      await dispatcher.deliverPayments(dispatcher.newPayment(receiver.url, { sessionId, state: 'failed' }));
    const first = await dispatcher.requestAdmin('GET', `?sessionId=${sessionId}&state=pending&merchantId=7`);
    const notifications = first.body['notifications'] as Summary[];
    expect(notifications).toHaveLength(50);
    expect(notifications.map(({ id }) => id)).toEqual(
      notifications
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
    );
    const second = await dispatcher.requestAdmin('GET', `?sessionId=${sessionId}&after=${String(first.body['after'])}`);
    expect(second.body['notifications']).toHaveLength(2);
    expect(second.body['after']).toBeNull();
    expect(new Set([...notifications, ...(second.body['notifications'] as Summary[])].map(({ id }) => id)).size).toBe(
      52,
    );

    expect(await listNotifications(`?merchantId=8`)).toEqual([]);
    expect(await listNotifications(`?sessionId=${sessionId}&state=delivered`)).toEqual([]);
    await dispatcher.test.dataSource.query(
      `UPDATE notifications SET state = 'gone', next_attempt_at = NULL WHERE session_id = $1`,
      [sessionId],
    );
    expect(
      (await listNotifications('?state=gone')).every((row) => row.state === 'gone' && row.sessionId === sessionId),
    ).toBe(true);
  });

  it.each([
    'state=lost',
    'state=pending&state=gone',
    'merchantId=0',
    'merchantId=7x',
    'sessionId=1',
    'unsigned=no',
    'after=1',
  ])('rejects the query %s with an error that names the field', async (query) => {
    const { status, body } = await dispatcher.requestAdmin('GET', `?${query}`);
    expect(status).toBe(400);
    expect(body['errors']).toMatchObject([{ field: query.split('=')[0] }]);
  });

  it.each(['1', randomUUID()])('responds with a 404 to the invalid or unknown id %s', async (id) => {
    expect((await dispatcher.requestAdmin('GET', `/${id}`)).status).toBe(404);
    expect((await dispatcher.requestAdmin('POST', `/${id}/replay`)).status).toBe(404);
  });
});

it('circuits are listed by failures, with the number of pending notifications of their own merchant and endpoint', async () => {
  const { dataSource, superuser } = dispatcher.test;
  await superuser.query(`TRUNCATE notifications, delivery_attempts, circuits`);
  const circuitRows: (readonly [number, number, string])[] = [];
  // The rows are not inserted in the order in which they are listed.
  for (let nth = 39; nth >= 0; nth--) circuitRows.push([5 + ((nth * 7) % 3), 7 + (nth % 4), `${nth}.example:443`]);
  for (const [failures, merchantId, endpoint] of circuitRows)
    await dataSource.query(`INSERT INTO circuits (merchant_id, endpoint, failures, openings) VALUES ($1, $2, $3, 0)`, [
      merchantId,
      endpoint,
      failures,
    ]);
  for (const [merchantId, endpoint, state] of [
    [7, '0.example:443', 'pending'],
    [8, '0.example:443', 'pending'],
    [7, 'other.example:443', 'pending'],
    [7, '0.example:443', 'gone'],
  ]) {
    const payment = dispatcher.newPayment(receiver.url);
    await dispatcher.deliverPayments(payment);
    await dataSource.query(
      `UPDATE notifications SET merchant_id = $2, endpoint = $3, state = $4, next_attempt_at = CASE WHEN $4 = 'pending' THEN next_attempt_at END
        WHERE id = $1`,
      [(await dispatcher.getNotificationRow(payment)).id, merchantId, endpoint, state],
    );
  }
  const circuits = (await dispatcher.requestAdmin('GET', '/circuits')).body['circuits'] as {
    merchantId: number;
    endpoint: string;
    failures: number;
    pending: number;
  }[];
  const sortedRows = circuitRows.toSorted(
    ([failures1, merchant1, endpoint1], [failures2, merchant2, endpoint2]) =>
      failures2 - failures1 || merchant1 - merchant2 || (endpoint1 < endpoint2 ? -1 : 1),
  );
  expect(circuits.map(({ failures, merchantId, endpoint }) => [failures, merchantId, endpoint])).toEqual(sortedRows);
  expect(circuits.filter(({ pending }) => pending > 0)).toMatchObject([{ endpoint: '0.example:443', pending: 1 }]);
});

it('the list of circuits shows failing endpoints and the number of their waiting notifications', async () => {
  receiver.setBehaviours(respondWith(500));
  for (let i = 0; i < 7; i++) await dispatcher.deliverPayments(dispatcher.newPayment(receiver.url));
  await dispatcher.runStep();
  const { status, body } = await dispatcher.requestAdmin('GET', '/circuits');
  expect(status).toBe(200);
  expect(body['circuits']).toContainEqual({
    merchantId: 7,
    endpoint: `127.0.0.1:${receiver.port}`,
    failures: 7,
    openUntil: dispatcher.clock.later(10_000).toISOString(),
    pending: 7,
  });
});
