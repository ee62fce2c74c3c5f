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
  const notices = readStream([toChunks(formatMessage('1')), toChunks(formatMessage('2'))], pause, { signal });
  expect((await notices.next()).value).toMatchObject({ id: '1' });
  const second = notices.next();
  await pause.started;
  await nextEventLoopTurn();
  expect(fetchCount).toBe(1);
  pause.end();
  expect((await second).value).toMatchObject({ id: '2' });
  expect(fetchCount).toBe(2);
  await notices.return();
});

test('the stream ends if its signal is aborted after the pause has begun', async () => {
  const pause = createPause();
  const abort = new AbortController();
  const notices = readStream([toChunks(formatMessage('1'))], pause, { signal: abort.signal });
  await notices.next();
  const end = notices.next();
  await pause.started;
  await nextEventLoopTurn();
  abort.abort();
  expect(await end).toEqual({ done: true, value: undefined });
  expect(fetchCount).toBe(1);
});

test('the stream sends no request if its signal is already aborted', async () => {
  const notices = readStream([], {}, { signal: AbortSignal.abort() });
  expect(await notices.next()).toEqual({ done: true, value: undefined });
  expect(fetchCount).toBe(0);
});

test('the stream ends without an error if its signal is aborted during the last of the first attempts', async () => {
  const abort = new AbortController();
  const fetch = async () => {
    if (++fetchCount === 4) abort.abort();
    throw new TypeError('fetch failed');
  };
  const notices = readStream([], { fetch, wait: async () => undefined }, { signal: abort.signal });
  expect(await notices.next()).toEqual({ done: true, value: undefined });
  expect(fetchCount).toBe(4);
});

test('the stream reports a response that is not a stream after the first attempts', async () => {
  const page = toChunks('<!doctype html>', '<p>Not here</p>');
  const notices = readStream([page, page, page, page, page], { wait: async () => undefined });
  await expect(notices.next()).rejects.toMatchObject({
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
  const notices = readStream([], { fetch, wait: async () => undefined });
  await expect(notices.next()).rejects.toMatchObject({
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
  const notices = readStream([connections[0]!, [], [], connections[1]!, connections[2]!], { wait, random: () => 0.5 });
  for (const id of ['1', '2', '3']) expect((await notices.next()).value).toMatchObject({ id });
  await notices.return();
  const [first, second, third, fourth] = pauses;
  expect(pauses).toHaveLength(4);
  expect([first! < second!, second! < third!, fourth]).toEqual([true, true, first]);
});

test('the stream leaves no listener on the caller’s signal after a pause', async () => {
  const abort = new AbortController();
  const connections = [...'123'].map((id) => toChunks(formatMessage(id)));
  const notices = readStream(connections, { wait: async () => undefined }, { signal: abort.signal });
  for (const id of ['1', '2', '3']) expect((await notices.next()).value).toMatchObject({ id });
  expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  await notices.return();
});

test('the stream decodes a character whose bytes arrive in separate chunks', async () => {
  const bytes = new TextEncoder().encode(formatMessage('1'));
  const notices = readStream([Array.from(bytes, (byte) => Uint8Array.of(byte))], {});
  expect((await notices.next()).value).toMatchObject({ id: '1', payment: { customer: payment.customer } });
  await notices.return();
});

test('the stream accepts any time of silence: no timer is longer than timers can be', async () => {
  const timer = jest.spyOn(globalThis, 'setTimeout');
  const notices = readStream([toChunks(formatMessage('1'))], {}, { silenceMs: Number.POSITIVE_INFINITY });
  expect((await notices.next()).value).toMatchObject({ id: '1' });
  await notices.return();
  expect(timer.mock.calls.map(([, milliseconds]) => milliseconds)).toContain(2 ** 31 - 1);
  timer.mockRestore();
});

test('the stream ignores unknown fields and an invalid reconnection time', async () => {
  const notices = readStream([toChunks('note: x\nretry: soon\n\n', formatMessage('1'))], {});
  expect((await notices.next()).value).toMatchObject({ id: '1', type: 'payment' });
  await notices.return();
});
