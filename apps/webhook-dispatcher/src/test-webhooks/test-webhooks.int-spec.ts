import { randomUUID } from 'node:crypto';
import { type DeliveryOwner, SendTestWebhookV1, type TestWebhookResult } from '@svc/contracts';
import { Commands } from '@svc/messaging';
import { DispatcherUnderTest, WEBHOOK_SECRET } from '../../test/dispatcher.js';
import { TEST_SITE } from '../../test/payment.js';
import { Receiver, respondWith, verifyWebhook } from '../../test/receiver.js';
import { MAX_TESTS, MIN_TEST_INTERVAL_MS } from './send-test-webhook.js';

let dispatcher: DispatcherUnderTest;
let receiver: Receiver;
beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
  await dispatcher.deliverDefaultSecrets();
});
afterAll(() => dispatcher.test.stop());
let version = 0;
beforeEach(async () => {
  receiver = await Receiver.start();
  dispatcher.clock.advance(MIN_TEST_INTERVAL_MS);
  await dispatcher.deliverSite({ webhookUrl: receiver.url }, ++version);
});
afterEach(() => receiver.stop());

const sendTest = (owner: DeliveryOwner = TEST_SITE, id: string = randomUUID()): Promise<TestWebhookResult> =>
  dispatcher.test.service.app.get(Commands).request(SendTestWebhookV1, { owner, id });

test('a signed test message reaches the address of the site, also while it is disabled, and the answer is returned', async () => {
  receiver.setBehaviours(respondWith(202, {}, 'thanks'));
  const id = randomUUID();
  const result = await sendTest(TEST_SITE, id);
  const [request] = receiver.received;
  expect(receiver.received).toHaveLength(1);
  expect(verifyWebhook(request!, WEBHOOK_SECRET)).toEqual({
    type: 'test',
    siteId: TEST_SITE.siteId,
    mode: 'test',
    sentUTCDate: dispatcher.clock.nowISO(),
  });
  expect(request!.headers['webhook-id']).toBe(id);
  expect(result).toEqual({
    url: receiver.url,
    body: request!.body,
    headers: [
      { name: 'content-type', value: 'application/json' },
      { name: 'user-agent', value: 'Svc-Webhooks/1' },
      { name: 'webhook-id', value: id },
      { name: 'webhook-timestamp', value: request!.headers['webhook-timestamp'] },
      { name: 'webhook-signature', value: request!.headers['webhook-signature'] },
    ],
    durationMs: expect.any(Number),
    statusCode: 202,
    errorClass: null,
    hint: null,
    response: 'thanks',
  });
  expect(await dispatcher.test.dataSource.query(`SELECT 1 FROM notifications`)).toEqual([]);
});

test('an endpoint that does not answer is reported without details of the network', async () => {
  await receiver.stop();
  expect(await sendTest()).toMatchObject({ statusCode: null, errorClass: 'connection-refused', response: null });
  dispatcher.clock.advance(MIN_TEST_INTERVAL_MS);
  await dispatcher.deliverSite({ webhookUrl: 'https://10.0.0.1/hook' }, ++version);
  expect(await sendTest()).toMatchObject({ statusCode: null, errorClass: 'address-unavailable' });
  receiver = await Receiver.start();
});

test('a site of another merchant, and a site without an address, is not found', async () => {
  await expect(sendTest({ ...TEST_SITE, merchantId: 8 })).rejects.toMatchObject({ code: 'resource.not-found' });
  await expect(sendTest({ ...TEST_SITE, siteId: 72 })).rejects.toMatchObject({ code: 'resource.not-found' });
  await dispatcher.deliverSite({}, ++version);
  await expect(sendTest()).rejects.toMatchObject({ code: 'resource.not-found' });
  expect(receiver.received).toEqual([]);
});

test('without a secret of the mode nothing is sent', async () => {
  await expect(sendTest({ ...TEST_SITE, mode: 'live' })).rejects.toMatchObject({ code: 'resource.conflict' });
  expect(receiver.received).toEqual([]);
});

test('an id that is not a UUID is refused', async () => {
  await expect(sendTest(TEST_SITE, 'x')).rejects.toMatchObject({ code: expect.any(String) });
  expect(receiver.received).toEqual([]);
});

test('a site is tested once in some seconds', async () => {
  await sendTest();
  await expect(sendTest()).rejects.toMatchObject({ code: 'request.rate-limited', retryAfterSeconds: 5 });
  dispatcher.clock.advance(MIN_TEST_INTERVAL_MS);
  await sendTest();
  expect(receiver.received).toHaveLength(2);
});

test('more tests at the same time than the limit are refused, and later ones are sent again', async () => {
  const held: (() => void)[] = [];
  receiver.setBehaviours((response) => held.push(() => response.end()));
  const sites = Array.from({ length: MAX_TESTS + 1 }, (_, index) => 1_000 + index);
  for (const siteId of sites) {
    await dispatcher.deliverSite({ siteId, webhookUrl: receiver.url });
    await dispatcher.deliverSecret(`secret of ${siteId}`, WEBHOOK_SECRET, { purpose: 'webhook-secret', siteId });
  }
  const running = sites.slice(1).map((siteId) => sendTest({ ...TEST_SITE, siteId }));
  while (held.length < MAX_TESTS) await receiver.nextRequest();
  const last = { ...TEST_SITE, siteId: sites[0]! };
  await expect(sendTest(last)).rejects.toMatchObject({ code: 'service.not-ready' });
  for (const answer of held) answer();
  expect((await Promise.all(running)).map(({ statusCode }) => statusCode)).toEqual(Array(MAX_TESTS).fill(200));
  receiver.setBehaviours(respondWith(200));
  dispatcher.clock.advance(MIN_TEST_INTERVAL_MS);
  expect((await sendTest(last)).statusCode).toBe(200);
});
