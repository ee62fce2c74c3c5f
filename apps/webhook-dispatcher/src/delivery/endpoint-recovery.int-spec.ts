/** Tests which notifications become due immediately when their endpoint recovers from an outage. */
import { DispatcherUnderTest } from '../../test/dispatcher.js';
import { DeliveryAttemptRepository } from './delivery-attempt.repository.js';

const HOUR = 3_600_000;
const ENDPOINT = { merchantId: 7, endpoint: 'shop.example:443' };

let dispatcher: DispatcherUnderTest;
beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
});
afterEach(() => dispatcher.test.superuser.query(`TRUNCATE notifications, delivery_attempts, circuits`));
afterAll(() => dispatcher.test.stop());

const query = <T>(text: string, values: unknown[] = []): Promise<T> => dispatcher.test.dataSource.query(text, values);
const updateNotification = (id: string, columns: string, ...values: unknown[]): Promise<unknown> =>
  query(`UPDATE notifications SET ${columns} WHERE id = $1`, [id, ...values]);
const leaseUntil = (id: string, ms: number): Promise<unknown> =>
  updateNotification(id, `lease_id = gen_random_uuid(), leased_until = $2`, dispatcher.clock.later(ms));

/** Records a notification to the endpoint that is due after `dueInMs`. Returns its id. */
async function recordDueIn(dueInMs: number): Promise<string> {
  const payment = dispatcher.newPayment('https://shop.example/hook');
  await dispatcher.deliverPayments(payment);
  const { id } = await dispatcher.getNotificationRow(payment);
  await updateNotification(id, `next_attempt_at = $2`, dispatcher.clock.later(dueInMs));
  return id;
}
async function readNextAttempt(id: string): Promise<Date | null> {
  const [row] = await query<[{ next_attempt_at: Date | null }]>(
    `SELECT next_attempt_at FROM notifications WHERE id = $1`,
    [id],
  );
  return row.next_attempt_at;
}
const recover = (): Promise<void> =>
  new DeliveryAttemptRepository(dispatcher.test.dataSource).makeEndpointDue(ENDPOINT, dispatcher.clock.now());

test('a waiting notification becomes due now', async () => {
  const id = await recordDueIn(HOUR);
  await recover();
  expect(await readNextAttempt(id)).toEqual(dispatcher.clock.now());
});

test.each([
  ['of another merchant', `merchant_id = 8`],
  ['of another endpoint of the merchant', `endpoint = 'other.example:443'`],
  ['that waits for its signing keys', `unsigned_since = created_at, missing_keys = '{webhook-secret}'`],
])('a notification %s does not become due', async (_, columns) => {
  const id = await recordDueIn(HOUR);
  await updateNotification(id, columns);
  await recover();
  expect(await readNextAttempt(id)).toEqual(dispatcher.clock.later(HOUR));
});

test.each(['superseded', 'exhausted', 'gone'])('a notification that is %s does not become due', async (state) => {
  const id = await recordDueIn(HOUR);
  await updateNotification(id, `payment_status = 'Failed', state = $2, next_attempt_at = NULL`, state);
  await recover();
  expect(await readNextAttempt(id)).toBeNull();
});

test('a notification that was due before keeps its time, so that it is still sent first', async () => {
  const id = await recordDueIn(-1);
  await recover();
  expect(await readNextAttempt(id)).toEqual(dispatcher.clock.later(-1));
});

test('a notification that is due now is not written again, because a full batch would be followed by the same batch forever', async () => {
  const id = await recordDueIn(0);
  const readRowVersion = (): Promise<unknown> => query(`SELECT xmin::text FROM notifications WHERE id = $1`, [id]);
  const before = await readRowVersion();
  await recover();
  expect(await readRowVersion()).toEqual(before);
});

test.each([
  { title: 'becomes due when its lease ends now', leaseMs: 0, dueInMs: 0 },
  { title: 'does not become due when its lease ends a millisecond later', leaseMs: 1, dueInMs: HOUR },
])('a notification $title', async ({ leaseMs, dueInMs }) => {
  const id = await recordDueIn(HOUR);
  await leaseUntil(id, leaseMs);
  await recover();
  expect(await readNextAttempt(id)).toEqual(dispatcher.clock.later(dueInMs));
});
