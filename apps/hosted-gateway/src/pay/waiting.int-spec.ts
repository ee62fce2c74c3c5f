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
import { anEvent, waitUntil } from '@svc/testing';
import { ADMIN_KEY, aPayment, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { hostedGatewayService } from '../index.js';
import { SessionRepository } from '../sessions/session.repository.js';
import { StateStreams } from './state-streams.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.aMerchant();
});
afterAll(() => gateway.stop());

const page = async (sessionId: string, query = ''): Promise<string> =>
  (await gateway.call('GET', `/pay?sessionId=${sessionId}${query}`)).text;
const stateOf = async (sessionId: string): Promise<{ state: string; redirectUrl?: string }> =>
  (await gateway.call('GET', `/pay/${sessionId}/state`)).body;
const shownOn = (text: string): string | undefined => /data-state="([^"]*)"/.exec(text)?.[1];
const press = (sessionId: string, nth = 1) =>
  gateway.call('POST', `/pay/${sessionId}/payments`, {
    payload: { reference: randomUUID(), try: nth, encryptedCard: 'a.b.c' },
  });

const BROWSER = { chosen: undefined, accepted: undefined, ownReferences: [] };
const VERIFICATION_URL = 'https://bank.example/challenges/1';
const waits = (over: Partial<HostedPaymentSnapshot> & { version: number; tries?: number }): typeof over => ({
  state: 'verificationRequired',
  verificationUrl: VERIFICATION_URL,
  verificationUntilUTCDate: gateway.clock.later(900_000).toISOString(),
  modifiedUTCDate: gateway.clock.nowISO(),
  paymentUTCDate: gateway.clock.nowISO(),
  ...over,
});
/** A session whose payer was sent to the bank. */
async function challenged(tries = 1): Promise<{ sessionId: string; payment: HostedPaymentSnapshot }> {
  const sessionId = await gateway.createSession(merchant);
  const payment = aPayment(await gateway.payableOf(sessionId), waits({ version: 2 * tries + 1, tries }));
  const waiting = { ...payment, payable: { ...payment.payable, state: 'open' as const } };
  await gateway.deliver(anEvent(PaymentVerificationRequiredV1, randomUUID(), 2, waiting));
  return { sessionId, payment: waiting };
}

describe('a payer in verification', () => {
  test('is redirected to the bank by the response to the pay request, and by the page', async () => {
    const sessionId = await gateway.createSession(merchant);
    await gateway.charges(({ payable, reference }) => {
      const payment = aPayment(payable, { reference, ...waits({ version: 3 }) });
      return { ok: true, reply: { ...payment, payable: { ...payment.payable, state: 'open' } } };
    });
    expect((await press(sessionId)).body).toEqual({ state: 'verification', version: 3, redirectUrl: VERIFICATION_URL });
    const text = await page(sessionId);
    expect(text).toContain(`href="${VERIFICATION_URL}"`);
    expect(text).not.toContain('<form');
  });

  test('can use another card instead, and sees its result', async () => {
    const { sessionId } = await challenged();
    expect(shownOn(await page(sessionId))).toBe('verification');
    const form = await page(sessionId, '&card=another');
    expect([shownOn(form), /data-try="(\d)"/.exec(form)?.[1]]).toEqual(['open', '2']);
    await gateway.charges(({ payable, reference }) => ({
      ok: true,
      reply: aPayment(payable, { reference, state: 'failed', version: 5, tries: 2, paymentUTCDate: later(1) }),
    }));
    expect((await press(sessionId, 2)).body.state).toBe('declined');
    expect(shownOn(await page(sessionId))).toBe('declined');
  });

  test('cannot use another card at the fifth attempt, but can continue after the session has expired', async () => {
    const { sessionId } = await challenged(5);
    expect(await page(sessionId)).not.toContain('card=another');
    expect(shownOn(await page(sessionId, '&card=another'))).toBe('verification');
    gateway.clock.advance(30 * 60_000);
    const late = await challenged();
    await gateway.dataSource.query(`UPDATE sessions SET expires_at = $2 WHERE session_id = $1`, [
      late.sessionId,
      gateway.clock.now(),
    ]);
    expect(shownOn(await page(late.sessionId))).toBe('verification');
    expect(shownOn(await page(late.sessionId, '&card=another'))).toBe('verification');
    gateway.clock.advance(-30 * 60_000);
  });

  test('whose verification expired sees the form again, or that the session has expired', async () => {
    const { sessionId } = await challenged();
    gateway.clock.advance(900_000);
    expect(shownOn(await page(sessionId))).toBe('open');
    gateway.clock.advance(900_000);
    expect(shownOn(await page(sessionId))).toBe('expired');
    gateway.clock.advance(-1_800_000);
  });

  test('gets the current result at every read, because each read refreshes the payment', async () => {
    const { sessionId, payment } = await challenged();
    let asked = 0;
    await gateway.checks(({ payableId }) => {
      asked++;
      expect(payableId).toBe(sessionId);
      const payable = { ...payment.payable, state: 'paid' as const, version: 5 };
      return { ok: true, reply: [{ ...payment, state: 'success', processedAmount: payment.amount, payable }] };
    });
    expect(shownOn(await page(sessionId))).toBe('succeeded');
    await stateOf(sessionId);
    expect(asked).toBe(1);
  });
});

describe('a payment with an unknown result', () => {
  const unknown = async (): Promise<{ sessionId: string; payment: HostedPaymentSnapshot }> => {
    const sessionId = await gateway.createSession(merchant);
    const known = { state: 'processing' as const, modifiedUTCDate: gateway.clock.nowISO(), version: 2 };
    const payment = aPayment(await gateway.payableOf(sessionId), known);
    await gateway.charges(() => ({ ok: true, reply: payment }));
    expect((await press(sessionId)).status).toBe(202);
    return { sessionId, payment };
  };

  test('is not refreshed for two seconds, then at every read', async () => {
    const { sessionId } = await unknown();
    let asked = 0;
    await gateway.checks(() => (asked++, { ok: true, reply: [] }));
    gateway.clock.advance(1_999);
    await stateOf(sessionId);
    expect(asked).toBe(0);
    gateway.clock.advance(1);
    await stateOf(sessionId);
    expect(asked).toBe(1);
    await page(sessionId);
    expect(asked).toBe(2);
    gateway.clock.advance(-2_000);
  });

  test('is no longer refreshed once it is final', async () => {
    const { sessionId, payment } = await unknown();
    const payable = { ...payment.payable, state: 'open' as const, version: 3 };
    await gateway.deliver(anEvent(PaymentFailedV1, randomUUID(), 2, { ...payment, state: 'failed', payable }));
    let asked = 0;
    await gateway.checks(() => (asked++, { ok: true, reply: [] }));
    gateway.clock.advance(2_000);
    expect([(await stateOf(sessionId)).state, asked]).toEqual(['declined', 0]);
    gateway.clock.advance(-2_000);
  });

  test('is refreshed when its merchant reads the session or the payment', async () => {
    const looks = [
      ({ sessionId }: { sessionId: string }) => `/api/v3.1/payments?sessionId=${sessionId}`,
      ({ payment }: { payment: HostedPaymentSnapshot }) => `/api/v3.1/payments/${payment.paymentReference}`,
    ];
    for (const look of looks) {
      const { sessionId, payment } = await unknown();
      const known = { ...payment, state: 'success' as const, processedAmount: payment.amount };
      await gateway.checks(() => ({ ok: true, reply: [{ ...known, payable: { ...payment.payable, version: 3 } }] }));
      gateway.clock.advance(2_000);
      const { status, text } = await gateway.call('GET', look({ sessionId, payment }), { headers: merchant.headers });
      gateway.clock.advance(-2_000);
      expect([status, text]).toEqual([200, expect.stringContaining('"paymentStatus":"Success"')]);
    }
  });

  test('is shown as late after ten seconds, and stays unchanged if it cannot be refreshed', async () => {
    const { sessionId } = await unknown();
    expect(await page(sessionId)).toContain('Confirming with your bank…');
    gateway.clock.advance(10_000);
    await gateway.checks(() => ({ ok: false, code: 'service.not-ready', message: 'Not ready.', fields: [] }));
    const late = await page(sessionId);
    expect(late).toContain('Still checking with your bank. Do not pay again.');
    expect(shownOn(late)).toBe('processing');
    gateway.clock.advance(-10_000);
  });

  test('is shown as processing from the pay request on, before it is recorded', async () => {
    const sessionId = await gateway.createSession(merchant);
    let seen: (string | undefined)[] = [];
    // The response waits until the others have read the state.
    await gateway.charges(async ({ payable, reference }) => {
      seen = [shownOn(await page(sessionId)), (await stateOf(sessionId)).state];
      return { ok: true, reply: aPayment(payable, { reference, version: 3, state: 'failed' }) };
    });
    expect((await press(sessionId)).body.state).toBe('declined');
    expect(seen).toEqual(['processing', 'processing']);
    expect(shownOn(await page(sessionId))).toBe('declined');
  });
});

test('a reversed charge is shown for any result of its payment, also when its event is repeated or arrives first', async () => {
  const sessionId = await gateway.createSession(merchant);
  const payable = await gateway.payableOf(sessionId);
  const failed = aPayment(payable, { state: 'failed', version: 3 });
  const reversed = { ...failed, reversedUTCDate: gateway.clock.nowISO() };
  for (let times = 0; times < 2; times++) await gateway.deliver(anEvent(PaymentReversedV1, randomUUID(), 1, reversed));
  await gateway.deliver(anEvent(PaymentFailedV1, randomUUID(), 2, failed));
  expect(await page(sessionId)).toContain('was given back');
  await gateway.deliver(anEvent(PaymentSucceededV1, randomUUID(), 2, aPayment(payable, { version: 5, tries: 2 })));
  const text = await page(sessionId);
  expect(text).toContain('was given back');
  expect(shownOn(text)).toBe('succeeded');
});

const later = (seconds: number): string => gateway.clock.later(seconds * 1_000).toISOString();

describe('the stream of states', () => {
  let url: string;
  beforeAll(async () => {
    await gateway.service.app.listen(0, '127.0.0.1');
    url = `http://127.0.0.1:${(gateway.service.app.getHttpServer().address() as AddressInfo).port}`;
  });

  /** Reads a stream until it ends. `leave` closes the connection, as a browser does. */
  function watch(address: string): { states: string[]; ended: Promise<void>; leave: () => void } {
    const states: string[] = [];
    const request = get(address, { agent: false, headers: { accept: 'text/event-stream' } });
    const ended = new Promise<void>((resolve) => request.once('close', resolve));
    request.on('error', () => undefined);
    request.once('response', (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        const events = (text + chunk).split('\n\n');
        text = events.pop()!;
        for (const event of events) {
          const data = /^data: (.*)$/m.exec(event)?.[1];
          if (data) states.push((JSON.parse(data) as { state: string }).state);
        }
      });
      answer.on('error', () => undefined);
      expect(answer.headers['content-type']).toMatch(/^(text\/event-stream|application\/json)/);
    });
    return { states, ended, leave: () => request.destroy() };
  }

  test('sends the state immediately, and every change, also of another replica', async () => {
    const sessionId = await gateway.createSession(merchant);
    const { states, ended, leave } = watch(`${url}/pay/${sessionId}/events`);
    await waitUntil('the first state', 5_000, async () => states.length === 1);
    const replica = await startService(hostedGatewayService, {
      env: {
        SVC_ENVIRONMENT: 'development',
        SVC_LOG_LEVEL: 'silent',
        SVC_DATABASE_URL: (gateway.dataSource.options as { url: string }).url,
        SVC_GATEWAY_URL: 'https://pay.example',
        SVC_CODES_URL: 'https://codes.example',
        SVC_ADMIN_KEY: ADMIN_KEY,
      },
      broker: new EmbeddedBroker(),
      clock: gateway.clock,
    });
    const payable = await gateway.payableOf(sessionId);
    const theirs = watch(`${await listening(replica)}/c/${payable.source.code}/events`);
    const payment = aPayment(payable, { version: 3 });
    await gateway.deliver(anEvent(PaymentSucceededV1, randomUUID(), 2, payment));
    await waitUntil('the change, here', 5_000, async () => states.at(-1) === 'succeeded');
    await waitUntil('the change, there', 5_000, async () => theirs.states.at(-1) === 'succeeded');
    expect(new Set([...states, ...theirs.states])).toEqual(new Set(['open', 'succeeded']));
    leave();
    await ended;
    // A shutdown does not wait for streams.
    await replica.close();
    await theirs.ended;
  });

  test('sends heartbeats to an idle form without reading the session', async () => {
    const sessionId = await gateway.createSession(merchant);
    const { states, leave } = watch(`${url}/pay/${sessionId}/events`);
    await waitUntil('the first state', 5_000, async () => states.length === 1);
    const read = jest.spyOn(gateway.service.app.get(SessionRepository), 'findByAddress');
    gateway.clock.advance(1_000);
    await waitUntil('a sign of life', 5_000, async () => states.length === 2);
    expect([states, read.mock.calls]).toEqual([['open', 'open'], []]);
    // While the bank's result is pending, each heartbeat reads the state.
    const underWay = aPayment(await gateway.payableOf(sessionId), { version: 2, state: 'processing' });
    await gateway.deliver(anEvent(PaymentProcessingV1, randomUUID(), 1, underWay));
    await waitUntil('the change', 5_000, async () => states.at(-1) === 'processing');
    const looks = read.mock.calls.length;
    gateway.clock.advance(8_000);
    await waitUntil('another look', 5_000, async () => read.mock.calls.length > looks);
    gateway.clock.advance(-9_000);
    read.mockRestore();
    leave();
  });

  test('sends nothing before the next heartbeat is due, and ends after ten minutes', async () => {
    const watching = gateway.service.app.get(StateStreams);
    const out = (await watching.open({ sessionId: await gateway.createSession(merchant) }, BROWSER)) as PassThrough;
    const said = (): string | null => (out.read() as Buffer | null)?.toString() ?? null;
    expect(said()).toContain('"state":"open"');
    gateway.clock.advance(999);
    await watching.tick();
    expect(said()).toBeNull();
    gateway.clock.advance(1);
    await waitUntil('a sign of life', 5_000, async () => (await watching.tick(), said()?.includes('"state":"open"')));
    gateway.clock.advance(599_000);
    await waitUntil('the end', 5_000, async () => (await watching.tick(), out.writableEnded));
    gateway.clock.advance(-600_000);
  });

  test('is rejected for an unknown session, and if one payer opens too many', async () => {
    expect((await fetch(`${url}/pay/${randomUUID()}/events`)).status).toBe(404);
    const sessionId = await gateway.createSession(merchant);
    const streams = Array.from({ length: 10 }, () => watch(`${url}/pay/${sessionId}/events`));
    await waitUntil('ten streams', 5_000, async () => streams.every(({ states }) => states.length > 0));
    const refused = await fetch(`${url}/pay/${sessionId}/events`);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    for (const { leave } of streams) leave();
    await waitUntil('a place', 5_000, async () => {
      const again = watch(`${url}/pay/${sessionId}/events`);
      await waitUntil('an answer', 1_000, async () => again.states.length > 0).catch(() => undefined);
      again.leave();
      return again.states.length > 0;
    });
  });

  test('is not opened for a HEAD request', async () => {
    const sessionId = await gateway.createSession(merchant);
    for (let count = 0; count < 11; count++)
      expect((await fetch(`${url}/pay/${sessionId}/events`, { method: 'HEAD' })).status).toBe(200);
    const { states, leave } = watch(`${url}/pay/${sessionId}/events`);
    await waitUntil('the first event', 5_000, async () => states.length > 0);
    leave();
    expect(states).toEqual(['open']);
  });

  test('closes a connection that does not read', async () => {
    const sessionId = await gateway.createSession(merchant);
    const open = jest.spyOn(gateway.service.app.get(StateStreams), 'open');
    const reader = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
    reader.write(`GET /pay/${sessionId}/events HTTP/1.1\r\nhost: x\r\n\r\n`);
    await once(reader, 'data');
    reader.pause();
    const stream = (await open.mock.results[0]!.value) as PassThrough;
    open.mockRestore();
    // More than the kernel buffers for both ends of a connection, as after years of heartbeats.
    for (let written = 0; written < 16 * 2 ** 20; written += 4_096) stream.write(Buffer.alloc(4_096, '\n'));
    const closed = once(stream, 'close');
    await waitUntil('the reader to be let go', 5_000, async () => stream.destroyed);
    await closed;
    // The buffered data is still readable; then the connection ends.
    reader.on('error', () => undefined).resume();
    await once(reader, 'close');
    expect([reader.destroyed, stream.destroyed]).toEqual([true, true]);
  });

  async function listening(replica: Awaited<ReturnType<typeof startService>>): Promise<string> {
    await replica.app.listen(0, '127.0.0.1');
    return `http://127.0.0.1:${(replica.app.getHttpServer().address() as AddressInfo).port}`;
  }
});
