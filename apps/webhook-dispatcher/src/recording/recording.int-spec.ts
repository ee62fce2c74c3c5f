/**
 * Tests in which state a notification is recorded: superseded, pending, or leased to the worker that will send it.
 * A Success is the notification of a successful payment, a Failed is the notification of a failed payment.
 */
import { randomUUID } from 'node:crypto';
import { DispatcherUnderTest } from '../../test/dispatcher.js';
import type { LeasedNotification } from '../delivery/delivery-lease.repository.js';
import type { NewNotification } from '../notifications/notification.js';
import { NotificationRepository } from './notification.repository.js';
import { RecordNotifications } from './record-notifications.js';

const URL = 'https://shop.example/hook';
const ENDPOINT = 'shop.example:443';
const LEASE_MS = 30_000;

type State = 'success' | 'failed';

let dispatcher: DispatcherUnderTest;
beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
});
afterEach(() => dispatcher.test.superuser.query(`TRUNCATE notifications, delivery_attempts, circuits`));
afterAll(() => dispatcher.test.stop());

const query = <T>(text: string, values: unknown[] = []): Promise<T> => dispatcher.test.dataSource.query(text, values);

/** Records a notification. The worker has a permit for it if `hasPermit` is true. */
async function recordAndReadState(sessionId: string, state: State, hasPermit = true): Promise<string> {
  const payment = dispatcher.newPayment(URL, { sessionId, state });
  const lease = { leaseId: randomUUID(), leasedUntil: dispatcher.clock.later(LEASE_MS) };
  const sent: LeasedNotification[] = [];
  const worker = {
    reserve: (notifications: readonly NewNotification[]) => ({
      ...{ lease, permitted: hasPermit ? notifications : [], waiting: hasPermit ? [] : notifications },
    }),
    send: (leased: readonly LeasedNotification[]) => Promise.resolve(void sent.push(...leased)),
    free: () => undefined,
  };
  await new RecordNotifications(new NotificationRepository(), worker, dispatcher.clock).execute(
    dispatcher.test.dataSource,
    [{ payload: payment }],
  );
  const row = await dispatcher.getNotificationRow(payment);
  expect([sent.map(({ leaseId }) => leaseId), row.lease_id]).toEqual(
    sent.length === 1 ? [[lease.leaseId], lease.leaseId] : [[], null],
  );
  return sent.length === 1 ? `${row.state}, leased` : row.state;
}
/** Records a notification of this session. If `leaseEndsInMs` is set, the notification is leased (being sent). */
async function recordEarlier(sessionId: string, state: State, leaseEndsInMs?: number): Promise<void> {
  const payment = dispatcher.newPayment(URL, { sessionId, state });
  await dispatcher.deliverPayments(payment);
  if (leaseEndsInMs !== undefined)
    await query(
      `UPDATE notifications SET lease_id = gen_random_uuid(), leased_until = $2 WHERE payment_reference = $1`,
      [payment.paymentReference, dispatcher.clock.later(leaseEndsInMs)],
    );
}

describe.each<[State, string, string, (sessionId: string) => Promise<void>]>([
  ['success', 'no other notification', 'pending, leased', () => Promise.resolve()],
  ['failed', 'no other notification', 'pending, leased', () => Promise.resolve()],
  ['failed', 'a Success of its session', 'superseded', (id) => recordEarlier(id, 'success')],
  ['failed', 'another Failed of its session', 'pending, leased', (id) => recordEarlier(id, 'failed')],
  ['failed', 'a Failed of its session that is being sent', 'pending, leased', (id) => recordEarlier(id, 'failed', 1)],
  ['failed', 'a Success of another session', 'pending, leased', () => recordEarlier(randomUUID(), 'success')],
  ['success', 'a Failed of its session that is not being sent', 'pending, leased', (id) => recordEarlier(id, 'failed')],
  ['success', 'a Failed of its session that is being sent', 'pending', (id) => recordEarlier(id, 'failed', 1)],
  ['success', 'a Failed of its session whose lease ended', 'pending, leased', (id) => recordEarlier(id, 'failed', 0)],
  [
    'success',
    'a Failed of another session that is being sent',
    'pending, leased',
    () => recordEarlier(randomUUID(), 'failed', 1),
  ],
  [
    'success',
    'a Success of its session that is being sent',
    'pending, leased',
    (id) => recordEarlier(id, 'success', 1),
  ],
])('a %s notification after %s (expected: %s)', (state, _, expected, recordEarlierNotification) => {
  test('is recorded as expected if the worker has a permit', async () => {
    const sessionId = randomUUID();
    await recordEarlierNotification(sessionId);
    expect(await recordAndReadState(sessionId, state)).toBe(expected);
  });

  test('is recorded without a lease if the worker has no permit', async () => {
    const sessionId = randomUUID();
    await recordEarlierNotification(sessionId);
    expect(await recordAndReadState(sessionId, state, false)).toBe(expected.replace(', leased', ''));
  });
});

test.each([
  ['an open circuit of its endpoint', 7, ENDPOINT, 60_000, 'pending'],
  ['a half-open circuit of its endpoint', 7, ENDPOINT, 0, 'pending'],
  ['a closed circuit of its endpoint', 7, ENDPOINT, null, 'pending, leased'],
  ['an open circuit of another endpoint', 7, 'other.example:443', 60_000, 'pending, leased'],
  ['an open circuit of another merchant', 8, ENDPOINT, 60_000, 'pending, leased'],
] as const)(
  'if there is %s (merchant %i, endpoint %s, open for %p ms), a notification is recorded as %s',
  async (_, merchantId, endpoint, openForMs, expected) => {
    await query(
      `INSERT INTO circuits (merchant_id, endpoint, failures, openings, open_until)
     VALUES ($1, $2, 5, CASE WHEN $3::timestamptz IS NULL THEN 0 ELSE 1 END, $3)`,
      [merchantId, endpoint, openForMs === null ? null : dispatcher.clock.later(openForMs)],
    );
    expect(await recordAndReadState(randomUUID(), 'success')).toBe(expected);
  },
);
