import { fetchState, postPayment, requestChallenge, requestMoreTime, streamStates } from './gateway-calls.js';
import type { SessionState } from './payment-flow.js';

type Listener = (event: { data?: string }) => void;

const CALLS = { path: '/pay/1', query: '' };

/** A fake EventSource. The test sends its events. */
class ScriptedEventSource {
  static readonly CLOSED = 2;
  static opened: ScriptedEventSource[] = [];
  readyState = 1;
  private readonly listeners = new Map<string, Listener>();

  constructor(readonly url: string) {
    ScriptedEventSource.opened.push(this);
  }

  addEventListener(type: string, listener: Listener): void {
    this.listeners.set(type, listener);
  }

  close(): void {
    this.readyState = ScriptedEventSource.CLOSED;
  }

  emit(type: string, data?: string): void {
    this.listeners.get(type)?.(data === undefined ? {} : { data });
  }
}

beforeEach(() => {
  ScriptedEventSource.opened = [];
  Object.assign(globalThis, { EventSource: ScriptedEventSource, window: new EventTarget() });
});
afterEach(() => ['EventSource', 'window'].forEach((name) => Reflect.deleteProperty(globalThis, name)));

function openStream() {
  const states: SessionState[] = [];
  const breaks: boolean[] = [];
  const close = streamStates(
    CALLS,
    (state) => states.push(state),
    (isClosed) => breaks.push(isClosed),
  );
  return { states, breaks, close, source: ScriptedEventSource.opened[0] };
}

describe('streamStates', () => {
  it('calls onState with every valid state, and ignores other data', () => {
    const { states, source } = openStream();
    expect(source?.url).toBe('/pay/1/events');
    for (const data of ['{"state":"open","version":1}', '{"state":"processing"}', '{"version":3}', 'null', '{'])
      source?.emit('state', data);
    expect(states).toStrictEqual([
      { state: 'open', version: '1' },
      { state: 'processing', version: undefined },
    ]);
  });

  it('calls onBroken after each error, with true if the stream is closed', () => {
    const { breaks, close, source } = openStream();
    source?.emit('error');
    close();
    source?.emit('error');
    expect(breaks).toEqual([false, true]);
  });

  it('calls onBroken immediately in a browser without EventSource', () => {
    Reflect.deleteProperty(globalThis, 'EventSource');
    const { breaks, source } = openStream();
    expect([breaks, source]).toEqual([[true], undefined]);
  });
});

describe('the calls to the gateway', () => {
  const fetchMock = jest.spyOn(globalThis, 'fetch');
  afterEach(() => fetchMock.mockReset());
  afterAll(() => fetchMock.mockRestore());
  const common = {
    cache: 'no-store',
    credentials: 'same-origin',
    redirect: 'error',
    signal: expect.any(AbortSignal) as AbortSignal,
  };
  /** Lets fetch return this response. If the body is undefined, the connection breaks while the response is read. */
  const respondWith = (status: number, body: string | undefined): void => {
    const response = new Response(body, { status });
    if (body === undefined) jest.spyOn(response, 'text').mockRejectedValue(new TypeError('broken off'));
    fetchMock.mockResolvedValue(response);
  };

  const body = { reference: 'r', paymentNumber: 1, encryptedCard: 'c' };

  it('post a payment as JSON, only to the host of the page, and only once', async () => {
    respondWith(202, '{}');
    await postPayment(CALLS, body);
    expect(fetchMock.mock.calls).toEqual([
      [
        '/pay/1/payments',
        {
          ...common,
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'application/json' },
          body: JSON.stringify(body),
        },
      ],
    ]);
  });

  it.each([
    ['2', { retryAfterSeconds: 2 }],
    ['0', {}],
    ['-1', {}],
    ['', {}],
    ['Sun, 01 Mar 2026 10:00:00 GMT', {}],
  ])('read how long the server is busy, from the header retry-after: %s', async (header, expected) => {
    fetchMock.mockResolvedValue(new Response('{}', { status: 429, headers: { 'retry-after': header } }));
    expect(await postPayment(CALLS, body)).toStrictEqual({ kind: 'response', httpStatus: 429, ...expected });
  });

  it('contain the language if the URL of the page has one', async () => {
    const calls = { path: '/pay/1', query: '?lang=zu' };
    respondWith(202, '{}');
    await postPayment(calls, body);
    respondWith(200, '{}');
    await fetchState(calls, new AbortController().signal);
    streamStates(calls, jest.fn(), jest.fn());
    const urls = [...fetchMock.mock.calls.map(([url]) => url), ScriptedEventSource.opened[0]?.url];
    expect(urls).toEqual(['/pay/1/payments?lang=zu', '/pay/1/state?lang=zu', '/pay/1/events?lang=zu']);
  });

  it.each<[number, string | undefined, object]>([
    [202, '{"state":"processing"}', { state: 'processing' }],
    [200, '{"redirectUrl":"https://bank.example/1"}', { redirectUrl: 'https://bank.example/1' }],
    [409, '{"errors":[{"message":"Paid"},{"message":"second"}]}', { message: 'Paid' }],
    [400, `{"errors":[{"message":"${'x'.repeat(301)}"}]}`, { message: 'x'.repeat(300) }],
    [400, '{"errors":[]}', {}],
    [400, '{"errors":[{"message":""}]}', {}],
    [400, '{"errors":[{"message":7}],"state":7,"redirectUrl":7}', {}],
    [400, '{"errors":"Paid"}', {}],
    [502, 'no JSON', {}],
    [502, '"text"', {}],
    [502, undefined, {}],
  ])(
    'return the valid fields of the response to a payment, with status %i and body %s',
    async (httpStatus, text, received) => {
      respondWith(httpStatus, text);
      const result = await postPayment(CALLS, body);
      const { received: _, ...outcome } = { received: undefined, ...result };
      expect('received' in result).toBe('state' in received);
      expect(outcome).toStrictEqual({ kind: 'response', httpStatus, ...received });
    },
  );

  const decline = {
    paymentNumber: 2,
    title: 'Declined',
    next: 'Use another card.',
    paymentsLeft: 'You have 4 of 5 attempts left.',
  };
  it.each<[string, object, object | undefined]>([
    [
      'with all fields',
      { ...decline, field: 'cvv', reference: 'R 1', more: 1 },
      { ...decline, field: 'cvv', reference: 'R 1' },
    ],
    ['with an invalid field and an invalid reference', { ...decline, field: 1, reference: 2 }, decline],
    ['without the optional fields', decline, decline],
    ['without a required text', { ...decline, next: undefined }, undefined],
    ['without a valid payment number', { ...decline, paymentNumber: '2' }, undefined],
  ])('parse a decline %s', async (_, received, parsed) => {
    const text = JSON.stringify({ state: 'declined', version: 3, decline: received });
    const state = { state: 'declined', version: '3', ...(parsed === undefined ? {} : { decline: parsed }) };
    respondWith(200, text);
    expect(await postPayment(CALLS, body)).toMatchObject({ received: state });
    respondWith(200, text);
    expect(await fetchState(CALLS, new AbortController().signal)).toStrictEqual(state);
  });

  it.each<[string, object, object | undefined]>([
    [
      'with all fields',
      { paymentNumber: 2, paymentsLeft: 'You have 4 of 5 attempts left.', more: 1 },
      { paymentNumber: 2, paymentsLeft: 'You have 4 of 5 attempts left.' },
    ],
    ['without the required text', { paymentNumber: 2 }, undefined],
    ['without a valid number', { paymentNumber: '2', paymentsLeft: 'You have 4 of 5 attempts left.' }, undefined],
  ])('parse the next payment %s', async (_, received, parsed) => {
    respondWith(200, JSON.stringify({ state: 'open', version: 3, nextPayment: received }));
    const state = { state: 'open', version: '3', ...(parsed === undefined ? {} : { nextPayment: parsed }) };
    expect(await fetchState(CALLS, new AbortController().signal)).toStrictEqual(state);
  });

  it('request more time, and return the new expiry', async () => {
    const extended = { state: 'open', version: 2, expiresAt: '2026-03-01T10:45:00.000Z' };
    respondWith(200, JSON.stringify(extended));
    expect(await requestMoreTime({ path: '/pay/1', query: '?lang=zu' })).toStrictEqual({ ...extended, version: '2' });
    const [url, options] = fetchMock.mock.lastCall as unknown as [string, RequestInit];
    expect([url, options]).toEqual([
      '/pay/1/more-time?lang=zu',
      { ...common, method: 'POST', headers: { accept: 'application/json' } },
    ]);
    respondWith(503, JSON.stringify(extended));
    expect(await requestMoreTime(CALLS)).toBeUndefined();
    fetchMock.mockRejectedValue(new TypeError('refused'));
    expect(await requestMoreTime(CALLS)).toBeUndefined();
  });

  it('request a challenge, which is absent if the payment needs none', async () => {
    respondWith(200, JSON.stringify({ challenge: 'a.b.c' }));
    expect(await requestChallenge({ path: '/pay/1', query: '?lang=zu' })).toStrictEqual({ challenge: 'a.b.c' });
    const [url, options] = fetchMock.mock.lastCall as unknown as [string, RequestInit];
    expect([url, options]).toEqual([
      '/pay/1/challenges?lang=zu',
      { ...common, method: 'POST', headers: { accept: 'application/json' } },
    ]);
    for (const nothing of ['{}', '{"challenge":1}', 'no JSON']) {
      respondWith(200, nothing);
      expect(await requestChallenge(CALLS)).toStrictEqual({});
    }
    respondWith(429, JSON.stringify({ challenge: 'a.b.c' }));
    expect(await requestChallenge(CALLS)).toBeUndefined();
    fetchMock.mockRejectedValue(new TypeError('refused'));
    expect(await requestChallenge(CALLS)).toBeUndefined();
  });

  it('return unreachable if the POST gets no response', async () => {
    fetchMock.mockRejectedValue(new TypeError('refused'));
    expect(await postPayment(CALLS, body)).toEqual({ kind: 'unreachable', neverSent: false });
  });

  it.each([
    { onLineBefore: false, onLineAfter: false, neverSent: true },
    { onLineBefore: true, onLineAfter: true, neverSent: false },
    { onLineBefore: true, onLineAfter: false, neverSent: false },
    { onLineBefore: false, onLineAfter: true, neverSent: false },
    // A browser without `navigator.onLine`.
    { onLineBefore: undefined, onLineAfter: undefined, neverSent: false },
  ])(
    'return neverSent = $neverSent if navigator.onLine is $onLineBefore before a failed POST and $onLineAfter after it',
    async ({ onLineBefore, onLineAfter, neverSent }) => {
      const network = jest.spyOn(globalThis, 'navigator', 'get');
      network
        .mockReturnValueOnce({ onLine: onLineBefore } as Navigator)
        .mockReturnValue({ onLine: onLineAfter } as Navigator);
      fetchMock.mockRejectedValue(new TypeError('no network'));
      expect(await postPayment(CALLS, body)).toEqual({ kind: 'unreachable', neverSent });
      network.mockRestore();
    },
  );

  it('return neverSent = false if the browser was online for a moment during the POST', async () => {
    const network = jest.spyOn(globalThis, 'navigator', 'get').mockReturnValue({ onLine: false } as Navigator);
    const removeListener = jest.spyOn(window, 'removeEventListener');
    fetchMock.mockImplementationOnce(() => {
      window.dispatchEvent(new Event('online'));
      return Promise.reject(new TypeError('no network'));
    });
    expect(await postPayment(CALLS, body)).toEqual({ kind: 'unreachable', neverSent: false });
    expect(removeListener).toHaveBeenCalledWith('online', expect.any(Function));
    fetchMock.mockRejectedValueOnce(new TypeError('no network'));
    expect(await postPayment(CALLS, body)).toEqual({ kind: 'unreachable', neverSent: true });
    network.mockRestore();
  });

  it.each<[number, string | undefined, SessionState | undefined]>([
    [200, '{"state":"open","version":3}', { state: 'open', version: '3' }],
    [200, '{"state":"open","version":"4"}', { state: 'open', version: '4' }],
    [200, '{"state":"open","version":true}', { state: 'open', version: undefined }],
    [200, '{"version":3}', undefined],
    [200, undefined, undefined],
    [404, '{"status":"NotFound","errors":[]}', { state: 'not-found' }],
    [404, '<h1>proxy</h1>', undefined],
    [404, '{"state":"open"}', undefined],
    [503, '{"status":"NotFound"}', undefined],
    [503, '{"state":"open"}', undefined],
  ])('return a state only from a valid response of the gateway: status %i, body %s', async (status, text, state) => {
    respondWith(status, text);
    expect(await fetchState(CALLS, new AbortController().signal)).toEqual(state);
    expect(fetchMock.mock.calls).toEqual([['/pay/1/state', { ...common, headers: { accept: 'application/json' } }]]);
  });

  describe('without a response', () => {
    const hangUntilAborted = (): void =>
      void fetchMock.mockImplementation((_, init) => {
        const { promise, reject } = Promise.withResolvers<Response>();
        init!.signal!.addEventListener('abort', () => reject(new Error('aborted')));
        return promise;
      });
    beforeEach(() => void jest.useFakeTimers());
    afterEach(() => void jest.useRealTimers());

    it('are aborted after eight seconds', async () => {
      hangUntilAborted();
      const state = fetchState(CALLS, new AbortController().signal);
      await jest.advanceTimersByTimeAsync(7_999);
      expect(fetchMock.mock.calls[0]![1]!.signal!.aborted).toBe(false);
      await jest.advanceTimersByTimeAsync(1);
      expect(await state).toBeUndefined();
    });

    it('end when the page aborts them, and remove their timer and listener', async () => {
      hangUntilAborted();
      const page = new AbortController();
      const removeListener = jest.spyOn(page.signal, 'removeEventListener');
      const state = fetchState(CALLS, page.signal);
      page.abort();
      expect(await state).toBeUndefined();
      expect(jest.getTimerCount()).toBe(0);
      expect(removeListener).toHaveBeenCalledWith('abort', expect.any(Function));
    });
  });
});
