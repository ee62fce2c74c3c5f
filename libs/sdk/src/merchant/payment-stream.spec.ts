import { getEventListeners } from 'node:events';
import { HttpExchange, type HttpExchangeOptions } from '../http-exchange.js';
import { type StreamOptions, streamPayments } from './payment-stream.js';

const payment = {
  type: 'payment',
  invoiceReference: 'i-1',
  invoiceExternalReference: 'ORDER-1',
  currencyISOCode: 'ZAR',
  invoicedAmount: 12_345,
  paymentReference: '1VQ5K3P0ABCDEFGHJK',
  paymentUTCDate: '2026-11-20T18:03:36.123Z',
  tipAmount: 500,
  tenderedAmount: 12_845,
  siteReference: 'TILL-1',
  status: 'Success',
  vouchers: [],
  customer: { firstName: 'Zoë', lastName: '💳' },
  siteId: 2,
};
const formatMessage = (id: string): string => `id: ${id}\ndata: ${JSON.stringify(payment)}\n\n`;
const request = { method: 'GET', url: 'https://api.example/stream', headers: {} } as const;

let fetchCount: number;
beforeEach(() => (fetchCount = 0));

/** Reads a stream of which each connection returns the next of the given chunk lists, and then ends. */
function readStream(connections: readonly Uint8Array[][], http: HttpExchangeOptions, options: StreamOptions = {}) {
  const fetch = async () => {
    const chunks = connections[fetchCount++] ?? [];
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    };
    return new Response(new ReadableStream({ start }));
  };
  return streamPayments(new HttpExchange({ fetch, ...http }), request, options);
}
const toChunks = (...texts: string[]) => texts.map((text) => new TextEncoder().encode(text));
const nextEventLoopTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A pause between two connections that ends only when the test ends it. */
function createPause() {
  const [started, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const wait = (): Promise<void> => (started.resolve(), ended.promise);
  return { wait, started: started.promise, end: ended.resolve };
}

test.each([
  ['without a signal', undefined],
  ['with a signal', new AbortController().signal],
])('the stream reconnects only after the pause, %s', async (_, signal) => {
  const pause = createPause();
  const notifications = readStream([toChunks(formatMessage('1')), toChunks(formatMessage('2'))], pause, { signal });
  expect((await notifications.next()).value).toMatchObject({ id: '1' });
  const second = notifications.next();
  await pause.started;
  await nextEventLoopTurn();
  expect(fetchCount).toBe(1);
  pause.end();
  expect((await second).value).toMatchObject({ id: '2' });
  expect(fetchCount).toBe(2);
  await notifications.return();
});

test('the stream ends if its signal is aborted after the pause has begun', async () => {
  const pause = createPause();
  const abort = new AbortController();
  const notifications = readStream([toChunks(formatMessage('1'))], pause, { signal: abort.signal });
  await notifications.next();
  const end = notifications.next();
  await pause.started;
  await nextEventLoopTurn();
  abort.abort();
  expect(await end).toEqual({ done: true, value: undefined });
  expect(fetchCount).toBe(1);
});

test('the stream sends no request if its signal is already aborted', async () => {
  const notifications = readStream([], {}, { signal: AbortSignal.abort() });
  expect(await notifications.next()).toEqual({ done: true, value: undefined });
  expect(fetchCount).toBe(0);
});

test('the stream ends without an error if its signal is aborted during the last of the first attempts', async () => {
  const abort = new AbortController();
  const fetch = async () => {
    if (++fetchCount === 4) abort.abort();
    throw new TypeError('fetch failed');
  };
  const notifications = readStream([], { fetch, wait: async () => undefined }, { signal: abort.signal });
  expect(await notifications.next()).toEqual({ done: true, value: undefined });
  expect(fetchCount).toBe(4);
});

test('the stream reports a response that is not a stream after the first attempts', async () => {
  const page = toChunks('<!doctype html>', '<p>Not here</p>');
  const notifications = readStream([page, page, page, page, page], { wait: async () => undefined });
  await expect(notifications.next()).rejects.toMatchObject({
    httpStatus: 200,
    status: 'InternalServer',
    message: expect.stringContaining('without the first message'),
  });
  expect(fetchCount).toBe(4);
});

test('the stream reports a connection that breaks off before its first message after the first attempts', async () => {
  const fetch = async () => {
    fetchCount++;
    return new Response(new ReadableStream({ pull: (controller) => controller.error(new TypeError('terminated')) }));
  };
  const notifications = readStream([], { fetch, wait: async () => undefined });
  await expect(notifications.next()).rejects.toMatchObject({
    httpStatus: 0,
    status: 'InternalServer',
    message: expect.stringContaining('The connection broke off'),
  });
  expect(fetchCount).toBe(4);
});

test('the stream begins again with the shortest pause after each connection that has sent a message', async () => {
  const pauses: number[] = [];
  const wait = async (ms: number): Promise<void> => void pauses.push(ms);
  const connections = [...'123'].map((id) => toChunks(formatMessage(id)));
  const notifications = readStream([connections[0]!, [], [], connections[1]!, connections[2]!], {
    wait,
    random: () => 0.5,
  });
  for (const id of ['1', '2', '3']) expect((await notifications.next()).value).toMatchObject({ id });
  await notifications.return();
  const [first, second, third, fourth] = pauses;
  expect(pauses).toHaveLength(4);
  expect([first! < second!, second! < third!, fourth]).toEqual([true, true, first]);
});

test('the stream leaves no listener on the caller’s signal after a pause', async () => {
  const abort = new AbortController();
  const connections = [...'123'].map((id) => toChunks(formatMessage(id)));
  const notifications = readStream(connections, { wait: async () => undefined }, { signal: abort.signal });
  for (const id of ['1', '2', '3']) expect((await notifications.next()).value).toMatchObject({ id });
  expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  await notifications.return();
});

test('the stream decodes a character whose bytes arrive in separate chunks', async () => {
  const bytes = new TextEncoder().encode(formatMessage('1'));
  const notifications = readStream([Array.from(bytes, (byte) => Uint8Array.of(byte))], {});
  expect((await notifications.next()).value).toMatchObject({ id: '1', payment: { customer: payment.customer } });
  await notifications.return();
});

test('the stream accepts any time of silence: no timer is longer than timers can be', async () => {
  const timer = jest.spyOn(globalThis, 'setTimeout');
  const notifications = readStream([toChunks(formatMessage('1'))], {}, { silenceMs: Number.POSITIVE_INFINITY });
  expect((await notifications.next()).value).toMatchObject({ id: '1' });
  await notifications.return();
  expect(timer.mock.calls.map(([, milliseconds]) => milliseconds)).toContain(2 ** 31 - 1);
  timer.mockRestore();
});

test('the stream ignores unknown fields and an invalid reconnection time', async () => {
  const notifications = readStream([toChunks('note: x\nretry: soon\n\n', formatMessage('1'))], {});
  expect((await notifications.next()).value).toMatchObject({ id: '1', type: 'payment' });
  await notifications.return();
});
