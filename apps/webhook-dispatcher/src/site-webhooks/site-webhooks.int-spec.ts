import { randomUUID } from 'node:crypto';
import { type HostedPaymentSnapshot, type PaymentNotice, type PaymentSnapshot } from '@svc/contracts';
import { noticeOf } from '@svc/kernel';
import { aPayment as aPartnersPayment, refundOf } from '@svc/testing';
import { DispatcherUnderTest, SITE_API_KEY, WEBHOOK_SECRET } from '../../test/dispatcher.js';
import { respondWith, type ReceivedRequest, Receiver, verifyWebhook } from '../../test/receiver.js';

let dispatcher: DispatcherUnderTest;
let shop: Receiver;
let backOffice: Receiver;
let site: { merchantId: number; siteId: number };
let numbers = 100;

beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
});
afterAll(() => dispatcher.test.stop());
beforeEach(async () => {
  [shop, backOffice] = await Promise.all([Receiver.start(), Receiver.start()]);
  site = await newSite();
});
afterEach(() => Promise.all([shop.stop(), backOffice.stop()]));

/** Of a merchant of its own, with the keys that notifications of sessions need, and its webhook enabled. */
async function newSite(): Promise<typeof site> {
  const made = { merchantId: ++numbers, siteId: ++numbers };
  const { siteId, merchantId } = made;
  await dispatcher.deliverSecret(`key ${siteId}`, SITE_API_KEY, { purpose: 'api-key', siteId, merchantId });
  await dispatcher.deliverSecret(`secret ${siteId}`, WEBHOOK_SECRET, { purpose: 'webhook-secret', siteId, merchantId });
  await dispatcher.deliverSite({ ...made, webhookUrl: backOffice.url, webhookEnabled: true });
  return made;
}

const hosted = (change: Parameters<DispatcherUnderTest['newPayment']>[1] = {}): HostedPaymentSnapshot => ({
  ...dispatcher.newPayment(shop.url, change),
  ...site,
});
const ofInvoice = (): PaymentSnapshot => aPartnersPayment(randomUUID(), 'customer-1', site);
const reversalOf = (payment: PaymentSnapshot): PaymentSnapshot => ({
  ...payment,
  reversedUTCDate: '2026-03-01T10:05:00.000Z',
});

async function sendAll(): Promise<void> {
  while ((await dispatcher.runOnce()) > 0);
}

const noticeIn = ({ body }: ReceivedRequest): PaymentNotice => JSON.parse(body) as PaymentNotice;
const idOf = ({ headers }: ReceivedRequest): unknown => headers['webhook-id'];

describe('the webhook of a site (M6)', () => {
  it('receives each final payment, hosted or not, signed in the headers alone (E4)', async () => {
    const payments = [hosted(), ofInvoice()];
    await dispatcher.deliverPayments(...payments);
    await sendAll();
    expect(backOffice.received).toHaveLength(2);
    for (const payment of payments) {
      const { id, notice } = noticeOf(payment, 'SHOP-1');
      const received = backOffice.received.find((one) => idOf(one) === id)!;
      expect(verifyWebhook(received, WEBHOOK_SECRET)).toEqual(notice);
      expect(notice).toMatchObject({ type: 'payment', status: 1, paymentReference: payment.paymentReference });
    }
  });

  it("leaves the session's notification as it is: its address, its body, the same webhook-id (E2, E8)", async () => {
    const payment = hosted();
    await dispatcher.deliverPayments(payment);
    await sendAll();
    expect(shop.received).toHaveLength(1);
    expect(verifyWebhook(shop.received[0]!, WEBHOOK_SECRET)).toMatchObject({
      signature: expect.any(String) as string,
      sessionId: payment.source.sessionId,
      paymentStatus: 'Success',
    });
    expect(idOf(shop.received[0]!)).toBe(idOf(backOffice.received[0]!));
  });

  it('shows the till of the site where the event of an earlier release has none', async () => {
    await dispatcher.deliverPayments(hosted());
    await sendAll();
    expect(noticeIn(backOffice.received[0]!).siteReference).toBe('SHOP-1');
  });

  it('receives a Failed before and after the Success of its session; the session no Failed after it (E2)', async () => {
    const sessionId = randomUUID();
    const payments = [
      hosted({ sessionId, state: 'failed' }),
      hosted({ sessionId }),
      hosted({ sessionId, state: 'failed' }),
    ];
    await dispatcher.deliverPayments(payments[0]!);
    await dispatcher.deliverPayments(payments[1]!);
    await dispatcher.deliverPayments(payments[2]!);
    await sendAll();
    expect(shop.paymentStatuses).toEqual(['Success']);
    const told = backOffice.received.map((one) => noticeIn(one).paymentReference);
    expect(told.toSorted()).toEqual(payments.map(({ paymentReference }) => paymentReference).toSorted());
    expect(backOffice.received.map((one) => noticeIn(one).status).toSorted()).toEqual([1, 2, 2]);
  });

  it('receives the Success while a Failed of its session is being sent', async () => {
    const sessionId = randomUUID();
    await dispatcher.deliverPayments(hosted({ sessionId, state: 'failed' }), hosted({ sessionId }));
    await dispatcher.test.dataSource.query(
      `UPDATE notifications SET lease_id = $1, leased_until = $2 WHERE site_id = $3 AND payment_status = 'Failed'`,
      [randomUUID(), dispatcher.clock.later(30_000), site.siteId],
    );
    await sendAll();
    expect(backOffice.received.map((one) => noticeIn(one).status)).toEqual([1]);
  });

  it('receives a reversal as a refund once, however often its event arrives; the session does not (H2)', async () => {
    const payment = hosted({ state: 'failed' });
    const reversed = reversalOf(payment);
    await dispatcher.deliverReversal(reversed);
    await dispatcher.deliverPayments(payment);
    await sendAll();
    await dispatcher.deliverReversal(reversed);
    await dispatcher.deliverReversal(reversed);
    await sendAll();
    expect(backOffice.received).toHaveLength(2);
    const refunds = backOffice.received.filter((one) => noticeIn(one).type === 'refund');
    const { id, notice } = noticeOf(reversed, 'SHOP-1');
    expect(refunds.map(idOf)).toEqual([id]);
    expect(verifyWebhook(refunds[0]!, WEBHOOK_SECRET)).toEqual(notice);
    expect(shop.paymentStatuses).toEqual(['Failed']);
  });

  it('receives each refund of a payment, and none for a returned duplicate charge', async () => {
    const [failed, paid] = [hosted({ state: 'failed' }), hosted()];
    const refunds = [reversalOf(failed), { ...failed, reversedUTCDate: '2026-03-01T10:06:00.000Z' }];
    await dispatcher.deliverReversal(refunds[0]!);
    await dispatcher.deliverReversal(refunds[1]!);
    await dispatcher.deliverReversal(reversalOf(paid));
    await sendAll();
    expect(backOffice.received.map(idOf).toSorted()).toEqual(refunds.map((one) => noticeOf(one).id).toSorted());
  });

  it('receives each refund that ended once, succeeded or failed, however often its event arrives; the session none (M6)', async () => {
    const payment = hosted();
    await dispatcher.deliverPayments(payment);
    const refunds = [refundOf(payment), refundOf(payment), refundOf(payment, { status: 'failed' })];
    for (const event of [...refunds, ...refunds]) {
      await dispatcher.test.deliver(event);
      await sendAll();
    }
    const received = backOffice.received.filter((one) => noticeIn(one).type === 'refund');
    expect(received.map(idOf).toSorted()).toEqual(refunds.map(({ aggregateId }) => aggregateId).toSorted());
    for (const one of received) {
      const { payload } = refunds.find(({ aggregateId }) => aggregateId === idOf(one))!;
      const { notice } = noticeOf(payload, 'SHOP-1');
      expect(verifyWebhook(one, WEBHOOK_SECRET)).toEqual(notice);
      expect(notice).toMatchObject({ status: 1, tenderedAmount: 12_345, refund: payload.refund });
    }
    expect(shop.paymentStatuses).toEqual(['Success']);
    expect(backOffice.received).toHaveLength(4);
  });

  it('stays as it is when a release that does not know it changes the site', async () => {
    await dispatcher.deliverSite(site, 2);
    await dispatcher.deliverPayments(hosted());
    await sendAll();
    expect(backOffice.received).toHaveLength(1);
  });

  it('receives a payment once however often its event arrives, also when the address has changed since', async () => {
    const payments = [hosted(), hosted({ state: 'failed' }), ofInvoice()];
    await dispatcher.deliverPayments(...payments);
    await dispatcher.deliverPayments(...payments, ...payments);
    await sendAll();
    await dispatcher.deliverSite({ ...site, webhookUrl: `${backOffice.url}&moved=1`, webhookEnabled: true }, 2);
    await dispatcher.deliverPayments(...payments);
    await sendAll();
    expect(backOffice.received).toHaveLength(3);
    expect(shop.received).toHaveLength(2);
  });
});

describe('no webhook receives', () => {
  it('a payment recorded while it is disabled; what was recorded before is still sent', async () => {
    const before = hosted();
    await dispatcher.deliverPayments(before);
    await dispatcher.deliverSite({ ...site, webhookUrl: backOffice.url, webhookEnabled: false }, 2);
    await dispatcher.deliverPayments(hosted(), ofInvoice());
    await dispatcher.deliverReversal(reversalOf(hosted({ state: 'failed' })));
    await sendAll();
    expect(backOffice.received.map((one) => noticeIn(one).paymentReference)).toEqual([before.paymentReference]);
    expect(shop.received).toHaveLength(2);
  });

  it('a payment of another site, nor one of another merchant under the number of this site', async () => {
    const other = { merchantId: site.merchantId, siteId: ++numbers };
    await dispatcher.deliverSite({ ...other });
    await dispatcher.deliverPayments({ ...ofInvoice(), ...other }, { ...ofInvoice(), merchantId: ++numbers });
    await sendAll();
    // Not even one that waits for a secret of that site.
    const { dataSource } = dispatcher.test;
    expect(await dataSource.query(`SELECT id FROM notifications WHERE url = $1`, [backOffice.url])).toEqual([]);
  });

  it('a payment of a site whose event an earlier release wrote, until a newer version enables it', async () => {
    const { merchantId } = site;
    const old = { merchantId, siteId: ++numbers };
    const secret = { purpose: 'webhook-secret', ...old } as const;
    await dispatcher.deliverSecret(`secret ${old.siteId}`, WEBHOOK_SECRET, secret);
    await dispatcher.deliverSite(old);
    await dispatcher.deliverPayments({ ...ofInvoice(), ...old });
    await dispatcher.deliverSite({ ...old, webhookUrl: backOffice.url, webhookEnabled: true }, 3);
    // A late older event changes nothing.
    await dispatcher.deliverSite(old, 2);
    const payment = { ...ofInvoice(), ...old };
    await dispatcher.deliverPayments(payment);
    await sendAll();
    expect(backOffice.received.map((one) => noticeIn(one).paymentReference)).toEqual([payment.paymentReference]);
  });
});

describe('the signature of a notice', () => {
  it('needs no API key, and waits for a webhook secret', async () => {
    const keyless = { merchantId: ++numbers, siteId: ++numbers };
    await dispatcher.deliverSite({ ...keyless, webhookUrl: backOffice.url, webhookEnabled: true });
    const payment = { ...ofInvoice(), ...keyless };
    await dispatcher.deliverPayments(payment);
    await sendAll();
    const { body } = await dispatcher.requestAdmin('GET', `?merchantId=${keyless.merchantId}&unsigned=true`);
    expect(body['notifications']).toMatchObject([{ recipient: 'site', missingKeys: ['webhook-secret'] }]);

    await dispatcher.deliverSecret(`secret ${keyless.siteId}`, WEBHOOK_SECRET, { purpose: 'webhook-secret', ...keyless });
    dispatcher.clock.advance(600_000);
    await sendAll();
    expect(verifyWebhook(backOffice.received[0]!, WEBHOOK_SECRET)).toEqual(noticeOf(payment).notice);
  });

  it("is made with the secret of the payment's mode (A6)", async () => {
    const live = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
    await dispatcher.deliverSecret(`live ${site.siteId}`, live, { purpose: 'webhook-secret', mode: 'live', ...site });
    await dispatcher.deliverPayments({ ...ofInvoice(), mode: 'live' });
    await sendAll();
    expect(verifyWebhook(backOffice.received[0]!, live)).toMatchObject({ type: 'payment' });
    expect(() => verifyWebhook(backOffice.received[0]!, WEBHOOK_SECRET)).toThrow('No matching signature');
  });
});

describe('a notice that is not acknowledged', () => {
  it('is retried with the same id and the same bytes, and delays no other endpoint (E5, E6, E8)', async () => {
    backOffice.setBehaviours(respondWith(500), respondWith(200));
    await dispatcher.deliverPayments(hosted());
    await dispatcher.runOnce();
    expect(shop.received).toHaveLength(1);
    dispatcher.clock.advance(6_000);
    await sendAll();
    const [first, second] = backOffice.received;
    expect([idOf(second!), second!.body]).toEqual([idOf(first!), first!.body]);
    expect(backOffice.received).toHaveLength(2);
    expect(shop.received).toHaveLength(1);
  });

  it('is shown to administrators beside that of the session, and replayed, a Failed after its session was paid too', async () => {
    const sessionId = randomUUID();
    const failed = hosted({ sessionId, state: 'failed' });
    await dispatcher.deliverPayments(failed, hosted({ sessionId }));
    await sendAll();
    const { body } = await dispatcher.requestAdmin('GET', `?merchantId=${site.merchantId}`);
    const listed = (body['notifications'] as Record<string, unknown>[]).filter(
      ({ paymentReference }) => paymentReference === failed.paymentReference,
    );
    const { id: webhookId, notice } = noticeOf(failed, 'SHOP-1');
    const bySession = listed.find(({ recipient }) => recipient === 'session')!;
    const bySite = listed.find(({ recipient }) => recipient === 'site')!;
    expect(bySession).toMatchObject({ id: webhookId, webhookId, sessionId, type: 'payment', state: 'superseded' });
    expect(bySite).toMatchObject({ webhookId, sessionId: null, apiVersion: null, type: 'payment', state: 'delivered' });
    expect(bySite['id']).not.toBe(webhookId);

    const details = await dispatcher.requestAdmin('GET', `/${String(bySite['id'])}`);
    expect(details.body).toMatchObject({
      url: backOffice.url,
      fields: notice,
      attempts: [{ outcome: 'acknowledged' }],
    });
    expect((await dispatcher.requestAdmin('POST', `/${String(bySite['id'])}/replay`)).status).toBe(202);
    await sendAll();
    const since = '2026-01-01T00:00:00Z';
    const { body: page } = await dispatcher.requestReplays({ merchantId: site.merchantId, since });
    expect(page).toEqual({ replayed: 3, skipped: 1, after: null });
    await sendAll();
    expect(backOffice.received.filter((one) => idOf(one) === webhookId)).toHaveLength(3);
  });
});

test('a worker sends the same bytes with and without a lease request', async () => {
  const direct = await DispatcherUnderTest.start({ SVC_DELIVERY: 'on', SVC_DELIVERY_POLL_MS: '60000' });
  try {
    await direct.deliverSecret('secret', WEBHOOK_SECRET, { purpose: 'webhook-secret', ...site });
    await direct.deliverSite({ ...site, webhookUrl: backOffice.url, webhookEnabled: true });
    const payment = ofInvoice();
    const arrived = backOffice.nextRequest();
    await direct.deliverPayments(payment);
    await arrived;
    await dispatcher.deliverPayments(payment);
    await sendAll();
    const [first, second] = backOffice.received;
    expect([idOf(second!), second!.body]).toEqual([idOf(first!), first!.body]);
  } finally {
    await direct.test.stop();
  }
});
