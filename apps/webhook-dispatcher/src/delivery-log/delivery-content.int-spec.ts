import { type DeliveryOwner, GetDeliveryContentV1, ListDeliveriesV1 } from '@svc/contracts';
import { newPaymentReference } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { DispatcherUnderTest, WEBHOOK_SECRET } from '../../test/dispatcher.js';
import { TEST_SITE } from '../../test/payment.js';
import { Receiver, respondWith, verifyWebhook } from '../../test/receiver.js';

let dispatcher: DispatcherUnderTest;
let receiver: Receiver;
beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
});
afterAll(() => dispatcher.test.stop());
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(async () => {
  await receiver.stop();
  await dispatcher.test.superuser.query(`TRUNCATE notifications, delivery_attempts, circuits, signing_secrets`);
});

const getContent = (id: string, owner: DeliveryOwner = TEST_SITE) =>
  dispatcher.test.service.app.get(Commands).request(GetDeliveryContentV1, { owner, id });
const list = async (filter: { from?: string; until?: string; after?: string }) =>
  dispatcher.test.service.app.get(Commands).request(ListDeliveriesV1, { owner: TEST_SITE, ...filter });

/** Delivers a payment of this time, and returns the id of its notification. */
async function deliverPayment(paymentUTCDate = '2026-03-01T09:59:58.123Z'): Promise<string> {
  const reference = newPaymentReference(dispatcher.clock.now());
  const payment = { ...dispatcher.newPayment(receiver.url), paymentReference: reference, paymentUTCDate };
  await dispatcher.deliverPayments(payment);
  return (await dispatcher.getNotificationRow(payment)).id;
}

test('without keys the content has no signature', async () => {
  const id = await deliverPayment();
  const { body, headers } = await getContent(id);
  expect(headers).toEqual([{ name: 'webhook-id', value: id }]);
  expect(JSON.parse(body)).toEqual(expect.not.objectContaining({ signature: expect.anything() }));
});

test('the content is the request that the endpoint received, with its signatures', async () => {
  // Keys are cached for a second.
  dispatcher.clock.advance(1_001);
  await dispatcher.deliverDefaultSecrets();
  receiver.setBehaviours(respondWith(500));
  const id = await deliverPayment();
  dispatcher.clock.advance(1_000);
  await dispatcher.runStep();
  dispatcher.clock.advance(600_000);
  const [request] = receiver.received;
  const { body, headers: list } = await getContent(id);
  const headers = Object.fromEntries(list.map(({ name, value }) => [name, value]));
  expect(body).toBe(request!.body);
  expect(request!.headers).toMatchObject(headers);
  expect(verifyWebhook({ path: '/', headers, body }, WEBHOOK_SECRET)).toMatchObject({ paymentStatus: 'Success' });
});

test.each([
  ['another mode', { ...TEST_SITE, mode: 'live' as const }],
  ['another site', { ...TEST_SITE, siteId: 72 }],
  ['another merchant', { ...TEST_SITE, merchantId: 8 }],
])('the content for %s is not found', async (_, owner) => {
  const id = await deliverPayment();
  await expect(getContent(id, owner)).rejects.toMatchObject({ code: 'resource.not-found' });
});

test('an id that is not a UUID is not found', async () => {
  await expect(getContent('x')).rejects.toMatchObject({ code: expect.stringMatching(/not-found|invalid/) });
});

test('deliveries are filtered by time, from inclusive and until exclusive, on every page', async () => {
  const times = ['09:59:59.999', '10:00:00.000', '10:30:00.000', '10:59:59.999', '11:00:00.000'];
  const ids: string[] = [];
  for (const time of times) ids.push(await deliverPayment(`2026-03-01T${time}Z`));
  const hour = { from: '2026-03-01T10:00:00.000Z', until: '2026-03-01T11:00:00.000Z' };
  const read = async (filter: Parameters<typeof list>[0]) => (await list(filter)).deliveries.map(({ id }) => id);
  expect(await read(hour)).toEqual([ids[3], ids[2], ids[1]]);
  expect(await read({ from: hour.from })).toEqual([ids[4], ids[3], ids[2], ids[1]]);
  expect(await read({ until: hour.until })).toEqual([ids[3], ids[2], ids[1], ids[0]]);
  expect(await read({ ...hour, after: ids[3]!.toUpperCase() })).toEqual([ids[2], ids[1]]);
  expect(await read({ ...hour, after: ids[4]! })).toEqual([ids[3], ids[2], ids[1]]);
});

test.each(['yesterday', '2026-03-01', '1969-12-31T23:59:59.999Z'])('the time %s is refused', async (from) => {
  await expect(list({ from })).rejects.toMatchObject({ code: 'request.invalid', fields: [{ field: 'from' }] });
});
