import { randomUUID } from 'node:crypto';
import {
  FindPaymentsV1,
  type TimelineSubject,
  TraceDeliveriesV1,
  TraceInvoiceV1,
  TracePaymentV1,
  TraceSessionV1,
} from '@svc/contracts';
import { describeStep, listDeliveryIds, newPaymentReference } from '@svc/kernel';
import { httpClient, refundOf } from '@svc/testing';
import {
  createMerchant,
  newPayment,
  startConsole,
  store,
  type TestConsole,
  type TestMerchant,
  withOrder,
} from '../../../test/console.js';
import { MAX_MATCHES } from './search-timelines.js';
import type { TimelineSearch } from './timeline.js';

const ADMIN_KEY = 'an administration key for tests 1';
const at = (time: string): Date => new Date(`2026-03-01T${time}Z`);
const NOTHING = { matches: [], hasMore: false, timeline: null, missing: [] };

let app: TestConsole;
let merchant: TestMerchant;
beforeAll(async () => {
  app = await startConsole();
  merchant = await createMerchant(app);
});
afterAll(() => app.stop());

const tracedIds: string[][] = [];
/** All owners respond that they know nothing. */
beforeEach(async () => {
  tracedIds.length = 0;
  await app.respondTo(FindPaymentsV1, () => ({ ok: true, reply: { payments: [] } }));
  await app.respondTo(TracePaymentV1, () => ({ ok: false, code: 'resource.not-found', message: 'x', fields: [] }));
  await app.respondTo(TraceSessionV1, () => ({ ok: true, reply: {} }));
  await app.respondTo(TraceInvoiceV1, () => ({ ok: true, reply: {} }));
  await app.respondTo(TraceDeliveriesV1, ({ ids }) => {
    tracedIds.push(ids);
    return { ok: true, reply: { deliveries: [] } };
  });
});

async function request(query: Record<string, string>, key: string | undefined = ADMIN_KEY) {
  const client = httpClient(app.service, key === '' ? {} : { 'x-admin-key': key });
  return client('GET', `/admin/v1/timeline?${new URLSearchParams(query)}`);
}
async function search(query: Record<string, string>): Promise<TimelineSearch> {
  const { status, body } = await request(query);
  expect(status).toBe(200);
  return body as TimelineSearch;
}
const eventsOf = ({ timeline }: TimelineSearch): string[] =>
  timeline?.entries.map(({ service, event }) => `${service}: ${event}`) ?? [];

test.each(['', 'another administration key for tests'])('the key %p is refused', async (key) => {
  expect(await request({ find: 'order' }, key)).toMatchObject({ status: 401 });
});

test.each([[{}], [{ find: 'order', day: '2026-02-30' }], [{ find: 'order', mode: 'both' }]])(
  'the query %p is refused',
  async (query) => {
    expect(await request(query as Record<string, string>)).toMatchObject({ status: 400 });
  },
);

test('payments of different merchants with one order number are listed, newest first, at most 20', async () => {
  const other = await createMerchant(app);
  const payments = Array.from({ length: MAX_MATCHES }, (_, index) =>
    withOrder(newPayment(index % 2 === 0 ? merchant : other, new Date(at('08:00:00').getTime() + index)), 'Order 1'),
  );
  await store(app, ...payments);
  const all = await search({ find: 'order 1' });
  expect(all.matches.map(({ reference }) => reference)).toEqual(
    payments.map(({ paymentReference }) => paymentReference).toReversed(),
  );
  expect(new Set(all.matches.map(({ merchantId }) => merchantId))).toEqual(
    new Set([merchant.merchantId, other.merchantId]),
  );
  expect([all.hasMore, all.timeline]).toEqual([false, null]);
  await store(app, withOrder(newPayment(merchant, at('09:00:00')), 'ORDER 1'));
  const more = await search({ find: 'order 1' });
  expect([more.matches.length, more.hasMore]).toEqual([MAX_MATCHES, true]);
  expect((await search({ find: 'order 1', mode: 'live' })).matches).toEqual([]);
});

test('while no owner responds, the timeline has the copy of this service and names what is missing', async () => {
  const payment = newPayment(merchant, at('10:00:00'), { amount: 12_345 });
  await store(app, payment);
  await app.deliver(refundOf(payment, { amount: 1_000, status: 'succeeded' }));
  const unavailable = { ok: false, code: 'service.not-ready', message: 'x', fields: [] } as const;
  for (const command of [FindPaymentsV1, TracePaymentV1, TraceSessionV1, TraceInvoiceV1, TraceDeliveriesV1])
    await app.respondTo<never>(command as never, () => unavailable);
  const found = await search({ find: payment.paymentReference });
  expect(eventsOf(found)).toEqual([
    'console: payment accepted',
    'console: payment success',
    'console: refund succeeded',
  ]);
  expect(found.missing.map(({ service }) => service)).toEqual(['payment-processor']);
  expect(found.timeline!.missing.map(({ service }) => service).sort()).toEqual([
    'hosted-gateway',
    'payment-processor',
    'webhook-dispatcher',
  ]);
});

test('other errors of an owner are not hidden', async () => {
  await app.respondTo(FindPaymentsV1, () => ({ ok: false, code: 'request.invalid', message: 'x', fields: [] }));
  expect((await request({ find: newPaymentReference(at('10:00:00')) })).status).toBe(400);
});

test('a payment without an outcome is found at payment-processor', async () => {
  const reference = newPaymentReference(at('11:00:00'));
  const subject: TimelineSubject = {
    ...{ kind: 'payment', reference, utcDate: '2026-03-01T11:00:00.000Z', mode: 'test', siteId: merchant.sites[1] },
    ...{
      merchantId: merchant.merchantId,
      amount: 500,
      currencyISOCode: 'ZAR',
      state: 'processing',
      orderReference: '',
    },
    ...{ payableId: '0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f', source: 'session', code: '' },
  };
  const call = describeStep('2026-03-01T11:00:00.100Z', 'acquirer called', { acquirer: 'adyen' }, { isOpen: true });
  await app.respondTo(FindPaymentsV1, ({ paymentReference }) => ({
    ok: true,
    reply: { payments: paymentReference === reference ? [subject] : [] },
  }));
  await app.respondTo(TracePaymentV1, () => ({ ok: true, reply: { steps: [call], disputeChanges: [] } }));
  const found = await search({ find: reference });
  expect(found.matches).toEqual([{ ...subject, merchantName: 'Karoo Books', siteName: 'Shop 2' }]);
  expect(found.timeline!.entries).toEqual([{ ...call, service: 'payment-processor' }]);
});

test('the deliveries of the payment, its refunds and the changes of its disputes are requested', async () => {
  const payment = newPayment(merchant, at('12:00:00'));
  await store(app, payment);
  const refund = refundOf(payment, { amount: 1_000, status: 'succeeded' });
  await app.deliver(refund);
  const change = {
    changeReference: '0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f',
    changedUTCDate: '2026-03-02T10:00:00.000Z',
  };
  await app.respondTo(TracePaymentV1, () => ({ ok: true, reply: { steps: [], disputeChanges: [change] } }));
  await search({ find: payment.paymentReference });
  const { refundReference, createdUTCDate } = refund.payload.refund;
  const refunds = [{ refundReference, createdUTCDate, returnedUTCDate: null }];
  expect(tracedIds).toEqual([listDeliveryIds({ ...payment, refunds, reversals: [], disputeChanges: [change] })]);
  expect(tracedIds[0]).toHaveLength(4);
});

test('the name of the customer is not part of the timeline', async () => {
  const partner = { organisationId: randomUUID(), customer: { id: 'c', firstName: 'Thandi', lastName: 'Nkosi' } };
  const payment = newPayment(merchant, at('13:00:00'), { partner });
  await store(app, payment);
  const found = await search({ find: payment.paymentReference });
  expect(found.matches).toHaveLength(1);
  expect(JSON.stringify(found)).not.toMatch(/Thandi|Nkosi/);
  expect(await search({ find: 'Thandi Nkosi' })).toEqual(NOTHING);
});
