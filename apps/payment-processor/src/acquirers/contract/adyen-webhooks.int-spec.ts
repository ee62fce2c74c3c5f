/** The endpoint of Adyen's webhooks: what it refuses, and what it keeps without an effect. */
import { GaugeReader } from '@svc/testing';
import { AdyenDriver } from '../../../test/contract/adyen-driver.js';
import { type ContractPayment, ContractWorld } from '../../../test/contract/contract-world.js';
import {
  ADYEN_ACCOUNTS,
  type EmulatorWebhook,
  NOTIFICATIONS_PATH,
  WEBHOOK_USER,
} from '../../../test/contract/emulator-client.js';
import { expectInvariants } from '../../../test/contract/invariants.js';

const driver = new AdyenDriver();
let world: ContractWorld;
let metrics: GaugeReader;
beforeAll(async () => {
  metrics = GaugeReader.begin();
  world = await ContractWorld.start(driver);
});
beforeEach(async () => {
  await world.beginCase();
  await driver.emulator.reset();
});
afterEach(async () => {
  // Each test ends with a payment that the acquirer and the service agree about.
  await world.settle();
  await expectInvariants(world);
});
afterAll(async () => {
  await world.stop();
  metrics.end();
});

const AUTHORIZATION = basic(WEBHOOK_USER.user, WEBHOOK_USER.password);
function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** A payment whose response was lost: its webhook decides. */
async function payWithLostResponse(): Promise<ContractPayment> {
  await driver.causeFault('charge', 'responseLost');
  return world.pay();
}

async function findWebhook({ paymentReference }: ContractPayment): Promise<EmulatorWebhook> {
  const { webhooks } = await driver.emulator.state();
  return webhooks.findLast(({ item }) => item.merchantReference === paymentReference)!;
}

type Body = Readonly<Record<string, unknown>> | string;
const bodyOf = (item: object, live = 'false'): Body => ({
  live,
  notificationItems: [{ NotificationRequestItem: item }],
});

async function send(payload: Body, authorization: string | undefined = AUTHORIZATION): Promise<number> {
  const { statusCode } = await world.processor.service.app.inject({
    method: 'POST',
    url: NOTIFICATIONS_PATH,
    headers: { 'content-type': 'application/json', ...(authorization === '' ? {} : { authorization }) },
    payload: typeof payload === 'string' ? payload : { ...payload },
  });
  return statusCode;
}

interface StoredReport {
  readonly effect: string | null;
  readonly note: string | null;
}
const readReports = (): Promise<StoredReport[]> =>
  world.processor.dataSource.query<StoredReport[]>(
    `SELECT effect, note FROM acquirer_reports ORDER BY received_at, report_id`,
  );

async function countRefused(reason: string): Promise<number> {
  const points = await metrics.read('svc.acquirer.notifications.refused');
  return Number(points.find(({ attributes }) => attributes['reason'] === reason)?.value ?? 0);
}

describe('a webhook is refused with 401, counted, and not stored', () => {
  const WITHOUT_SIGNATURE: Readonly<Record<string, (item: EmulatorWebhook['item']) => object>> = {
    'without a signature': (item) => ({ ...item, additionalData: {} }),
    'with a signature of another amount': (item) => ({ ...item, amount: { value: 1, currency: 'ZAR' } }),
    'with a signature of another payment': (item) => ({ ...item, merchantReference: 'other' }),
    'with a signature of the opposite outcome': (item) => ({ ...item, success: 'false' }),
    'with a signature of another account': (item) => ({ ...item, merchantAccountCode: ADYEN_ACCOUNTS.other }),
  };

  test.each(Object.keys(WITHOUT_SIGNATURE))('%s', async (name) => {
    const payment = await payWithLostResponse();
    const { item } = await findWebhook(payment);
    const [stored, refused] = [await readReports(), await countRefused('signature')];
    expect(await send(bodyOf(WITHOUT_SIGNATURE[name]!(item)))).toBe(401);
    expect(await readReports()).toEqual(stored);
    expect(await countRefused('signature')).toBe(refused + 1);
    expect(await world.readStates(payment.paymentReference)).toMatchObject({ payment: 'processing' });
  });

  test('if one of its items has no signature, although the other has one', async () => {
    const payment = await payWithLostResponse();
    const { item } = await findWebhook(payment);
    const stored = await readReports();
    const notificationItems = [item, { ...item, additionalData: {} }].map((each) => ({
      NotificationRequestItem: each,
    }));
    expect(await send({ live: 'false', notificationItems })).toBe(401);
    expect(await readReports()).toEqual(stored);
  });

  test.each([
    ['without basic authentication', ''],
    ['with another password', basic(WEBHOOK_USER.user, 'another-password')],
    ['with another user', basic('another', WEBHOOK_USER.password)],
  ])('%s', async (_, authorization) => {
    const payment = await payWithLostResponse();
    const { item } = await findWebhook(payment);
    const [stored, refused] = [await readReports(), await countRefused('credentials')];
    expect(await send(bodyOf(item), authorization)).toBe(401);
    expect(await readReports()).toEqual(stored);
    expect(await countRefused('credentials')).toBe(refused + 1);
  });
});

test.each<[string, Body, number]>([
  ['no JSON', '{"live":', 400],
  ['another object', { hello: 'world' }, 400],
  ['no items', { live: 'false', notificationItems: [] }, 400],
  ['too many items', { live: 'false', notificationItems: Array(101).fill({}) }, 400],
])('a body with %s is refused and not stored', async (_, body, status) => {
  const stored = await readReports();
  expect(await send(body)).toBe(status);
  expect(await readReports()).toEqual(stored);
});

test('the endpoint of a mode without settings does not exist', async () => {
  const { statusCode } = await world.processor.service.app.inject({
    method: 'POST',
    url: NOTIFICATIONS_PATH.replace('/test/', '/live/'),
    headers: { authorization: AUTHORIZATION },
    payload: {},
  });
  expect(statusCode).toBe(404);
});

test('a replayed item is acknowledged, stored once and without an effect', async () => {
  const payment = await payWithLostResponse();
  const { item } = await findWebhook(payment);
  const before = (await readReports()).length;
  expect([await send(bodyOf(item)), await send(bodyOf(item))]).toEqual([200, 200]);
  await world.applyReports();
  expect(await send(bodyOf(item))).toBe(200);
  await world.applyReports();
  expect((await readReports()).slice(before)).toEqual([{ effect: 'applied', note: null }]);
  expect(await world.readIncidents(payment.paymentReference)).toEqual([]);
});

test('a webhook whose `live` contradicts its endpoint is acknowledged, kept and an incident', async () => {
  const payment = await payWithLostResponse();
  const { item } = await findWebhook(payment);
  const before = (await readReports()).length;
  expect(await send(bodyOf(item, 'true'))).toBe(200);
  await world.applyReports();
  expect((await readReports()).slice(before)).toEqual([
    { effect: 'incident', note: 'The notification is of the other mode.' },
  ]);
  expect(await world.readStates(payment.paymentReference)).toMatchObject({ payment: 'processing' });
  // The flag is not signed: a false one does not keep out the notification itself.
  expect(await send(bodyOf(item))).toBe(200);
  await world.applyReports();
  expect((await readReports()).slice(before)).toMatchObject([{ effect: 'applied' }]);
});

describe('a webhook is acknowledged, kept and counted as ignored', () => {
  async function countIgnored(): Promise<number> {
    const points = await metrics.read('svc.acquirer.reports');
    return points
      .filter(({ attributes }) => attributes['effect'] === 'ignored')
      .reduce((sum, { value }) => sum + Number(value), 0);
  }

  test.each([
    ['of an unknown kind', 'DIRECT_DEBIT_FUN', ADYEN_ACCOUNTS.merchant],
    ['of a foreign account', 'AUTHORISATION', 'ForeignShop'],
  ])('%s, and delays none of those behind it', async (_, eventCode, merchantAccount) => {
    const [before, ignored] = [(await readReports()).length, await countIgnored()];
    await driver.emulator.control('POST', '/webhooks/events', { eventCode, merchantAccount });
    const payment = await payWithLostResponse();
    await world.deliverReports();
    const effects = (await readReports()).slice(before).map(({ effect }) => effect);
    expect(effects.toSorted()).toEqual(['applied', 'ignored']);
    expect(await countIgnored()).toBe(ignored + 1);
    expect(await world.readStates(payment.paymentReference)).toMatchObject({ payment: 'success' });
  });
});

// The last test, because the emulator sends the refused webhook again.
test('a webhook with the signature of another key, which the emulator sends, is refused and not stored', async () => {
  await driver.emulator.control('DELETE', '/webhook-rules');
  for (const action of ['wrong-signature', 'withhold'])
    await driver.emulator.control('POST', '/webhook-rules', { action });
  await payWithLostResponse();
  await driver.emulator.reset();
  const stored = await readReports();
  await expect(world.deliverReports()).rejects.toThrow('status 401');
  expect(await readReports()).toEqual(stored);
  // The charge is never reported. Therefore it is abandoned and released.
});
