import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { get } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { PassThrough } from 'node:stream';
import {
  type HostedPaymentSnapshot,
  PaymentFailedV1,
  PaymentProcessingV1,
  PaymentReversedV1,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
} from '@svc/contracts';
import { EmbeddedBroker } from '@svc/messaging';
import { startService } from '@svc/service';
import { anEvent, inProgress, waitUntil } from '@svc/testing';
import { buildPayment, type Gateway, GATEWAY_ENVIRONMENT, type Merchant, startGateway } from '../../test/gateway.js';
import { hostedGatewayService } from '../index.js';
import { SessionRepository } from '../sessions/session.repository.js';
import { StateStreams } from './state-streams.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

const getPage = async (sessionId: string, query = ''): Promise<string> =>
  (await gateway.call('GET', `/pay?sessionId=${sessionId}${query}`)).text;
const readState = async (sessionId: string): Promise<{ state: string; redirectUrl?: string }> =>
  (await gateway.call('GET', `/pay/${sessionId}/state`)).body;
const pageState = (text: string): string | undefined => /data-state="([^"]*)"/.exec(text)?.[1];
const pay = (sessionId: string, paymentNumber = 1) =>
  gateway.call('POST', `/pay/${sessionId}/payments`, {
    payload: { reference: randomUUID(), paymentNumber, encryptedCard: 'a.b.c' },
  });

const PAYER = { chosen: undefined, accepted: undefined, ownReferences: [] };
const VERIFICATION_URL = 'https://bank.example/challenges/1';
/** The fields of a payment whose payer was redirected to the bank. */
const verificationFields = (
  overrides: Partial<HostedPaymentSnapshot> & { version: number; paymentCount?: number },
): typeof overrides => ({
  state: 'verificationRequired',
  verificationUrl: VERIFICATION_URL,
  verificationUntilUTCDate: gateway.clock.later(900_000).toISOString(),
  modifiedUTCDate: gateway.clock.nowISO(),
  paymentUTCDate: gateway.clock.nowISO(),
  ...overrides,
});
/** A session whose payer was redirected to the bank. Each payment increases the version of the payable by two. */
async function createSessionInVerification(
  paymentCount = 1,
): Promise<{ sessionId: string; payment: HostedPaymentSnapshot }> {
  const sessionId = await gateway.createSession(merchant);
  const payment = buildPayment(
    await gateway.findPublishedPayable(sessionId),
    verificationFields({ version: 2 * paymentCount + 1, paymentCount }),
  );
  const inVerification = { ...payment, payable: { ...payment.payable, state: 'open' as const } };
  await gateway.deliver(anEvent(PaymentVerificationRequiredV1, randomUUID(), 2, inVerification));
  return { sessionId, payment: inVerification };
}

describe('the payer of a payment in verification', () => {
  test('is redirected to the bank by the response to the pay request, and by the page', async () => {
    const sessionId = await gateway.createSession(merchant);
    await gateway.respondToCharges(({ payable, reference }) => {
      const payment = buildPayment(payable, { reference, ...verificationFields({ version: 3 }) });
      return { ok: true, reply: { ...payment, payable: { ...payment.payable, state: 'open' } } };
    });
    expect((await pay(sessionId)).body).toEqual({ state: 'verification', version: 3, redirectUrl: VERIFICATION_URL });
    const text = await getPage(sessionId);
    expect(text).toContain(`href="${VERIFICATION_URL}"`);
    expect(text).not.toContain('<form');
  });

  test('can pay with another card, and then sees the result of that card', async () => {
    const { sessionId } = await createSessionInVerification();
    expect(pageState(await getPage(sessionId))).toBe('verification');
    const form = await getPage(sessionId, '&card=another');
    expect([pageState(form), /data-payment-number="(\d)"/.exec(form)?.[1]]).toEqual(['open', '2']);
    await gateway.respondToCharges(({ payable, reference }) => ({
      ok: true,
      reply: buildPayment(payable, {
        reference,
        state: 'failed',
        version: 5,
        paymentCount: 2,
        paymentUTCDate: later(1),
      }),
    }));
    expect((await pay(sessionId, 2)).body.state).toBe('declined');
    expect(pageState(await getPage(sessionId))).toBe('declined');
  });

  test('cannot use another card after the fifth payment or after the expiry of the session, but can continue at the bank', async () => {
    const { sessionId } = await createSessionInVerification(5);
    expect(await getPage(sessionId)).not.toContain('card=another');
    expect(pageState(await getPage(sessionId, '&card=another'))).toBe('verification');
    gateway.clock.advance(30 * 60_000);
    const expired = await createSessionInVerification();
    await gateway.dataSource.query(`UPDATE sessions SET expires_at = $2 WHERE session_id = $1`, [
      expired.sessionId,
      gateway.clock.now(),
    ]);
    expect(pageState(await getPage(expired.sessionId))).toBe('verification');
    expect(pageState(await getPage(expired.sessionId, '&card=another'))).toBe('verification');
    gateway.clock.advance(-30 * 60_000);
  });

  test('sees the form again after the verification has expired, and later that the session has expired', async () => {
    const { sessionId } = await createSessionInVerification();
    gateway.clock.advance(900_000);
    expect(pageState(await getPage(sessionId))).toBe('open');
    gateway.clock.advance(900_000);
    expect(pageState(await getPage(sessionId))).toBe('expired');
    gateway.clock.advance(-1_800_000);
  });

  test('sees the newest result, because a page load queries payment-processor until the payment is final', async () => {
    const { sessionId, payment } = await createSessionInVerification();
    let queryCount = 0;
    await gateway.respondToChecks(({ payableId }) => {
      queryCount++;
      expect(payableId).toBe(sessionId);
      const payable = { ...payment.payable, state: 'paid' as const, version: 5 };
      return { ok: true, reply: [{ ...payment, state: 'success', processedAmount: payment.amount, payable }] };
    });
    expect(pageState(await getPage(sessionId))).toBe('succeeded');
    await readState(sessionId);
    expect(queryCount).toBe(1);
  });
});

describe('a payment with an unknown result', () => {
  const createUnknownPayment = async (): Promise<{ sessionId: string; payment: HostedPaymentSnapshot }> => {
    const sessionId = await gateway.createSession(merchant);
    const fields = { state: 'processing' as const, modifiedUTCDate: gateway.clock.nowISO(), version: 2 };
    const payment = buildPayment(await gateway.findPublishedPayable(sessionId), fields);
    await gateway.respondToCharges(() => ({ ok: true, reply: payment }));
    expect((await pay(sessionId)).status).toBe(202);
    return { sessionId, payment };
  };

  test('is not refreshed for two seconds, and then at every read', async () => {
    const { sessionId } = await createUnknownPayment();
    let queryCount = 0;
    await gateway.respondToChecks(() => (queryCount++, { ok: true, reply: [] }));
    gateway.clock.advance(1_999);
    await readState(sessionId);
    expect(queryCount).toBe(0);
    gateway.clock.advance(1);
    await readState(sessionId);
    expect(queryCount).toBe(1);
    await getPage(sessionId);
    expect(queryCount).toBe(2);
    gateway.clock.advance(-2_000);
  });

  test('is not refreshed after it has become final', async () => {
    const { sessionId, payment } = await createUnknownPayment();
    const payable = { ...payment.payable, state: 'open' as const, version: 3 };
    await gateway.deliver(anEvent(PaymentFailedV1, randomUUID(), 2, { ...payment, state: 'failed', payable }));
    let queryCount = 0;
    await gateway.respondToChecks(() => (queryCount++, { ok: true, reply: [] }));
    gateway.clock.advance(2_000);
    expect([(await readState(sessionId)).state, queryCount]).toEqual(['declined', 0]);
    gateway.clock.advance(-2_000);
  });

  test('is refreshed when the merchant reads the session or the payment', async () => {
    const paths = [
      ({ sessionId }: { sessionId: string }) => `/api/v3.1/payments?sessionId=${sessionId}`,
      ({ payment }: { payment: HostedPaymentSnapshot }) => `/api/v3.1/payments/${payment.paymentReference}`,
    ];
    for (const buildPath of paths) {
      const { sessionId, payment } = await createUnknownPayment();
      const succeeded = { ...payment, state: 'success' as const, processedAmount: payment.amount };
      await gateway.respondToChecks(() => ({
        ok: true,
        reply: [{ ...succeeded, payable: { ...payment.payable, version: 3 } }],
      }));
      gateway.clock.advance(2_000);
      const { status, text } = await gateway.call('GET', buildPath({ sessionId, payment }), {
        headers: merchant.headers,
      });
      gateway.clock.advance(-2_000);
      expect([status, text]).toEqual([200, expect.stringContaining('"paymentStatus":"Success"')]);
    }
  });

  test('is shown as late after ten seconds, also if it cannot be refreshed', async () => {
    const { sessionId } = await createUnknownPayment();
    expect(await getPage(sessionId)).toContain('Confirming with your bank…');
    gateway.clock.advance(10_000);
    await gateway.respondToChecks(() => ({ ok: false, code: 'service.not-ready', message: 'Not ready.', fields: [] }));
    const late = await getPage(sessionId);
    expect(late).toContain('Still checking with your bank. Do not pay again.');
    expect(pageState(late)).toBe('processing');
    gateway.clock.advance(-10_000);
  });

  test('is shown as processing during the pay request, before the gateway has stored it', async () => {
    const sessionId = await gateway.createSession(merchant);
    let statesDuringCharge: (string | undefined)[] = [];
    // Reads page and state while the pay request waits for the reply.
    await gateway.respondToCharges(async ({ payable, reference }) => {
      statesDuringCharge = [pageState(await getPage(sessionId)), (await readState(sessionId)).state];
      return { ok: true, reply: buildPayment(payable, { reference, version: 3, state: 'failed' }) };
    });
    expect((await pay(sessionId)).body.state).toBe('declined');
    expect(statesDuringCharge).toEqual(['processing', 'processing']);
    expect(pageState(await getPage(sessionId))).toBe('declined');
  });
});

test('a reversed charge is shown on the page, also if its event is repeated or arrives before the failure, and after another payment succeeded', async () => {
  const sessionId = await gateway.createSession(merchant);
  const payable = await gateway.findPublishedPayable(sessionId);
  const failed = buildPayment(payable, { state: 'failed', version: 3 });
  const reversed = { ...failed, reversedUTCDate: gateway.clock.nowISO() };
  for (let count = 0; count < 2; count++) await gateway.deliver(anEvent(PaymentReversedV1, randomUUID(), 1, reversed));
  await gateway.deliver(anEvent(PaymentFailedV1, randomUUID(), 2, failed));
  expect(await getPage(sessionId)).toContain('was refunded to your card');
  await gateway.deliver(
    anEvent(PaymentSucceededV1, randomUUID(), 2, buildPayment(payable, { version: 5, paymentCount: 2 })),
  );
  const text = await getPage(sessionId);
  expect(text).toContain('was refunded to your card');
  expect(pageState(text)).toBe('succeeded');
});

const later = (seconds: number): string => gateway.clock.later(seconds * 1_000).toISOString();

describe('the event stream of page states', () => {
  let url: string;
  beforeAll(async () => {
    await gateway.service.app.listen(0, '127.0.0.1');
    url = `http://127.0.0.1:${(gateway.service.app.getHttpServer().address() as AddressInfo).port}`;
  });

  /**
   * Reads a stream until it ends. `closeConnection` ends the connection, as a browser does when its user leaves the
   * page.
   */
  function watchStream(address: string): { states: string[]; ended: Promise<void>; closeConnection: () => void } {
    const states: string[] = [];
    const request = get(address, { agent: false, headers: { accept: 'text/event-stream' } });
    const ended = new Promise<void>((resolve) => request.once('close', resolve));
    request.on('error', () => undefined);
    request.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        const events = (text + chunk).split('\n\n');
        text = events.pop()!;
        for (const event of events) {
          const data = /^data: (.*)$/m.exec(event)?.[1];
          if (data) states.push((JSON.parse(data) as { state: string }).state);
        }
      });
      response.on('error', () => undefined);
      expect(response.headers['content-type']).toMatch(/^(text\/event-stream|application\/json)/);
    });
    return { states, ended, closeConnection: () => request.destroy() };
  }

  test('sends the state immediately and after each change, on every replica', async () => {
    const sessionId = await gateway.createSession(merchant);
    const { states, ended, closeConnection } = watchStream(`${url}/pay/${sessionId}/events`);
    await waitUntil('the first state', 5_000, async () => states.length > 0);
    const replica = await startService(hostedGatewayService, {
      env: {
        SVC_ENVIRONMENT: 'development',
        SVC_LOG_LEVEL: 'silent',
        SVC_DATABASE_URL: (gateway.dataSource.options as { url: string }).url,
        ...GATEWAY_ENVIRONMENT,
      },
      broker: new EmbeddedBroker(),
      clock: gateway.clock,
    });
    const payable = await gateway.findPublishedPayable(sessionId);
    const replicaStream = watchStream(`${await startListening(replica)}/c/${payable.source.code}/events`);
    const payment = buildPayment(payable, { version: 3 });
    await gateway.deliver(anEvent(PaymentSucceededV1, randomUUID(), 2, payment));
    await waitUntil('the change on the first replica', 5_000, async () => states.at(-1) === 'succeeded');
    await waitUntil('the change on the second replica', 5_000, async () => replicaStream.states.at(-1) === 'succeeded');
    expect(new Set([...states, ...replicaStream.states])).toEqual(new Set(['open', 'succeeded']));
    closeConnection();
    await ended;
    // A shutdown does not wait for streams.
    await replica.close();
    await replicaStream.ended;
  });

  test('sends heartbeats to an open form without reading the session', async () => {
    const sessionId = await gateway.createSession(merchant);
    const { states, closeConnection } = watchStream(`${url}/pay/${sessionId}/events`);
    await waitUntil('the first state', 5_000, async () => states.length > 0);
    const read = jest.spyOn(gateway.service.app.get(SessionRepository), 'findByAddress');
    gateway.clock.advance(1_000);
    await waitUntil('a heartbeat', 5_000, async () => states.length > 1);
    expect([new Set(states), read.mock.calls]).toEqual([new Set(['open']), []]);
    // While the bank's result is pending, each heartbeat reads the state.
    const processing = buildPayment(await gateway.findPublishedPayable(sessionId), { version: 2, state: 'processing' });
    await gateway.deliver(anEvent(PaymentProcessingV1, randomUUID(), 1, inProgress(processing)));
    await waitUntil('the change', 5_000, async () => states.at(-1) === 'processing');
    const readsBefore = read.mock.calls.length;
    gateway.clock.advance(8_000);
    await waitUntil('another read', 5_000, async () => read.mock.calls.length > readsBefore);
    gateway.clock.advance(-9_000);
    read.mockRestore();
    closeConnection();
  });

  test('sends the next heartbeat only when it is due, and ends after ten minutes', async () => {
    const stateStreams = gateway.service.app.get(StateStreams);
    const out = (await stateStreams.open(
      { sessionId: await gateway.createSession(merchant) },
      PAYER,
      '::1',
    )) as PassThrough;
    const readSent = (): string | null => (out.read() as Buffer | null)?.toString() ?? null;
    expect(readSent()).toContain('"state":"open"');
    gateway.clock.advance(999);
    await stateStreams.tick();
    expect(readSent()).toBeNull();
    gateway.clock.advance(1);
    await waitUntil(
      'a heartbeat',
      5_000,
      async () => (await stateStreams.tick(), readSent()?.includes('"state":"open"')),
    );
    gateway.clock.advance(599_000);
    await waitUntil('the end', 5_000, async () => (await stateStreams.tick(), out.writableEnded));
    gateway.clock.advance(-600_000);
  });

  test('is rejected for an unknown session, and if ten streams of the session are open', async () => {
    expect((await fetch(`${url}/pay/${randomUUID()}/events`)).status).toBe(404);
    const sessionId = await gateway.createSession(merchant);
    const streams = Array.from({ length: 10 }, () => watchStream(`${url}/pay/${sessionId}/events`));
    await waitUntil('ten streams', 5_000, async () => streams.every(({ states }) => states.length > 0));
    const refused = await fetch(`${url}/pay/${sessionId}/events`);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    for (const { closeConnection } of streams) closeConnection();
    await waitUntil('a stream to be accepted again', 5_000, async () => {
      const stream = watchStream(`${url}/pay/${sessionId}/events`);
      await waitUntil('a state', 1_000, async () => stream.states.length > 0).catch(() => undefined);
      stream.closeConnection();
      return stream.states.length > 0;
    });
  });

  test('is not opened by a HEAD request', async () => {
    const sessionId = await gateway.createSession(merchant);
    // One request more than the limit of open streams.
    for (let count = 0; count < 11; count++)
      expect((await fetch(`${url}/pay/${sessionId}/events`, { method: 'HEAD' })).status).toBe(200);
    const { states, closeConnection } = watchStream(`${url}/pay/${sessionId}/events`);
    await waitUntil('the first event', 5_000, async () => states.length > 0);
    closeConnection();
    expect(states[0]).toBe('open');
  });

  test('closes the connection of a client that does not read', async () => {
    const sessionId = await gateway.createSession(merchant);
    const open = jest.spyOn(gateway.service.app.get(StateStreams), 'open');
    const reader = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
    reader.write(`GET /pay/${sessionId}/events HTTP/1.1\r\nhost: x\r\n\r\n`);
    await once(reader, 'data');
    reader.pause();
    const stream = (await open.mock.results[0]!.value) as PassThrough;
    open.mockRestore();
    // Writes more than the kernel buffers for both ends of a connection.
    for (let written = 0; written < 16 * 2 ** 20; written += 4_096) stream.write(Buffer.alloc(4_096, '\n'));
    const closed = once(stream, 'close');
    await waitUntil('the stream to be destroyed', 5_000, async () => stream.destroyed);
    await closed;
    // The client can still read the buffered data; then the connection ends.
    reader.on('error', () => undefined).resume();
    await once(reader, 'close');
    expect([reader.destroyed, stream.destroyed]).toEqual([true, true]);
  });

  async function startListening(replica: Awaited<ReturnType<typeof startService>>): Promise<string> {
    await replica.app.listen(0, '127.0.0.1');
    return `http://127.0.0.1:${(replica.app.getHttpServer().address() as AddressInfo).port}`;
  }
});
