import { type Mode, SealingKeyPublishedV1 } from '@svc/contracts';
import { DispatcherUnderTest, MERCHANT_API_KEY, SITE_API_KEY, WEBHOOK_SECRET } from '../../test/dispatcher.js';
import { MERCHANT } from '../../test/payment.js';
import { answers, type Received, Receiver, signatureIn, verify } from '../../test/receiver.js';
import { DeliveryMetrics } from '../delivery/delivery-metrics.js';
import { notificationSignature } from '../delivery/sign-notification.js';

const SECOND = 1_000;

let dispatcher: DispatcherUnderTest;
let receiver: Receiver;

beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
  await dispatcher.usualSecrets();
});
afterAll(() => dispatcher.test.stop());
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(() => receiver.stop());

const countersOf = ({ test }: DispatcherUnderTest): { countUnsigned: () => Promise<number> } => ({
  countUnsigned: () => test.service.app.get(DeliveryMetrics).countUnsigned(),
});

describe('signing keys', () => {
  it('are encrypted for a key that is published once', async () => {
    expect(await dispatcher.test.published(SealingKeyPublishedV1)).toHaveLength(1);
  });

  it('that rotate between attempts sign the next one; several webhook secrets sign together', async () => {
    receiver.behaves(answers(500), answers(500), answers(200));
    const second = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
    const secondKey = SITE_API_KEY.replace(/A/g, 'C');
    await dispatcher.paid(dispatcher.payment(receiver.url));
    await dispatcher.runOnce();

    await dispatcher.secret('site-key 7', SITE_API_KEY, {
      purpose: 'api-key',
      siteId: MERCHANT.siteId,
      primary: false,
      version: 2,
    });
    await dispatcher.secret('site-key-2', secondKey, { purpose: 'api-key', siteId: MERCHANT.siteId });
    await dispatcher.secret('webhook-secret-2', second, { purpose: 'webhook-secret', siteId: MERCHANT.siteId });
    dispatcher.clock.advance(6 * SECOND);
    await dispatcher.runOnce();

    await dispatcher.secret('webhook-secret 7', WEBHOOK_SECRET, {
      purpose: 'webhook-secret',
      siteId: MERCHANT.siteId,
      revoked: true,
      version: 2,
    });
    // An older event that comes late changes nothing.
    await dispatcher.secret('webhook-secret 7', WEBHOOK_SECRET, {
      purpose: 'webhook-secret',
      siteId: MERCHANT.siteId,
      version: 1,
    });
    dispatcher.clock.advance(36 * SECOND);
    await dispatcher.runOnce();

    const [before, during, after] = receiver.received;
    const signed = (received: Received, key: string): boolean =>
      signatureIn(received) === notificationSignature(JSON.parse(received.body), key);
    expect([signed(before!, SITE_API_KEY), signed(during!, secondKey), signed(after!, secondKey)]).toEqual([
      true,
      true,
      true,
    ]);
    expect(verify(before!, WEBHOOK_SECRET)).toEqual(JSON.parse(before!.body));
    expect(() => verify(before!, second)).toThrow('No matching signature');
    expect(verify(during!, WEBHOOK_SECRET)).toEqual(JSON.parse(during!.body));
    expect(verify(during!, second)).toEqual(JSON.parse(during!.body));
    expect(() => verify(after!, WEBHOOK_SECRET)).toThrow('No matching signature');
    expect(verify(after!, second)).toEqual(JSON.parse(after!.body));

    await dispatcher.secret('site-key 7', SITE_API_KEY, { purpose: 'api-key', siteId: MERCHANT.siteId, version: 3 });
    await dispatcher.secret('site-key-2', secondKey, {
      purpose: 'api-key',
      siteId: MERCHANT.siteId,
      primary: false,
      revoked: true,
      version: 2,
    });
    await dispatcher.secret('webhook-secret 7', WEBHOOK_SECRET, {
      purpose: 'webhook-secret',
      siteId: MERCHANT.siteId,
      version: 3,
    });
  });

  it('of the payment’s mode are required: the notification waits without an attempt, and operators see it at once', async () => {
    const error = jest.spyOn(dispatcher.test.service.log, 'error');
    const payment = dispatcher.payment(receiver.url, { mode: 'live' });
    await dispatcher.paid(payment);
    await dispatcher.runOnce();
    expect(receiver.received).toHaveLength(0);
    expect(await dispatcher.rowOf(payment)).toMatchObject({
      state: 'pending',
      tries: 0,
      schedule_position: 0,
      lease_id: null,
    });
    const { id } = await dispatcher.rowOf(payment);
    expect((await dispatcher.admin('GET', `/${id}`)).body).toMatchObject({
      unsignedSince: dispatcher.clock.nowISO(),
      missingKeys: ['api-key', 'webhook-secret'],
    });
    expect((await dispatcher.admin('GET', '?unsigned=true')).body['notifications']).toMatchObject([{ id }]);
    const { countUnsigned } = countersOf(dispatcher);
    expect(await countUnsigned()).toBe(1);
    expect(error).toHaveBeenCalledTimes(1);
    expect(error).toHaveBeenCalledWith(
      expect.objectContaining({ notificationId: id, mode: 'live', missingKeys: ['api-key', 'webhook-secret'] }),
      expect.stringContaining('cannot be signed'),
    );

    const liveKey = SITE_API_KEY.replace('test', 'live');
    const liveSecret = `whsec_${Buffer.alloc(24, 3).toString('base64')}`;
    await dispatcher.secret('live-key', liveKey, { purpose: 'api-key', siteId: MERCHANT.siteId, mode: 'live' });
    dispatcher.clock.advance(1 * SECOND);
    await dispatcher.runOnce();
    expect((await dispatcher.admin('GET', `/${id}`)).body).toMatchObject({
      unsignedSince: dispatcher.clock.later(-1 * SECOND).toISOString(),
      missingKeys: ['webhook-secret'],
    });
    await dispatcher.secret('live-secret', liveSecret, {
      purpose: 'webhook-secret',
      siteId: MERCHANT.siteId,
      mode: 'live',
    });
    dispatcher.clock.advance(1 * SECOND);
    await dispatcher.runOnce();
    expect(verify(receiver.received[0]!, liveSecret)).toMatchObject({ paymentReference: payment.paymentReference });
    expect(signatureIn(receiver.received[0]!)).toBe(
      notificationSignature(JSON.parse(receiver.received[0]!.body), liveKey),
    );
    expect((await dispatcher.admin('GET', `/${id}`)).body).toMatchObject({ unsignedSince: null, missingKeys: null });
    expect((await dispatcher.admin('GET', '?unsigned=true')).body['notifications']).toEqual([]);
    expect(await countUnsigned()).toBe(0);
  });

  it('that are missing are counted by notification, while it is pending or exhausted and not signed', async () => {
    const { countUnsigned } = countersOf(dispatcher);
    const rowsOf = (state: 'success' | 'failed', mode: Mode) => dispatcher.payment(receiver.url, { state, mode });
    receiver.behaves(answers(500));
    const [signed, givenUp, superseded] = [
      rowsOf('success', 'test'),
      rowsOf('success', 'live'),
      rowsOf('failed', 'live'),
    ];
    for (const { secretId, siteId } of [
      { secretId: 'live-key', siteId: MERCHANT.siteId },
      { secretId: 'live-secret', siteId: MERCHANT.siteId },
    ])
      await dispatcher.test.dataSource.query(
        `UPDATE signing_secrets SET revoked = true WHERE secret_id = $1 AND site_id = $2`,
        [secretId, siteId],
      );
    dispatcher.clock.advance(1 * SECOND);
    await dispatcher.paid(signed, givenUp, superseded);
    await dispatcher.runOnce();
    expect((await dispatcher.rowOf(signed)).state).toBe('pending');
    expect(await countUnsigned()).toBe(2);

    // As long as the whole schedule; after that only a replay sends it.
    dispatcher.clock.advance(72 * 3_600 * SECOND);
    await dispatcher.runOnce();
    expect((await dispatcher.rowOf(givenUp)).state).toBe('exhausted');
    expect(await countUnsigned()).toBe(2);

    const { sessionId } = superseded.source;
    await dispatcher.paid(dispatcher.payment(receiver.url, { sessionId, mode: 'test' }));
    expect((await dispatcher.rowOf(superseded)).state).toBe('superseded');
    expect(await countUnsigned()).toBe(1);
  });

  it('are stored encrypted: no table contains a key or secret in clear text', async () => {
    const rows = await dispatcher.test.dataSource.query<{ dump: string }[]>(
      `SELECT string_agg(s::text, '') || (SELECT string_agg(k::text, '') FROM sealing_keys k) AS dump FROM signing_secrets s`,
    );
    expect(rows[0]!.dump).toContain('webhook-secret');
    for (const plain of [SITE_API_KEY, MERCHANT_API_KEY, WEBHOOK_SECRET, '"d":'])
      expect(rows[0]!.dump).not.toContain(plain);
  });
});
