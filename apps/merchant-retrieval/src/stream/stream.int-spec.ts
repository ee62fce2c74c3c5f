/** The stream of a site: its content, delivery exactly once, and its end. */
import { randomUUID } from 'node:crypto';
import type { PassThrough } from 'node:stream';
import { hashApiKey } from '@svc/auth';
import { ApiKeyChangedV1, PaymentReversedV1, type PaymentSnapshot } from '@svc/contracts';
import { EmbeddedBroker } from '@svc/messaging';
import { type RunningService, startService } from '@svc/service';
import { anEvent, paymentEvent, refundOf, waitUntil } from '@svc/testing';
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
import { insertWithoutCommit, waitForBlockedWriter } from '../../test/uncommitted-notices.js';
import { merchantRetrievalService } from '../index.js';
import { PaymentStreams } from './payment-streams.js';

let retrieval: Retrieval;
let here: string;
let ours: Merchant;
const opened: StreamReader[] = [];
beforeAll(async () => {
  retrieval = await startRetrieval({ SVC_RETRIEVAL_BURST: '1' });
  here = await listenOnFreePort(retrieval.service);
});
afterAll(() => retrieval.stop());
beforeEach(async () => (ours = await createMerchant(retrieval)));
afterEach(() => opened.splice(0).forEach(({ disconnect }) => disconnect()));

const streamOf = ({ merchantId, sites }: Merchant, nth: 0 | 1 = 0) =>
  `/${merchantId}/sites/${sites[nth]}/payments/stream`;
const header = (apiKey: string, lastEventId?: string) => ({
  'x-api-key': apiKey,
  ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
});
async function open(apiKey = ours.keys.merchant, lastEventId?: string, url = here): Promise<StreamReader> {
  const reader = await readStream(`${url}${streamOf(ours)}`, header(apiKey, lastEventId));
  opened.push(reader);
  await waitUntil('the first bytes', 5_000, async () => reader.text !== '');
  return reader;
}
const received = (reader: StreamReader, count: number) =>
  waitUntil(`${count} events`, 5_000, async () => reader.events.length >= count);
const newPayment = (over: Partial<PaymentSnapshot> = {}) => newPaymentAt(ours, retrieval.clock.now(), over);
const reversal = (payment: PaymentSnapshot) =>
  anEvent(PaymentReversedV1, randomUUID(), 1, { ...payment, reversedUTCDate: retrieval.clock.nowISO() });
const referencesIn = (events: readonly StreamEvent[]) => events.map(({ data }) => data.paymentReference);
/** A marker that is sent last: a notice that has not arrived before it will not arrive. */
async function marker(reader: StreamReader): Promise<void> {
  const last = newPayment();
  await retrieval.deliver(paymentEvent(last));
  await waitUntil('the last one', 5_000, async () => referencesIn(reader.events).includes(last.paymentReference));
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
  test('a final payment has the fields of the lookup and its type, in the standard format (M6)', async () => {
    const reader = await open();
    const paid = newPayment();
    const failed = newPayment({ state: 'failed', processedAmount: 0 });
    await retrieval.deliver(paymentEvent(paid), paymentEvent(failed));
    await received(reader, 2);
    expect(reader.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String) as string,
    });
    expect(reader.events.map(({ event }) => event)).toEqual(['payment', 'payment']);
    const [found] = await retrieval.list(`/${ours.merchantId}/payments/${paid.paymentReference}`, ours.keys.merchant);
    expect(reader.events[0]!.data).toStrictEqual({ ...found, type: 'payment' });
    expect(reader.events[1]!.data).toMatchObject({ paymentReference: failed.paymentReference, status: 2 });
    expect(new Set(reader.events.map(({ id }) => id)).size).toBe(2);
  });

  test('a reversal is sent once as a refund; the payment of the lookup does not change', async () => {
    const payment = newPayment({ state: 'failed', processedAmount: 0 });
    await retrieval.deliver(paymentEvent(payment));
    const reader = await open();
    const reversed = reversal(payment);
    await retrieval.deliver(reversed);
    await retrieval.deliver(reversed);
    // The second charge of a payment that succeeded was reversed: the payment itself has not changed.
    await retrieval.deliver(reversal(newPayment()));
    await marker(reader);
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

  test('each final refund is sent once, succeeded or failed; the payment of the lookup does not change', async () => {
    const payment = newPayment();
    await retrieval.deliver(paymentEvent(payment));
    const reader = await open();
    const createdUTCDate = retrieval.clock.nowISO();
    const refunds = [refundOf(payment, { createdUTCDate }), refundOf(payment, { createdUTCDate, status: 'failed' })];
    for (const event of [...refunds, ...refunds]) await retrieval.deliver({ ...event, occurredAt: createdUTCDate });
    await marker(reader);
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

  test('a repeated event, and another event of the same result, add nothing', async () => {
    const reader = await open();
    const payment = newPayment();
    const event = paymentEvent(payment);
    await retrieval.deliver(event, event, paymentEvent(payment, 3));
    await Promise.all(Array.from({ length: 5 }, () => retrieval.deliver(event)));
    await retrieval.deliver(paymentEvent(payment, 4));
    await marker(reader);
    expect(referencesIn(reader.events)).toEqual([payment.paymentReference]);
  });

  test('a stream without an id sends only new events, and one with its starting id sends all events after it', async () => {
    await retrieval.deliver(paymentEvent(newPayment()));
    const first = await open();
    first.disconnect();
    expect(first.events).toEqual([]);
    const between = newPayment();
    await retrieval.deliver(paymentEvent(between));
    const second = await open(ours.keys.merchant, first.lastEventId);
    await received(second, 1);
    expect(referencesIn(second.events)).toEqual([between.paymentReference]);
    const third = await open();
    await marker(third);
    expect(third.events).toEqual([]);
  });

  test('a payment of an earlier release has the site from identity', async () => {
    const { siteReference: _, ...payment } = newPayment();
    const reader = await open();
    await retrieval.deliver(paymentEvent(payment));
    await received(reader, 1);
    expect(reader.events[0]!.data.siteReference).toBe('SITE-1');
  });

  test('a heartbeat is sent every 15 seconds', async () => {
    const reader = await open();
    retrieval.clock.advance(14_999);
    await marker(reader);
    expect(reader.heartbeats).toBe(0);
    retrieval.clock.advance(1);
    await waitUntil('a heartbeat', 5_000, async () => reader.heartbeats === 1);
    retrieval.clock.advance(15_000);
    await waitUntil('another', 5_000, async () => reader.heartbeats === 2);
    expect(reader.events).toEqual([]);
  });
});

describe('delivery exactly once', () => {
  test('a reader that is disconnected 50 times during 5 000 payments, on two replicas, receives each once and in order', async () => {
    const replica = await startReplica();
    const payments = Array.from({ length: 5_000 }, () => newPayment());
    const events = payments.map((payment) => paymentEvent(payment));
    const all: StreamEvent[] = [];
    let { lastEventId } = await open();
    const written = (async () => {
      for (let begin = 0; begin < events.length; begin += 50)
        await retrieval.deliver(...events.slice(begin, begin + 50));
    })();
    for (let cut = 1; cut <= 50; cut++) {
      const url = cut % 2 === 0 ? here : replica.url;
      const until = cut * (events.length / 50);
      const enough = new Promise<void>((resolve, reject) => {
        void readStream(`${url}${streamOf(ours)}`, header(ours.keys.merchant, lastEventId), (event, { disconnect }) => {
          all.push(event);
          lastEventId = event.id;
          if (all.length < until) return;
          disconnect();
          resolve();
        }).then(
          ({ response, text }) => response.statusCode === 200 || reject(new Error(`${response.statusCode} ${text}`)),
          reject,
        );
      });
      await enough;
    }
    await written;
    expect(referencesIn(all)).toEqual(payments.map(({ paymentReference }) => paymentReference));
    await replica.service.close();
  }, 60_000);

  test('a notice that commits later than the next one is not skipped', async () => {
    const reader = await open();
    const [slow, quick] = [newPayment(), newPayment()];
    const first = await insertWithoutCommit(retrieval, [paymentEvent(slow)]);
    let isWritten = false;
    const second = retrieval.deliver(paymentEvent(quick)).then(() => (isWritten = true));
    // If it does not wait, it is written and sent now, and the first one is skipped.
    await waitForBlockedWriter(retrieval, () => isWritten && reader.events.length > 0);
    await first.commit();
    await second;
    await marker(reader);
    expect(referencesIn(reader.events)).toEqual([slow.paymentReference, quick.paymentReference]);
  });

  test('a notice is also sent by another replica', async () => {
    const replica = await startReplica();
    const reader = await open(ours.keys.merchant, undefined, replica.url);
    const payment = newPayment();
    await retrieval.deliver(paymentEvent(payment));
    await waitUntil('the event', 5_000, async () => reader.events.length === 1);
    expect(referencesIn(reader.events)).toEqual([payment.paymentReference]);
    await replica.service.close();
  });
});

describe('the end of a stream', () => {
  test('a shutdown does not wait for streams, and the client resumes elsewhere', async () => {
    const replica = await startReplica();
    const reader = await open(ours.keys.merchant, undefined, replica.url);
    await replica.service.close();
    await reader.closed;
    expect(reader.response.complete).toBe(true);
    const payment = newPayment();
    await retrieval.deliver(paymentEvent(payment));
    const resumed = await open(ours.keys.merchant, reader.lastEventId);
    await received(resumed, 1);
    expect(referencesIn(resumed.events)).toEqual([payment.paymentReference]);
  });

  test('a shutdown also ends the stream of a client that does not read', async () => {
    const replica = await startReplica();
    const streams = replica.service.app.get(PaymentStreams);
    const channel = { merchantId: ours.merchantId, siteId: ours.sites[0], mode: 'test' as const };
    const keyId = await getKeyId(retrieval, ours.keys.merchant);
    const out = (await streams.open(channel, { keyId } as never, undefined)) as PassThrough;
    await retrieval.deliver(...Array.from({ length: 100 }, () => paymentEvent(newPayment())));
    await waitUntil('a full buffer', 5_000, async () => out.writableNeedDrain);
    await replica.service.close();
    expect([out.destroyed, out.readableEnded]).toEqual([true, false]);
  });

  test('a stream ends a second after its key was revoked, and streams of other keys continue', async () => {
    const [reader, other] = [await open(ours.keys['site 1']), await open()];
    const keyId = await getKeyId(retrieval, ours.keys['site 1']);
    const { merchantId, sites } = ours;
    const owner = { keyId, kind: 'site' as const, mode: 'test' as const, merchantId, siteId: sites[0] };
    const hash = hashApiKey(ours.keys['site 1']);
    await retrieval.deliver(anEvent(ApiKeyChangedV1, keyId, 2, { ...owner, hash, revoked: true }));
    retrieval.clock.advance(1_000);
    await reader.closed;
    await retrieval.deliver(paymentEvent(newPayment()));
    await received(other, 1);
    expect(reader.events).toEqual([]);
  });
});

test('a poll needs one statement for all streams of the process, one more each second for their keys, and none without streams', async () => {
  const streams = retrieval.service.app.get(PaymentStreams);
  opened.splice(0).forEach(({ disconnect }) => disconnect());
  const query = jest.spyOn(retrieval.dataSource, 'query');
  const looked = (statement: RegExp) => query.mock.calls.filter(([text]) => statement.test(text)).length;
  await waitUntil('the last stream to be gone', 5_000, async () => {
    query.mockClear();
    await streams.runOnce();
    return query.mock.calls.length === 0;
  });
  // The stream of the live key uses another channel.
  for (const key of [ours.keys.merchant, ours.keys['site 1'], ours.keys.live]) await open(key);
  await streams.runOnce();
  // The statements of the service itself also count.
  const looks = jest.spyOn(streams, 'runOnce');
  query.mockClear();
  for (let look = 0; look < 5; look++) await streams.runOnce();
  expect([looked(/notice_positions/), looked(/known_api_keys/)]).toEqual([looks.mock.calls.length, 0]);
  retrieval.clock.advance(1_000);
  await streams.runOnce();
  expect(looked(/notice_positions/)).toBe(looks.mock.calls.length);
  expect(looked(/known_api_keys/)).toBeGreaterThan(0);
  looks.mockRestore();
  query.mockRestore();
});
