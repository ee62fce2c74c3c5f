/** Tests the content of a site's stream, that a client receives each notification once, and the end of a stream. */
import { randomUUID } from 'node:crypto';
import type { PassThrough } from 'node:stream';
import { hashApiKey } from '@svc/auth';
import { ApiKeyChangedV1, PaymentReversedV1, type PaymentSnapshot } from '@svc/contracts';
import { buildPaymentNotification, newUuidAt } from '@svc/kernel';
import { EmbeddedBroker } from '@svc/messaging';
import { type RunningService, startService } from '@svc/service';
import { anEvent, disputeOf, paymentEvent, refundOf, waitUntil } from '@svc/testing';
import {
  ADMIN_KEY,
  createMerchant,
  getKeyId,
  type Merchant,
  newPaymentAt,
  type Retrieval,
  startRetrieval,
} from '../../test/retrieval.js';
import { listenOnFreePort, readStream, type StreamEvent, type StreamReader } from '../../test/stream-reader.js';
import { insertWithoutCommit, waitForBlockedWriter } from '../../test/uncommitted-notifications.js';
import { merchantRetrievalService } from '../index.js';
import { PaymentStreams } from './payment-streams.js';

let retrieval: Retrieval;
let baseUrl: string;
let merchant: Merchant;
const openedReaders: StreamReader[] = [];
beforeAll(async () => {
  // A burst of one call: if streams counted for the call rate of a key (M4), the second stream would get a 429.
  retrieval = await startRetrieval({ SVC_RETRIEVAL_BURST: '1' });
  baseUrl = await listenOnFreePort(retrieval.service);
});
afterAll(() => retrieval.stop());
beforeEach(async () => (merchant = await createMerchant(retrieval)));
afterEach(() => openedReaders.splice(0).forEach(({ disconnect }) => disconnect()));

const streamPath = ({ merchantId, sites }: Merchant, nth: 0 | 1 = 0) =>
  `/${merchantId}/sites/${sites[nth]}/payments/stream`;
const streamHeaders = (apiKey: string, lastEventId?: string) => ({
  'x-api-key': apiKey,
  ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
});
async function openStream(apiKey = merchant.keys.merchant, lastEventId?: string, url = baseUrl): Promise<StreamReader> {
  const reader = await readStream(`${url}${streamPath(merchant)}`, streamHeaders(apiKey, lastEventId));
  openedReaders.push(reader);
  await waitUntil('the first bytes', 5_000, async () => reader.text !== '');
  return reader;
}
const waitForEvents = (reader: StreamReader, count: number) =>
  waitUntil(`${count} events`, 5_000, async () => reader.events.length >= count);
const newPayment = (overrides: Partial<PaymentSnapshot> = {}) =>
  newPaymentAt(merchant, retrieval.clock.now(), overrides);
const reversalEvent = (payment: PaymentSnapshot) =>
  anEvent(PaymentReversedV1, randomUUID(), 1, { ...payment, reversedUTCDate: retrieval.clock.nowISO() });
const referencesIn = (events: readonly StreamEvent[]) => events.map(({ data }) => data.paymentReference);
/**
 * Delivers another payment (the marker) and waits for its event. After that, all earlier notifications have arrived or will
 * never arrive.
 */
async function waitForMarker(reader: StreamReader): Promise<void> {
  const last = newPayment();
  await retrieval.deliver(paymentEvent(last));
  await waitUntil('the event of the marker', 5_000, async () =>
    referencesIn(reader.events).includes(last.paymentReference),
  );
  reader.events.pop();
}
const startReplica = async (): Promise<{ service: RunningService; url: string }> => {
  const service = await startService(merchantRetrievalService, {
    env: {
      SVC_ENVIRONMENT: 'development',
      SVC_LOG_LEVEL: 'silent',
      SVC_DATABASE_URL: (retrieval.dataSource.options as { url: string }).url,
      SVC_ADMIN_KEY: ADMIN_KEY,
    },
    broker: new EmbeddedBroker(),
    clock: retrieval.clock,
  });
  return { service, url: await listenOnFreePort(service) };
};

describe('the content of a stream', () => {
  test('an event of a final payment has the fields that the query for payments returns, and the type of the event (M6)', async () => {
    const reader = await openStream();
    const paid = newPayment();
    const failed = newPayment({ state: 'failed', processedAmount: 0 });
    await retrieval.deliver(paymentEvent(paid), paymentEvent(failed));
    await waitForEvents(reader, 2);
    expect(reader.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String) as string,
    });
    expect(reader.events.map(({ event }) => event)).toEqual(['payment', 'payment']);
    const [found] = await retrieval.list(
      `/${merchant.merchantId}/payments/${paid.paymentReference}`,
      merchant.keys.merchant,
    );
    expect(reader.events[0]!.data).toStrictEqual({ ...found, type: 'payment' });
    expect(reader.events[1]!.data).toMatchObject({ paymentReference: failed.paymentReference, status: 2 });
    expect(new Set(reader.events.map(({ id }) => id)).size).toBe(2);
  });

  test('a reversal is sent once, as a refund, and does not change the payment in the query for payments', async () => {
    const payment = newPayment({ state: 'failed', processedAmount: 0 });
    await retrieval.deliver(paymentEvent(payment));
    const reader = await openStream();
    const reversed = reversalEvent(payment);
    await retrieval.deliver(reversed);
    await retrieval.deliver(reversed);
    // The reversal of a duplicate charge of a successful payment sends no event, because the payment is still paid.
    await retrieval.deliver(reversalEvent(newPayment()));
    await waitForMarker(reader);
    expect(reader.events.map(({ event }) => event)).toEqual(['refund']);
    expect(reader.events[0]!.data).toMatchObject({
      type: 'refund',
      paymentReference: payment.paymentReference,
      refund: { amount: 13_345, status: 'succeeded', createdUTCDate: retrieval.clock.nowISO() },
    });
    const rows = await retrieval.dataSource.query('SELECT version, status FROM payments WHERE payment_reference = $1', [
      payment.paymentReference,
    ]);
    expect(rows).toEqual([{ version: 2, status: 2 }]);
  });

  test('each change of a dispute is sent once, and does not change the payment in the query for payments (M8)', async () => {
    const payment = newPayment();
    await retrieval.deliver(paymentEvent(payment));
    const reader = await openStream();
    const createdUTCDate = retrieval.clock.nowISO();
    const opened = disputeOf(payment, { stage: 'opened', createdUTCDate });
    const { disputeReference } = opened.payload.dispute;
    const changeReference = newUuidAt(retrieval.clock.now());
    const debited = disputeOf(payment, { disputeReference, createdUTCDate, changeReference }, 2);
    const events = [opened, debited, opened, debited];
    for (const event of events) await retrieval.deliver({ ...event, occurredAt: createdUTCDate });
    await waitForMarker(reader);
    expect(reader.events.map(({ event }) => event)).toEqual(['dispute', 'dispute']);
    const { changeReference: _, changedUTCDate: __, ...dispute } = debited.payload.dispute;
    expect(reader.events[1]!.data).toStrictEqual({
      ...buildPaymentNotification(payment).notification,
      ...{ type: 'dispute', dispute },
    });
    const rows = await retrieval.dataSource.query('SELECT version, status FROM payments WHERE payment_reference = $1', [
      payment.paymentReference,
    ]);
    expect(rows).toEqual([{ version: 2, status: 1 }]);
  });

  test('each succeeded or failed refund is sent once, and does not change the payment in the query for payments', async () => {
    const payment = newPayment();
    await retrieval.deliver(paymentEvent(payment));
    const reader = await openStream();
    const createdUTCDate = retrieval.clock.nowISO();
    const refunds = [refundOf(payment, { createdUTCDate }), refundOf(payment, { createdUTCDate, status: 'failed' })];
    for (const event of [...refunds, ...refunds]) await retrieval.deliver({ ...event, occurredAt: createdUTCDate });
    await waitForMarker(reader);
    expect(reader.events.map(({ event }) => event)).toEqual(['refund', 'refund']);
    expect(reader.events.map(({ data }) => data)).toEqual(
      refunds.map(({ payload: { refund } }) =>
        expect.objectContaining({ type: 'refund', paymentReference: payment.paymentReference, status: 1, refund }),
      ),
    );
    const rows = await retrieval.dataSource.query('SELECT version, status FROM payments WHERE payment_reference = $1', [
      payment.paymentReference,
    ]);
    expect(rows).toEqual([{ version: 2, status: 1 }]);
  });

  test('a payment is sent once, even if its event is repeated or a newer version of the payment arrives', async () => {
    const reader = await openStream();
    const payment = newPayment();
    const event = paymentEvent(payment);
    await retrieval.deliver(event, event, paymentEvent(payment, 3));
    await Promise.all(Array.from({ length: 5 }, () => retrieval.deliver(event)));
    await retrieval.deliver(paymentEvent(payment, 4));
    await waitForMarker(reader);
    expect(referencesIn(reader.events)).toEqual([payment.paymentReference]);
  });

  test('a stream begins with new events if there is no Last-Event-ID, and the first id of a stream continues that stream', async () => {
    await retrieval.deliver(paymentEvent(newPayment()));
    const first = await openStream();
    first.disconnect();
    expect(first.events).toEqual([]);
    const between = newPayment();
    await retrieval.deliver(paymentEvent(between));
    const second = await openStream(merchant.keys.merchant, first.lastEventId);
    await waitForEvents(second, 1);
    expect(referencesIn(second.events)).toEqual([between.paymentReference]);
    const third = await openStream();
    await waitForMarker(third);
    expect(third.events).toEqual([]);
  });

  test('a heartbeat is sent every 15 seconds', async () => {
    const reader = await openStream();
    retrieval.clock.advance(14_999);
    await waitForMarker(reader);
    expect(reader.heartbeats).toBe(0);
    retrieval.clock.advance(1);
    await waitUntil('a heartbeat', 5_000, async () => reader.heartbeats === 1);
    retrieval.clock.advance(15_000);
    await waitUntil('another heartbeat', 5_000, async () => reader.heartbeats === 2);
    expect(reader.events).toEqual([]);
  });
});

describe('each notification', () => {
  test('is received once and in order, even if the client reconnects 50 times to two replicas in turn', async () => {
    const replica = await startReplica();
    const payments = Array.from({ length: 5_000 }, () => newPayment());
    const events = payments.map((payment) => paymentEvent(payment));
    const receivedEvents: StreamEvent[] = [];
    let { lastEventId } = await openStream();
    const delivering = (async () => {
      for (let begin = 0; begin < events.length; begin += 50)
        await retrieval.deliver(...events.slice(begin, begin + 50));
    })();
    for (let connection = 1; connection <= 50; connection++) {
      const url = connection % 2 === 0 ? baseUrl : replica.url;
      const expectedCount = connection * (events.length / 50);
      const receivedEnough = new Promise<void>((resolve, reject) => {
        void readStream(
          `${url}${streamPath(merchant)}`,
          streamHeaders(merchant.keys.merchant, lastEventId),
          (event, { disconnect }) => {
            receivedEvents.push(event);
            lastEventId = event.id;
            if (receivedEvents.length < expectedCount) return;
            disconnect();
            resolve();
          },
        ).then(
          ({ response, text }) => response.statusCode === 200 || reject(new Error(`${response.statusCode} ${text}`)),
          reject,
        );
      });
      await receivedEnough;
    }
    await delivering;
    expect(referencesIn(receivedEvents)).toEqual(payments.map(({ paymentReference }) => paymentReference));
    await replica.service.close();
  }, 60_000);

  test('is received once even if its transaction is committed late, after another writer has begun', async () => {
    const reader = await openStream();
    const [slow, quick] = [newPayment(), newPayment()];
    await using first = await insertWithoutCommit(retrieval, [paymentEvent(slow)]);
    let isWritten = false;
    const second = retrieval.deliver(paymentEvent(quick)).then(() => (isWritten = true));
    // The second writer must wait. Otherwise its notification would be sent now, and the reader would skip the first notification.
    await waitForBlockedWriter(retrieval, () => isWritten && reader.events.length > 0);
    await first.commit();
    await second;
    await waitForMarker(reader);
    expect(referencesIn(reader.events)).toEqual([slow.paymentReference, quick.paymentReference]);
  });

  test('is received once even if another replica has written it', async () => {
    const replica = await startReplica();
    const reader = await openStream(merchant.keys.merchant, undefined, replica.url);
    const payment = newPayment();
    await retrieval.deliver(paymentEvent(payment));
    await waitUntil('the event', 5_000, async () => reader.events.length === 1);
    expect(referencesIn(reader.events)).toEqual([payment.paymentReference]);
    await replica.service.close();
  });
});

describe('a stream', () => {
  test('is ended by a shutdown, and the client can resume the stream at another replica', async () => {
    const replica = await startReplica();
    const reader = await openStream(merchant.keys.merchant, undefined, replica.url);
    await replica.service.close();
    await reader.closed;
    expect(reader.response.complete).toBe(true);
    const payment = newPayment();
    await retrieval.deliver(paymentEvent(payment));
    const resumed = await openStream(merchant.keys.merchant, reader.lastEventId);
    await waitForEvents(resumed, 1);
    expect(referencesIn(resumed.events)).toEqual([payment.paymentReference]);
  });

  test('is ended by a shutdown even if the client does not read', async () => {
    const replica = await startReplica();
    const streams = replica.service.app.get(PaymentStreams);
    const channel = { merchantId: merchant.merchantId, siteId: merchant.sites[0], mode: 'test' as const };
    const keyId = await getKeyId(retrieval, merchant.keys.merchant);
    const out = (await streams.open(channel, { keyId } as never, undefined)) as PassThrough;
    await retrieval.deliver(...Array.from({ length: 100 }, () => paymentEvent(newPayment())));
    await waitUntil('a full buffer', 5_000, async () => out.writableNeedDrain);
    await replica.service.close();
    expect([out.destroyed, out.readableEnded]).toEqual([true, false]);
  });

  test('is ended within a second after its key was revoked, and streams of other keys continue', async () => {
    const [reader, other] = [await openStream(merchant.keys['site 1']), await openStream()];
    const keyId = await getKeyId(retrieval, merchant.keys['site 1']);
    const { merchantId, sites } = merchant;
    const owner = { keyId, kind: 'site' as const, mode: 'test' as const, merchantId, siteId: sites[0] };
    const hash = hashApiKey(merchant.keys['site 1']);
    await retrieval.deliver(anEvent(ApiKeyChangedV1, keyId, 2, { ...owner, hash, revoked: true }));
    retrieval.clock.advance(1_000);
    await reader.closed;
    await retrieval.deliver(paymentEvent(newPayment()));
    await waitForEvents(other, 1);
    expect(reader.events).toEqual([]);
  });
});

test('a poll executes one statement for all streams, plus one per second for the keys, and no statement without streams', async () => {
  const streams = retrieval.service.app.get(PaymentStreams);
  openedReaders.splice(0).forEach(({ disconnect }) => disconnect());
  const query = jest.spyOn(retrieval.dataSource, 'query');
  const countStatements = (statement: RegExp) => query.mock.calls.filter(([text]) => statement.test(text)).length;
  await waitUntil('the end of the last stream', 5_000, async () => {
    query.mockClear();
    await streams.runStep();
    return query.mock.calls.length === 0;
  });
  // The three keys open streams of two channels: two keys in mode test, and one key in mode live.
  for (const key of [merchant.keys.merchant, merchant.keys['site 1'], merchant.keys.live]) await openStream(key);
  await streams.runStep();
  // The service also polls on its own, so the test counts all calls of runStep.
  const runStepSpy = jest.spyOn(streams, 'runStep');
  query.mockClear();
  for (let poll = 0; poll < 5; poll++) await streams.runStep();
  expect([countStatements(/notification_positions/), countStatements(/known_api_keys/)]).toEqual([
    runStepSpy.mock.calls.length,
    0,
  ]);
  retrieval.clock.advance(1_000);
  await streams.runStep();
  expect(countStatements(/notification_positions/)).toBe(runStepSpy.mock.calls.length);
  expect(countStatements(/known_api_keys/)).toBeGreaterThan(0);
  runStepSpy.mockRestore();
  query.mockRestore();
});
