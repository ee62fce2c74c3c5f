import { randomUUID } from 'node:crypto';
import { type HostedPaymentSnapshot, type PaymentNotification, type PaymentSnapshot } from '@svc/contracts';
import { buildPaymentNotification, newUuidAt } from '@svc/kernel';
import { aPayment as newPartnerPayment, disputeOf, refundOf } from '@svc/testing';
import { DispatcherUnderTest, SITE_API_KEY, WEBHOOK_SECRET } from '../../test/dispatcher.js';
import { type ReceivedRequest, Receiver, respondWith, verifyWebhook } from '../../test/receiver.js';

let dispatcher: DispatcherUnderTest;
let sessionEndpoint: Receiver;
let siteEndpoint: Receiver;
let site: { merchantId: number; siteId: number };
let lastId = 100;

beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
});
afterAll(() => dispatcher.test.stop());
beforeEach(async () => {
  [sessionEndpoint, siteEndpoint] = await Promise.all([Receiver.start(), Receiver.start()]);
  site = await createSite();
});
afterEach(() => Promise.all([sessionEndpoint.stop(), siteEndpoint.stop()]));

/** Creates a new merchant and its site, with signing keys and an enabled webhook. */
async function createSite(): Promise<typeof site> {
  const siteIds = { merchantId: ++lastId, siteId: ++lastId };
  const { siteId, merchantId } = siteIds;
  await dispatcher.deliverSecret(`key ${siteId}`, SITE_API_KEY, { purpose: 'api-key', siteId, merchantId });
  await dispatcher.deliverSecret(`secret ${siteId}`, WEBHOOK_SECRET, { purpose: 'webhook-secret', siteId, merchantId });
  await dispatcher.deliverSite({ ...siteIds, webhookUrl: siteEndpoint.url, webhookEnabled: true });
  return siteIds;
}

const newHostedPayment = (options: Parameters<DispatcherUnderTest['newPayment']>[1] = {}): HostedPaymentSnapshot => ({
  ...dispatcher.newPayment(sessionEndpoint.url, options),
  ...site,
});
const newInvoicePayment = (): PaymentSnapshot => newPartnerPayment(randomUUID(), 'customer-1', site);
const withReversal = (payment: PaymentSnapshot): PaymentSnapshot => ({
  ...payment,
  reversedUTCDate: '2026-03-01T10:05:00.000Z',
});

async function sendAll(): Promise<void> {
  while ((await dispatcher.runStep()) > 0);
}

const readNotification = ({ body }: ReceivedRequest): PaymentNotification => JSON.parse(body) as PaymentNotification;
const webhookIdOf = ({ headers }: ReceivedRequest): unknown => headers['webhook-id'];

// A Success is the notification of a successful payment, a Failed is the notification of a failed payment.
describe('the webhook of a site (M6)', () => {
  it('receives final payments of sessions and of invoices, with a signature only in the headers (E4)', async () => {
    const payments = [newHostedPayment(), newInvoicePayment()];
    await dispatcher.deliverPayments(...payments);
    await sendAll();
    expect(siteEndpoint.received).toHaveLength(2);
    for (const payment of payments) {
      const { id, notification } = buildPaymentNotification(payment);
      const received = siteEndpoint.received.find((request) => webhookIdOf(request) === id)!;
      expect(verifyWebhook(received, WEBHOOK_SECRET)).toEqual(notification);
      expect(notification).toMatchObject({ type: 'payment', status: 1, paymentReference: payment.paymentReference });
    }
  });

  it('receives the members of a payment, of a refund and of a dispute in a fixed order', async () => {
    const payment = newInvoicePayment();
    await dispatcher.deliverPayments(payment);
    await dispatcher.test.deliver(refundOf(payment));
    await dispatcher.test.deliver(disputeOf(payment));
    await sendAll();
    const members = [
      ...['type', 'invoiceReference', 'invoiceExternalReference', 'currencyISOCode', 'invoicedAmount'],
      ...['paymentReference', 'paymentUTCDate', 'tipAmount', 'tenderedAmount', 'siteReference', 'status', 'vouchers'],
      ...['customer', 'siteId'],
    ];
    const bodies = siteEndpoint.received.map(readNotification).toSorted((a, b) => a.type.localeCompare(b.type));
    expect(bodies.map((body) => Object.keys(body))).toEqual([[...members, 'dispute'], members, [...members, 'refund']]);
    expect(Object.keys((bodies[0] as unknown as { dispute: object }).dispute)).toEqual([
      ...['disputeReference', 'stage', 'amount', 'reason', 'respondByUTCDate', 'createdUTCDate'],
    ]);
    expect(Object.keys((bodies[2] as unknown as { refund: object }).refund)).toEqual([
      ...['refundReference', 'amount', 'status', 'createdUTCDate'],
    ]);
  });

  it("does not change the session's notification, which has the same webhook-id (E2, E8)", async () => {
    const payment = newHostedPayment();
    await dispatcher.deliverPayments(payment);
    await sendAll();
    expect(sessionEndpoint.received).toHaveLength(1);
    expect(verifyWebhook(sessionEndpoint.received[0]!, WEBHOOK_SECRET)).toMatchObject({
      signature: expect.any(String) as string,
      sessionId: payment.source.sessionId,
      paymentStatus: 'Success',
    });
    expect(webhookIdOf(sessionEndpoint.received[0]!)).toBe(webhookIdOf(siteEndpoint.received[0]!));
  });

  it('receives each Failed of a session, although the session’s notificationUrl receives none after the Success (E2)', async () => {
    const sessionId = randomUUID();
    const payments = [
      newHostedPayment({ sessionId, state: 'failed' }),
      newHostedPayment({ sessionId }),
      newHostedPayment({ sessionId, state: 'failed' }),
    ];
    await dispatcher.deliverPayments(payments[0]!);
    await dispatcher.deliverPayments(payments[1]!);
    await dispatcher.deliverPayments(payments[2]!);
    await sendAll();
    expect(sessionEndpoint.paymentStatuses).toEqual(['Success']);
    const receivedReferences = siteEndpoint.received.map((request) => readNotification(request).paymentReference);
    expect(receivedReferences.toSorted()).toEqual(payments.map(({ paymentReference }) => paymentReference).toSorted());
    expect(siteEndpoint.received.map((request) => readNotification(request).status).toSorted()).toEqual([1, 2, 2]);
  });

  it('receives the Success while a Failed of its session is being sent', async () => {
    const sessionId = randomUUID();
    await dispatcher.deliverPayments(newHostedPayment({ sessionId, state: 'failed' }), newHostedPayment({ sessionId }));
    await dispatcher.test.dataSource.query(
      `UPDATE notifications SET lease_id = $1, leased_until = $2 WHERE site_id = $3 AND payment_status = 'Failed'`,
      [randomUUID(), dispatcher.clock.later(30_000), site.siteId],
    );
    await sendAll();
    expect(siteEndpoint.received.map((request) => readNotification(request).status)).toEqual([1]);
  });

  it('receives a reversal once, as a refund, but the session’s notificationUrl does not receive it (H2)', async () => {
    const payment = newHostedPayment({ state: 'failed' });
    const reversed = withReversal(payment);
    await dispatcher.deliverReversal(reversed);
    await dispatcher.deliverPayments(payment);
    await sendAll();
    await dispatcher.deliverReversal(reversed);
    await dispatcher.deliverReversal(reversed);
    await sendAll();
    expect(siteEndpoint.received).toHaveLength(2);
    const refunds = siteEndpoint.received.filter((request) => readNotification(request).type === 'refund');
    const { id, notification } = buildPaymentNotification(reversed);
    expect(refunds.map(webhookIdOf)).toEqual([id]);
    expect(verifyWebhook(refunds[0]!, WEBHOOK_SECRET)).toEqual(notification);
    expect(sessionEndpoint.paymentStatuses).toEqual(['Failed']);
  });

  it('receives each reversal of a failed payment, but no reversal of a duplicate charge of a successful payment', async () => {
    const [failed, paid] = [newHostedPayment({ state: 'failed' }), newHostedPayment()];
    const refunds = [withReversal(failed), { ...failed, reversedUTCDate: '2026-03-01T10:06:00.000Z' }];
    await dispatcher.deliverReversal(refunds[0]!);
    await dispatcher.deliverReversal(refunds[1]!);
    await dispatcher.deliverReversal(withReversal(paid));
    await sendAll();
    expect(siteEndpoint.received.map(webhookIdOf).toSorted()).toEqual(
      refunds.map((payment) => buildPaymentNotification(payment).id).toSorted(),
    );
  });

  it('receives each succeeded or failed refund once, but the session’s notificationUrl does not receive it (M6)', async () => {
    const payment = newHostedPayment();
    await dispatcher.deliverPayments(payment);
    const refunds = [refundOf(payment), refundOf(payment), refundOf(payment, { status: 'failed' })];
    for (const event of [...refunds, ...refunds]) {
      await dispatcher.test.deliver(event);
      await sendAll();
    }
    const received = siteEndpoint.received.filter((request) => readNotification(request).type === 'refund');
    expect(received.map(webhookIdOf).toSorted()).toEqual(refunds.map(({ aggregateId }) => aggregateId).toSorted());
    for (const request of received) {
      const { payload } = refunds.find(({ aggregateId }) => aggregateId === webhookIdOf(request))!;
      const { notification } = buildPaymentNotification(payload);
      expect(verifyWebhook(request, WEBHOOK_SECRET)).toEqual(notification);
      expect(notification).toMatchObject({ status: 1, tenderedAmount: 12_345, refund: payload.refund });
    }
    expect(sessionEndpoint.paymentStatuses).toEqual(['Success']);
    expect(siteEndpoint.received).toHaveLength(4);
  });

  it('receives each change of a dispute once, but the session’s notificationUrl does not receive it (M8)', async () => {
    const payment = newHostedPayment();
    await dispatcher.deliverPayments(payment);
    const opened = disputeOf(payment, { stage: 'opened' });
    const { disputeReference } = opened.payload.dispute;
    const changeReference = newUuidAt(new Date('2026-03-01T10:07:00.000Z'));
    const changedUTCDate = '2026-03-01T10:07:00.000Z';
    const debited = disputeOf(payment, { disputeReference, changeReference, changedUTCDate }, 2);
    for (const event of [debited, opened, opened, debited]) {
      await dispatcher.test.deliver(event);
      await sendAll();
    }
    const received = siteEndpoint.received.filter((request) => readNotification(request).type === 'dispute');
    expect(received.map(webhookIdOf)).toEqual([debited, opened].map(({ payload }) => payload.dispute.changeReference));
    const { changeReference: _, changedUTCDate: __, ...dispute } = debited.payload.dispute;
    const { notification } = buildPaymentNotification(payment);
    expect(verifyWebhook(received[0]!, WEBHOOK_SECRET)).toEqual({ ...notification, type: 'dispute', dispute });
    expect(sessionEndpoint.paymentStatuses).toEqual(['Success']);
    expect(siteEndpoint.received).toHaveLength(3);
  });

  it('receives a payment once, even if its event is repeated, and even if the URL has changed meanwhile', async () => {
    const payments = [newHostedPayment(), newHostedPayment({ state: 'failed' }), newInvoicePayment()];
    await dispatcher.deliverPayments(...payments);
    await dispatcher.deliverPayments(...payments, ...payments);
    await sendAll();
    await dispatcher.deliverSite({ ...site, webhookUrl: `${siteEndpoint.url}&moved=1`, webhookEnabled: true }, 2);
    await dispatcher.deliverPayments(...payments);
    await sendAll();
    expect(siteEndpoint.received).toHaveLength(3);
    expect(sessionEndpoint.received).toHaveLength(2);
  });
});

describe('the webhook of a site', () => {
  it('does not receive payments that are recorded while it is disabled, but still receives earlier notifications', async () => {
    const before = newHostedPayment();
    await dispatcher.deliverPayments(before);
    await dispatcher.deliverSite({ ...site, webhookUrl: siteEndpoint.url, webhookEnabled: false }, 2);
    await dispatcher.deliverPayments(newHostedPayment(), newInvoicePayment());
    await dispatcher.deliverReversal(withReversal(newHostedPayment({ state: 'failed' })));
    await sendAll();
    expect(siteEndpoint.received.map((request) => readNotification(request).paymentReference)).toEqual([
      before.paymentReference,
    ]);
    expect(sessionEndpoint.received).toHaveLength(2);
  });

  it('does not receive payments of another site, or of another merchant with the same site id', async () => {
    const otherSite = { merchantId: site.merchantId, siteId: ++lastId };
    await dispatcher.deliverSite({ ...otherSite });
    await dispatcher.deliverPayments(
      { ...newInvoicePayment(), ...otherSite },
      { ...newInvoicePayment(), merchantId: ++lastId },
    );
    await sendAll();
    // The dispatcher creates no notification at all: none of them waits for a secret.
    const { dataSource } = dispatcher.test;
    expect(await dataSource.query(`SELECT id FROM notifications WHERE url = $1`, [siteEndpoint.url])).toEqual([]);
  });

  it('receives only payments that are recorded after it was enabled, even if an older event of the site arrives later', async () => {
    const { merchantId } = site;
    const newSite = { merchantId, siteId: ++lastId };
    const secret = { purpose: 'webhook-secret', ...newSite } as const;
    await dispatcher.deliverSecret(`secret ${newSite.siteId}`, WEBHOOK_SECRET, secret);
    await dispatcher.deliverSite(newSite);
    await dispatcher.deliverPayments({ ...newInvoicePayment(), ...newSite });
    await dispatcher.deliverSite({ ...newSite, webhookUrl: siteEndpoint.url, webhookEnabled: true }, 3);
    await dispatcher.deliverSite(newSite, 2);
    const payment = { ...newInvoicePayment(), ...newSite };
    await dispatcher.deliverPayments(payment);
    await sendAll();
    expect(siteEndpoint.received.map((request) => readNotification(request).paymentReference)).toEqual([
      payment.paymentReference,
    ]);
  });
});

describe('the signature of a site’s notification', () => {
  it('requires a webhook secret, but no API key', async () => {
    const siteWithoutKeys = { merchantId: ++lastId, siteId: ++lastId };
    await dispatcher.deliverSite({ ...siteWithoutKeys, webhookUrl: siteEndpoint.url, webhookEnabled: true });
    const payment = { ...newInvoicePayment(), ...siteWithoutKeys };
    await dispatcher.deliverPayments(payment);
    await sendAll();
    const { body } = await dispatcher.requestAdmin('GET', `?merchantId=${siteWithoutKeys.merchantId}&unsigned=true`);
    expect(body['notifications']).toMatchObject([{ recipient: 'site', missingKeys: ['webhook-secret'] }]);

    await dispatcher.deliverSecret(`secret ${siteWithoutKeys.siteId}`, WEBHOOK_SECRET, {
      purpose: 'webhook-secret',
      ...siteWithoutKeys,
    });
    dispatcher.clock.advance(600_000);
    await sendAll();
    expect(verifyWebhook(siteEndpoint.received[0]!, WEBHOOK_SECRET)).toEqual(
      buildPaymentNotification(payment).notification,
    );
  });

  it("uses the webhook secret of the payment's mode (A6)", async () => {
    const liveSecret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
    await dispatcher.deliverSecret(`live ${site.siteId}`, liveSecret, {
      purpose: 'webhook-secret',
      mode: 'live',
      ...site,
    });
    await dispatcher.deliverPayments({ ...newInvoicePayment(), mode: 'live' });
    await sendAll();
    expect(verifyWebhook(siteEndpoint.received[0]!, liveSecret)).toMatchObject({ type: 'payment' });
    expect(() => verifyWebhook(siteEndpoint.received[0]!, WEBHOOK_SECRET)).toThrow('No matching signature');
  });
});

describe('a site’s notification', () => {
  it('is retried with the same id and body until it is acknowledged, and delays no other endpoint (E5, E6, E8)', async () => {
    siteEndpoint.setBehaviours(respondWith(500), respondWith(200));
    await dispatcher.deliverPayments(newHostedPayment());
    await dispatcher.runStep();
    expect(sessionEndpoint.received).toHaveLength(1);
    dispatcher.clock.advance(6_000);
    await sendAll();
    const [first, second] = siteEndpoint.received;
    expect([webhookIdOf(second!), second!.body]).toEqual([webhookIdOf(first!), first!.body]);
    expect(siteEndpoint.received).toHaveLength(2);
    expect(sessionEndpoint.received).toHaveLength(1);
  });

  it('is shown to administrators and can be replayed, even if its payment failed and its session was paid later', async () => {
    const sessionId = randomUUID();
    const failed = newHostedPayment({ sessionId, state: 'failed' });
    await dispatcher.deliverPayments(failed, newHostedPayment({ sessionId }));
    await sendAll();
    const { body } = await dispatcher.requestAdmin('GET', `?merchantId=${site.merchantId}`);
    const listed = (body['notifications'] as Record<string, unknown>[]).filter(
      ({ paymentReference }) => paymentReference === failed.paymentReference,
    );
    const { id: webhookId, notification } = buildPaymentNotification(failed);
    const bySession = listed.find(({ recipient }) => recipient === 'session')!;
    const bySite = listed.find(({ recipient }) => recipient === 'site')!;
    expect(bySession).toMatchObject({ id: webhookId, webhookId, sessionId, type: 'payment', state: 'superseded' });
    expect(bySite).toMatchObject({ webhookId, sessionId: null, apiVersion: null, type: 'payment', state: 'delivered' });
    expect(bySite['id']).not.toBe(webhookId);

    const details = await dispatcher.requestAdmin('GET', `/${String(bySite['id'])}`);
    expect(details.body).toMatchObject({
      url: siteEndpoint.url,
      fields: notification,
      attempts: [{ outcome: 'acknowledged' }],
    });
    expect((await dispatcher.requestAdmin('POST', `/${String(bySite['id'])}/replay`)).status).toBe(202);
    await sendAll();
    const since = '2026-01-01T00:00:00Z';
    // The Failed of the session is skipped, because it is superseded.
    const { body: page } = await dispatcher.requestReplays({ merchantId: site.merchantId, since });
    expect(page).toEqual({ replayed: 3, skipped: 1, after: null });
    await sendAll();
    expect(siteEndpoint.received.filter((request) => webhookIdOf(request) === webhookId)).toHaveLength(3);
  });
});

test('a notification has the same body when it is sent immediately and when a worker leases it later', async () => {
  const sendingDispatcher = await DispatcherUnderTest.start({ SVC_DELIVERY: 'on', SVC_DELIVERY_POLL_MS: '60000' });
  try {
    await sendingDispatcher.deliverSecret('secret', WEBHOOK_SECRET, { purpose: 'webhook-secret', ...site });
    await sendingDispatcher.deliverSite({ ...site, webhookUrl: siteEndpoint.url, webhookEnabled: true });
    const payment = newInvoicePayment();
    const arrived = siteEndpoint.nextRequest();
    await sendingDispatcher.deliverPayments(payment);
    await arrived;
    await dispatcher.deliverPayments(payment);
    await sendAll();
    const [first, second] = siteEndpoint.received;
    expect([webhookIdOf(second!), second!.body]).toEqual([webhookIdOf(first!), first!.body]);
  } finally {
    await sendingDispatcher.test.stop();
  }
});
