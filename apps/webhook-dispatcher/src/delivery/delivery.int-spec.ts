import { DispatcherUnderTest, MERCHANT_API_KEY, SITE_API_KEY, WEBHOOK_SECRET } from '../../test/dispatcher.js';
import { getBodySignature, Receiver, respondWith, verifyWebhook } from '../../test/receiver.js';
import { notificationSignature } from './sign-notification.js';

const SECOND = 1_000;
const HOUR = 3_600_000;

let dispatcher: DispatcherUnderTest;
let receiver: Receiver;

beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start({ SVC_DELIVERY_TIMEOUT_MS: '400' });
  await dispatcher.deliverDefaultSecrets();
});
afterAll(() => dispatcher.test.stop());
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(() => receiver.stop());

describe('a notification', () => {
  it('is sent three times with the same webhook-id when the responses are 500, 500 and 200', async () => {
    receiver.setBehaviours(respondWith(500), respondWith(500), respondWith(200, {}, 'thank you'));
    const payment = dispatcher.newPayment(receiver.url);
    await dispatcher.deliverPayments(payment);

    expect(await dispatcher.runStep()).toBe(1);
    expect(await dispatcher.runStep()).toBe(0);
    dispatcher.clock.advance(3 * SECOND);
    expect(await dispatcher.runStep()).toBe(0);
    dispatcher.clock.advance(3 * SECOND);
    expect(await dispatcher.runStep()).toBe(1);
    dispatcher.clock.advance(36 * SECOND);
    expect(await dispatcher.runStep()).toBe(1);
    dispatcher.clock.advance(100 * HOUR);
    expect(await dispatcher.runStep()).toBe(0);

    expect(receiver.received).toHaveLength(3);
    const row = await dispatcher.getNotificationRow(payment);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([row.id]));
    const [first, second, third] = receiver.received.map(({ headers }) => Number(headers['webhook-timestamp']));
    expect([second! - first!, third! - second!]).toEqual([6, 36]);
    for (const received of receiver.received) {
      expect(verifyWebhook(received, WEBHOOK_SECRET)).toMatchObject({
        paymentReference: payment.paymentReference,
        paymentStatus: 'Success',
        amount: 12_345,
      });
      expect(received.path).toBe('/hooks?shop=1');
      expect(received.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'Svc-Webhooks/1' });
      expect(received.body).toBe(receiver.received[0]!.body);
    }
    expect(Object.keys(JSON.parse(receiver.received[0]!.body) as object)).toEqual([
      ...['signature', 'sessionId', 'amount', 'currencyISOCode', 'merchantOrderId', 'paymentReference'],
      ...['paymentStatus', 'paymentUTCDate', 'status'],
    ]);
    expect(row).toMatchObject({ state: 'delivered', attempt_count: 3, next_attempt_at: null, lease_id: null });
    expect(await dispatcher.getAttemptRows(payment)).toMatchObject([
      { attempt_number: 1, outcome: 'refused', status_code: 500 },
      { attempt_number: 2, outcome: 'refused', status_code: 500 },
      { attempt_number: 3, outcome: 'acknowledged', status_code: 200, response: 'thank you', error_class: null },
    ]);
  });

  it('is recorded once for each payment, even if the event of the payment is repeated', async () => {
    const payment = dispatcher.newPayment(receiver.url);
    await dispatcher.deliverPayments(payment);
    await dispatcher.deliverPayments(payment);
    expect(await dispatcher.runStep()).toBe(1);
    await dispatcher.deliverPayments(payment);
    expect(await dispatcher.runStep()).toBe(0);
    expect(receiver.received).toHaveLength(1);
  });

  it.each([
    ['v3.1', 'the site', SITE_API_KEY],
    ['v3', 'the merchant', MERCHANT_API_KEY],
  ] as const)('of a session of API version %s is signed with the API key of %s', async (apiVersion, _, apiKey) => {
    await dispatcher.deliverPayments(dispatcher.newPayment(receiver.url, { apiVersion }));
    await dispatcher.runStep();
    const received = receiver.received[0]!;
    expect(getBodySignature(received)).toBe(notificationSignature(JSON.parse(received.body), apiKey));
  });

  it('is exhausted after twelve attempts, and remains in the database', async () => {
    receiver.setBehaviours(respondWith(500));
    const payment = dispatcher.newPayment(receiver.url);
    await dispatcher.deliverPayments(payment);
    for (let i = 0; i < 12; i++) {
      expect(await dispatcher.runStep()).toBe(1);
      // Longer than the longest wait of the schedule, which is 24 hours with a jitter of 20 %.
      dispatcher.clock.advance(29 * HOUR);
    }
    expect(await dispatcher.runStep()).toBe(0);
    expect(await dispatcher.getNotificationRow(payment)).toMatchObject({
      state: 'exhausted',
      attempt_count: 12,
      next_attempt_at: null,
    });
    expect(receiver.received).toHaveLength(12);
  });

  it('is not sent again after a 410', async () => {
    receiver.setBehaviours(respondWith(410));
    const payment = dispatcher.newPayment(receiver.url);
    await dispatcher.deliverPayments(payment);
    await dispatcher.runStep();
    dispatcher.clock.advance(100 * HOUR);
    expect(await dispatcher.runStep()).toBe(0);
    expect(await dispatcher.getNotificationRow(payment)).toMatchObject({ state: 'gone', attempt_count: 1 });
  });

  it.each([429, 503])('is retried after the time in the Retry-After header of a %i response', async (statusCode) => {
    receiver.setBehaviours(respondWith(statusCode, { 'retry-after': '90' }), respondWith(204));
    const payment = dispatcher.newPayment(receiver.url);
    await dispatcher.deliverPayments(payment);
    await dispatcher.runStep();
    dispatcher.clock.advance(89 * SECOND);
    expect(await dispatcher.runStep()).toBe(0);
    dispatcher.clock.advance(1 * SECOND);
    expect(await dispatcher.runStep()).toBe(1);
    expect((await dispatcher.getNotificationRow(payment)).state).toBe('delivered');
  });

  it('is not sent to the target of a redirect', async () => {
    const redirectTarget = await Receiver.start();
    receiver.setBehaviours(respondWith(307, { location: redirectTarget.url }));
    const payment = dispatcher.newPayment(receiver.url);
    await dispatcher.deliverPayments(payment);
    await dispatcher.runStep();
    expect(redirectTarget.received).toHaveLength(0);
    expect(await dispatcher.getAttemptRows(payment)).toMatchObject([{ outcome: 'refused', status_code: 307 }]);
    expect((await dispatcher.getNotificationRow(payment)).state).toBe('pending');
    await redirectTarget.stop();
    await cancelPending();
  });

  it('is delivered when the response has status 200 and a body that is too large, and the connection is closed', async () => {
    let closed: Promise<boolean> | undefined;
    receiver.setBehaviours((response) => {
      let isOpen = true;
      closed = new Promise((resolve) => response.on('close', () => resolve((isOpen = false))));
      const writeChunk = (): void => {
        if (isOpen) response.write('x'.repeat(16_384), () => setImmediate(writeChunk));
      };
      response.writeHead(200);
      writeChunk();
    });
    const payment = dispatcher.newPayment(receiver.url);
    await dispatcher.deliverPayments(payment);
    await dispatcher.runStep();
    await closed;
    expect((await dispatcher.getNotificationRow(payment)).state).toBe('delivered');
    const [attempt] = await dispatcher.getAttemptRows(payment);
    expect(attempt).toMatchObject({
      outcome: 'acknowledged',
      status_code: 200,
      error_class: 'response-too-large',
      response: 'x'.repeat(2_000),
    });
  });

  it.each([
    ['never responds', () => undefined, { outcome: 'unanswered', status_code: null, error_class: 'timeout' }],
    [
      'never ends its response',
      (response: import('node:http').ServerResponse) => response.writeHead(500).write('a\0b'),
      { outcome: 'refused', status_code: 500, error_class: 'timeout', response: 'a\ufffdb' },
    ],
    [
      'closes the connection',
      (response: import('node:http').ServerResponse) => response.destroy(),
      { outcome: 'unanswered', error_class: 'connection-reset' },
    ],
    [
      'responds with headers that are too large',
      (response: import('node:http').ServerResponse) => response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end(),
      { outcome: 'unanswered', error_class: 'response-headers-too-large' },
    ],
  ] as const)('is retried when the endpoint %s', async (_, behaviour, attempt) => {
    receiver.setBehaviours(behaviour, respondWith(200));
    const payment = dispatcher.newPayment(receiver.url);
    await dispatcher.deliverPayments(payment);
    await dispatcher.runStep();
    const [firstAttempt] = await dispatcher.getAttemptRows(payment);
    expect(firstAttempt).toMatchObject(attempt);
    expect(firstAttempt!.duration_ms).toBeLessThan(2_000);
    dispatcher.clock.advance(6 * SECOND);
    await dispatcher.runStep();
    expect((await dispatcher.getNotificationRow(payment)).state).toBe('delivered');
  });

  it('is retried when no server listens', async () => {
    const stoppedReceiver = await Receiver.start();
    const { url } = stoppedReceiver;
    await stoppedReceiver.stop();
    const payment = dispatcher.newPayment(url);
    await dispatcher.deliverPayments(payment);
    await dispatcher.runStep();
    expect(await dispatcher.getAttemptRows(payment)).toMatchObject([
      { outcome: 'unanswered', error_class: 'connection-refused' },
    ]);
    await cancelPending();
  });

  it('is not sent to a forbidden address, and the rejected address counts as an attempt', async () => {
    for (const [url, errorClass] of [
      ['http://10.0.0.1/hooks', 'address-refused:private'],
      ['https://169.254.169.254/latest', 'address-refused:link-local'],
      ['no address', 'address-refused:unreadable'],
    ] as const) {
      const payment = dispatcher.newPayment(url);
      await dispatcher.deliverPayments(payment);
      await dispatcher.runStep();
      expect(await dispatcher.getAttemptRows(payment)).toMatchObject([
        { outcome: 'unanswered', status_code: null, error_class: errorClass },
      ]);
      expect(await dispatcher.getNotificationRow(payment)).toMatchObject({ state: 'pending', attempt_count: 1 });
    }
    await cancelPending();
  });
});

/** Sets pending notifications to gone, so that the next test does not send them. */
async function cancelPending(): Promise<void> {
  await dispatcher.test.dataSource.query(
    `UPDATE notifications SET state = 'gone', next_attempt_at = NULL WHERE state = 'pending'`,
  );
}
