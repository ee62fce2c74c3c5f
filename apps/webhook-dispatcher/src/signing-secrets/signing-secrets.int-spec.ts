import { type Mode, SealingKeyPublishedV1 } from '@svc/contracts';
import { DispatcherUnderTest, MERCHANT_API_KEY, SITE_API_KEY, WEBHOOK_SECRET } from '../../test/dispatcher.js';
import { TEST_SITE } from '../../test/payment.js';
import { getBodySignature, type ReceivedRequest, Receiver, respondWith, verifyWebhook } from '../../test/receiver.js';
import { DeliveryMetrics } from '../delivery/delivery-metrics.js';
import { notificationSignature } from '../delivery/sign-notification.js';

const SECOND = 1_000;

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

const countUnsigned = (): Promise<number> => dispatcher.test.service.app.get(DeliveryMetrics).countUnsigned();

describe('signing keys', () => {
  it('are encrypted for a sealing key that is published once', async () => {
    expect(await dispatcher.test.published(SealingKeyPublishedV1)).toHaveLength(1);
  });

  it('sign the second attempt if they are rotated after the first attempt, and both secrets sign during the rotation', async () => {
    receiver.setBehaviours(respondWith(500), respondWith(500), respondWith(200));
    const secondSecret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
    const secondKey = SITE_API_KEY.replace(/A/g, 'C');
    await dispatcher.deliverPayments(dispatcher.newPayment(receiver.url));
    await dispatcher.runStep();

    await dispatcher.deliverSecret('site-key 7', SITE_API_KEY, {
      purpose: 'api-key',
      siteId: TEST_SITE.siteId,
      primary: false,
      version: 2,
    });
    await dispatcher.deliverSecret('site-key-2', secondKey, { purpose: 'api-key', siteId: TEST_SITE.siteId });
    await dispatcher.deliverSecret('webhook-secret-2', secondSecret, {
      purpose: 'webhook-secret',
      siteId: TEST_SITE.siteId,
    });
    dispatcher.clock.advance(6 * SECOND);
    await dispatcher.runStep();

    await dispatcher.deliverSecret('webhook-secret 7', WEBHOOK_SECRET, {
      purpose: 'webhook-secret',
      siteId: TEST_SITE.siteId,
      revoked: true,
      version: 2,
    });
    // An older event that arrives later changes nothing.
    await dispatcher.deliverSecret('webhook-secret 7', WEBHOOK_SECRET, {
      purpose: 'webhook-secret',
      siteId: TEST_SITE.siteId,
      version: 1,
    });
    dispatcher.clock.advance(36 * SECOND);
    await dispatcher.runStep();

    const [before, during, after] = receiver.received;
    const isSignedWith = (received: ReceivedRequest, key: string): boolean =>
      getBodySignature(received) === notificationSignature(JSON.parse(received.body), key);
    expect([
      isSignedWith(before!, SITE_API_KEY),
      isSignedWith(during!, secondKey),
      isSignedWith(after!, secondKey),
    ]).toEqual([true, true, true]);
    expect(verifyWebhook(before!, WEBHOOK_SECRET)).toEqual(JSON.parse(before!.body));
    expect(() => verifyWebhook(before!, secondSecret)).toThrow('No matching signature');
    expect(verifyWebhook(during!, WEBHOOK_SECRET)).toEqual(JSON.parse(during!.body));
    expect(verifyWebhook(during!, secondSecret)).toEqual(JSON.parse(during!.body));
    expect(() => verifyWebhook(after!, WEBHOOK_SECRET)).toThrow('No matching signature');
    expect(verifyWebhook(after!, secondSecret)).toEqual(JSON.parse(after!.body));

    // Restores the default keys for the next tests.
    await dispatcher.deliverSecret('site-key 7', SITE_API_KEY, {
      purpose: 'api-key',
      siteId: TEST_SITE.siteId,
      version: 3,
    });
    await dispatcher.deliverSecret('site-key-2', secondKey, {
      purpose: 'api-key',
      siteId: TEST_SITE.siteId,
      primary: false,
      revoked: true,
      version: 2,
    });
    await dispatcher.deliverSecret('webhook-secret 7', WEBHOOK_SECRET, {
      purpose: 'webhook-secret',
      siteId: TEST_SITE.siteId,
      version: 3,
    });
  });

  it('must have the mode of the payment: without them the notification waits, and administrators see why', async () => {
    const error = jest.spyOn(dispatcher.test.service.log, 'error');
    const payment = dispatcher.newPayment(receiver.url, { mode: 'live' });
    await dispatcher.deliverPayments(payment);
    await dispatcher.runStep();
    expect(receiver.received).toHaveLength(0);
    expect(await dispatcher.getNotificationRow(payment)).toMatchObject({
      state: 'pending',
      attempt_count: 0,
      schedule_position: 0,
      lease_id: null,
    });
    const { id } = await dispatcher.getNotificationRow(payment);
    expect((await dispatcher.requestAdmin('GET', `/${id}`)).body).toMatchObject({
      unsignedSince: dispatcher.clock.nowISO(),
      missingKeys: ['api-key', 'webhook-secret'],
    });
    expect((await dispatcher.requestAdmin('GET', '?unsigned=true')).body['notifications']).toMatchObject([{ id }]);
    expect(await countUnsigned()).toBe(1);
    expect(error).toHaveBeenCalledTimes(1);
    expect(error).toHaveBeenCalledWith(
      expect.objectContaining({ notificationId: id, mode: 'live', missingKeys: ['api-key', 'webhook-secret'] }),
      expect.stringContaining('cannot be signed'),
    );

    const liveKey = SITE_API_KEY.replace('test', 'live');
    const liveSecret = `whsec_${Buffer.alloc(24, 3).toString('base64')}`;
    await dispatcher.deliverSecret('live-key', liveKey, { purpose: 'api-key', siteId: TEST_SITE.siteId, mode: 'live' });
    dispatcher.clock.advance(1 * SECOND);
    await dispatcher.runStep();
    expect((await dispatcher.requestAdmin('GET', `/${id}`)).body).toMatchObject({
      unsignedSince: dispatcher.clock.later(-1 * SECOND).toISOString(),
      missingKeys: ['webhook-secret'],
    });
    await dispatcher.deliverSecret('live-secret', liveSecret, {
      purpose: 'webhook-secret',
      siteId: TEST_SITE.siteId,
      mode: 'live',
    });
    dispatcher.clock.advance(1 * SECOND);
    await dispatcher.runStep();
    expect(verifyWebhook(receiver.received[0]!, liveSecret)).toMatchObject({
      paymentReference: payment.paymentReference,
    });
    expect(getBodySignature(receiver.received[0]!)).toBe(
      notificationSignature(JSON.parse(receiver.received[0]!.body), liveKey),
    );
    expect((await dispatcher.requestAdmin('GET', `/${id}`)).body).toMatchObject({
      unsignedSince: null,
      missingKeys: null,
    });
    expect((await dispatcher.requestAdmin('GET', '?unsigned=true')).body['notifications']).toEqual([]);
    expect(await countUnsigned()).toBe(0);
  });

  it('are reported as missing by a metric that counts pending and exhausted notifications without a signature', async () => {
    const newPayment = (state: 'success' | 'failed', mode: Mode) =>
      dispatcher.newPayment(receiver.url, { state, mode });
    receiver.setBehaviours(respondWith(500));
    const [signed, exhausted, superseded] = [
      newPayment('success', 'test'),
      newPayment('success', 'live'),
      newPayment('failed', 'live'),
    ];
    for (const { secretId, siteId } of [
      { secretId: 'live-key', siteId: TEST_SITE.siteId },
      { secretId: 'live-secret', siteId: TEST_SITE.siteId },
    ])
      await dispatcher.test.dataSource.query(
        `UPDATE signing_secrets SET revoked = true WHERE secret_id = $1 AND site_id = $2`,
        [secretId, siteId],
      );
    dispatcher.clock.advance(1 * SECOND);
    await dispatcher.deliverPayments(signed, exhausted, superseded);
    await dispatcher.runStep();
    expect((await dispatcher.getNotificationRow(signed)).state).toBe('pending');
    expect(await countUnsigned()).toBe(2);

    // After this time, the duration of the whole schedule, the notification is exhausted.
    dispatcher.clock.advance(72 * 3_600 * SECOND);
    await dispatcher.runStep();
    expect((await dispatcher.getNotificationRow(exhausted)).state).toBe('exhausted');
    expect(await countUnsigned()).toBe(2);

    const { sessionId } = superseded.source;
    await dispatcher.deliverPayments(dispatcher.newPayment(receiver.url, { sessionId, mode: 'test' }));
    expect((await dispatcher.getNotificationRow(superseded)).state).toBe('superseded');
    expect(await countUnsigned()).toBe(1);
  });

  it('are stored encrypted: no table contains a key or secret in clear text', async () => {
    const rows = await dispatcher.test.dataSource.query<{ dump: string }[]>(
      `SELECT string_agg(s::text, '') || (SELECT string_agg(k::text, '') FROM sealing_keys k) AS dump FROM signing_secrets s`,
    );
    expect(rows[0]!.dump).toContain('webhook-secret');
    for (const secretText of [SITE_API_KEY, MERCHANT_API_KEY, WEBHOOK_SECRET, '"d":'])
      expect(rows[0]!.dump).not.toContain(secretText);
  });
});
