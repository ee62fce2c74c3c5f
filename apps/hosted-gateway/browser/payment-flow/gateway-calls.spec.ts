import { fetchState, postPayment, requestMoreTime, streamStates } from './gateway-calls.js';
import type { SessionState } from './payment-flow.js';

type Listener = (event: { data?: string }) => void;

const CALLS = { path: '/pay/1', query: '' };

/** A fake EventSource; the test sends its events. */
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

function streamed() {
  const states: SessionState[] = [];
  const breaks: boolean[] = [];
  const close = streamStates(
    CALLS,
    (state) => states.push(state),
    (isOver) => breaks.push(isOver),
  );
  return { states, breaks, close, source: ScriptedEventSource.opened[0] };
}

describe('streamStates', () => {
  it('passes on every valid state, and ignores other data', () => {
    const { states, source } = streamed();
    expect(source?.url).toBe('/pay/1/events');
    for (const data of ['{"state":"open","version":1}', '{"state":"processing"}', '{"version":3}', 'null', '{'])
      source?.emit('state', data);
    expect(states).toEqual([
      { state: 'open', version: '1' },
      { state: 'processing', version: undefined },
    ]);
  });

  it('reports whether the browser will reconnect', () => {
    const { breaks, close, source } = streamed();
    source?.emit('error');
    close();
    source?.emit('error');
    expect(breaks).toEqual([false, true]);
  });

  it('ends immediately in a browser without streams', () => {
    Reflect.deleteProperty(globalThis, 'EventSource');
    const { breaks, source } = streamed();
    expect([breaks, source]).toEqual([[true], undefined]);
  });
});

describe('calls to the gateway', () => {
  const fetched = jest.spyOn(globalThis, 'fetch');
  afterEach(() => fetched.mockReset());
  afterAll(() => fetched.mockRestore());
  const common = {
    cache: 'no-store',
    credentials: 'same-origin',
    redirect: 'error',
    signal: expect.any(AbortSignal) as AbortSignal,
  };
  /** If the body is undefined, the connection breaks while the response is read. */
  const answer = (status: number, body: string | undefined): void => {
    const response = new Response(body, { status });
    if (body === undefined) jest.spyOn(response, 'text').mockRejectedValue(new TypeError('broken off'));
    fetched.mockResolvedValue(response);
  };

  const body = { reference: 'r', try: 1, encryptedCard: 'c' };

  it('post a payment as JSON, to no other host, and at most once', async () => {
    answer(202, '{}');
    await postPayment(CALLS, body);
    expect(fetched.mock.calls).toEqual([
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

  it('contain the language if the URL of the page has one', async () => {
    const calls = { path: '/pay/1', query: '?lang=zu' };
    answer(202, '{}');
    await postPayment(calls, body);
    answer(200, '{}');
    await fetchState(calls, new AbortController().signal);
    streamStates(calls, jest.fn(), jest.fn());
    const urls = [...fetched.mock.calls.map(([url]) => url), ScriptedEventSource.opened[0]?.url];
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
  ])('read the valid fields of the response %i %s', async (httpStatus, text, said) => {
    answer(httpStatus, text);
    const { received: _, ...outcome } = { received: undefined, ...(await postPayment(CALLS, body)) };
    expect(outcome).toStrictEqual({ kind: 'answered', httpStatus, ...said });
  });

  const decline = { try: 2, title: 'Declined', next: 'Use another card.', triesLeft: '4 of 5 tries left.' };
  it.each<[string, object, object | undefined]>([
    ['whole', { ...decline, field: 'cvv', reference: 'R 1', more: 1 }, { ...decline, field: 'cvv', reference: 'R 1' }],
    ['with a field and a reference that are none', { ...decline, field: 1, reference: 2 }, decline],
    ['without a field', decline, decline],
    ['without its words', { ...decline, next: undefined }, undefined],
    ['without its number', { ...decline, try: '2' }, undefined],
  ])('read the decline in a response, %s', async (_, said, read) => {
    const text = JSON.stringify({ state: 'declined', version: 3, decline: said });
    const state = { state: 'declined', version: '3', ...(read === undefined ? {} : { decline: read }) };
    answer(200, text);
    expect(await postPayment(CALLS, body)).toMatchObject({ received: state });
    answer(200, text);
    expect(await fetchState(CALLS, new AbortController().signal)).toStrictEqual(state);
  });

  it.each<[string, object, object | undefined]>([
    ['whole', { try: 2, triesLeft: '4 of 5 tries left.', more: 1 }, { try: 2, triesLeft: '4 of 5 tries left.' }],
    ['without its words', { try: 2 }, undefined],
    ['without its number', { try: '2', triesLeft: '4 of 5 tries left.' }, undefined],
  ])('read the next try in a response, %s', async (_, said, read) => {
    answer(200, JSON.stringify({ state: 'open', version: 3, coming: said }));
    const state = { state: 'open', version: '3', ...(read === undefined ? {} : { coming: read }) };
    expect(await fetchState(CALLS, new AbortController().signal)).toStrictEqual(state);
  });

  it('request more time, and return the new expiry', async () => {
    const later = { state: 'open', version: 2, expiresAt: '2026-03-01T10:45:00.000Z' };
    answer(200, JSON.stringify(later));
    expect(await requestMoreTime({ path: '/pay/1', query: '?lang=zu' })).toStrictEqual({ ...later, version: '2' });
    const [url, options] = fetched.mock.lastCall as unknown as [string, RequestInit];
    expect([url, options]).toEqual([
      '/pay/1/more-time?lang=zu',
      expect.objectContaining({ method: 'POST', cache: 'no-store', credentials: 'same-origin', redirect: 'error' }),
    ]);
    answer(503, JSON.stringify(later));
    expect(await requestMoreTime(CALLS)).toBeUndefined();
    fetched.mockRejectedValue(new TypeError('refused'));
    expect(await requestMoreTime(CALLS)).toBeUndefined();
  });

  it('report the gateway as unreachable if a post gets no response', async () => {
    fetched.mockRejectedValue(new TypeError('refused'));
    expect(await postPayment(CALLS, body)).toEqual({ kind: 'unreachable', neverSent: false });
  });

  it.each([
    ['without a network', false, false, true],
    ['with one', true, true, false],
    ['and had lost it meanwhile', true, false, false],
    ['and had found it meanwhile', false, true, false],
    ['in a browser that does not say', undefined, undefined, false],
  ])('report whether a post that failed %s was never sent', async (_, before, after, neverSent) => {
    const network = jest.spyOn(globalThis, 'navigator', 'get');
    network.mockReturnValueOnce({ onLine: before } as Navigator).mockReturnValue({ onLine: after } as Navigator);
    fetched.mockRejectedValue(new TypeError('no network'));
    expect(await postPayment(CALLS, body)).toEqual({ kind: 'unreachable', neverSent });
    network.mockRestore();
  });

  it('report that a post may have been sent if the browser was online for a moment', async () => {
    const network = jest.spyOn(globalThis, 'navigator', 'get').mockReturnValue({ onLine: false } as Navigator);
    const removed = jest.spyOn(window, 'removeEventListener');
    fetched.mockImplementationOnce(() => {
      window.dispatchEvent(new Event('online'));
      return Promise.reject(new TypeError('no network'));
    });
    expect(await postPayment(CALLS, body)).toEqual({ kind: 'unreachable', neverSent: false });
    expect(removed).toHaveBeenCalledWith('online', expect.any(Function));
    fetched.mockRejectedValueOnce(new TypeError('no network'));
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
    [503, '{"state":"open"}', undefined],
  ])('read the state in the response %i %s', async (status, text, state) => {
    answer(status, text);
    expect(await fetchState(CALLS, new AbortController().signal)).toEqual(state);
    expect(fetched.mock.calls).toEqual([['/pay/1/state', { ...common, headers: { accept: 'application/json' } }]]);
  });

  describe('without a response to a request for the state', () => {
    const answersWhenAborted = (): void =>
      void fetched.mockImplementation((_, init) => {
        const { promise, reject } = Promise.withResolvers<Response>();
        init!.signal!.addEventListener('abort', () => reject(new Error('aborted')));
        return promise;
      });
    beforeEach(() => void jest.useFakeTimers());
    afterEach(() => void jest.useRealTimers());

    it('stop waiting after eight seconds', async () => {
      answersWhenAborted();
      const state = fetchState(CALLS, new AbortController().signal);
      await jest.advanceTimersByTimeAsync(7_999);
      expect(fetched.mock.calls[0]![1]!.signal!.aborted).toBe(false);
      await jest.advanceTimersByTimeAsync(1);
      expect(await state).toBeUndefined();
    });

    it('stop waiting when the page aborts them, and remove their timer and listener', async () => {
      answersWhenAborted();
      const page = new AbortController();
      const removed = jest.spyOn(page.signal, 'removeEventListener');
      const state = fetchState(CALLS, page.signal);
      page.abort();
      expect(await state).toBeUndefined();
      expect(jest.getTimerCount()).toBe(0);
      expect(removed).toHaveBeenCalledWith('abort', expect.any(Function));
    });
  });
});
