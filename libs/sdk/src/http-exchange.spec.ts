import { MalformedPaymentError } from './hosted-payment.js';
import {
  type ApiRequest,
  createApiError,
  HttpExchange,
  type HttpExchangeOptions,
  readResponse,
} from './http-exchange.js';
import { SvcApiError } from './svc-api-error.js';

const GET: ApiRequest = { method: 'GET', url: 'https://api.example/v1/payments', headers: { 'x-api-key': 'key' } };
const DATE = 'Fri, 20 Nov 2026 18:00:00 GMT';

/** The result of one request: a response, or a connection error in `failure`. `tookMs` advances the clock. */
interface Step {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  readonly failure?: unknown;
  readonly tookMs?: number;
}

let sentRequests: { url: string; init: RequestInit }[];
let pauses: number[];
let time: number;
beforeEach(() => {
  [sentRequests, pauses, time] = [[], [], 0];
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

/** A fetch function that returns the result of each step in turn, and then repeats the last step. */
function createFetch(...steps: Step[]): typeof globalThis.fetch {
  return async (url, init) => {
    const step = steps[Math.min(sentRequests.length, steps.length - 1)]!;
    sentRequests.push({ url: url as string, init: init! });
    time += step.tookMs ?? 0;
    if ('failure' in step) throw step.failure;
    return new Response(step.body ?? null, { status: step.status ?? 200, headers: step.headers ?? {} });
  };
}

function createExchange(steps: Step[], options: HttpExchangeOptions = {}): HttpExchange {
  return new HttpExchange({
    fetch: createFetch(...steps),
    wait: async (milliseconds) => {
      pauses.push(milliseconds);
      time += milliseconds;
    },
    monotonicNow: () => time,
    random: () => 0.5,
    ...options,
  });
}

const createResponse = (status: number, headers: Record<string, string> = {}, body?: unknown) => ({
  url: GET.url,
  httpStatus: status,
  ok: status >= 200 && status < 300,
  headers: new Headers(headers),
  text: '',
  body,
});

describe('sendOnce', () => {
  it('sends the given request, and does not follow a redirect', async () => {
    await createExchange([{}]).sendOnce(GET);
    await createExchange([{}]).sendOnce({ ...GET, method: 'POST', body: '{"amount":1}' });
    expect(sentRequests[0]).toMatchObject({
      url: GET.url,
      init: { method: 'GET', headers: GET.headers, redirect: 'error' },
    });
    expect(sentRequests[0]!.init).not.toHaveProperty('body');
    expect(sentRequests[1]!.init).toMatchObject({ method: 'POST', body: '{"amount":1}' });
  });

  it('returns status, headers and parsed JSON', async () => {
    const response = await createExchange([
      { status: 404, headers: { 'x-request-id': 'r' }, body: '{"a":[1]}' },
    ]).sendOnce(GET);
    expect(response).toMatchObject({ httpStatus: 404, ok: false, body: { a: [1] } });
    expect(response.headers.get('x-request-id')).toBe('r');
    expect((await createExchange([{}]).sendOnce(GET)).ok).toBe(true);
  });

  it.each([
    ['no body', { status: 204 }, ''],
    ['an empty body', { body: '' }, ''],
    ['a body that is not JSON', { body: '<html>' }, '<html>'],
  ])('returns no parsed body if the response has %s', async (_, step, text) => {
    expect(await createExchange([step]).sendOnce(GET)).toMatchObject({ body: undefined, text });
  });

  it('decodes a character whose bytes arrive in separate chunks', async () => {
    const bytes = new TextEncoder().encode('"é💳"');
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expect((await createExchange([{ body }]).sendOnce(GET)).body).toBe('é💳');
  });

  it('reads a response of 1 MiB, and cancels a larger response', async () => {
    const mebibyte = 1024 * 1024;
    const largest = await createExchange([{ body: `"${'x'.repeat(mebibyte - 2)}"` }]).sendOnce(GET);
    expect(largest.body).toHaveLength(mebibyte - 2);

    const cancel = jest.fn();
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(mebibyte / 2 + 1)),
      cancel,
    });
    await expect(createExchange([{ body }]).sendOnce(GET)).rejects.toMatchObject({
      httpStatus: 0,
      errors: [{ message: expect.stringMatching(/^https?:\/\/[\w.:]+: The response is larger than 1 MiB$/) as string }],
    });
    expect(cancel).toHaveBeenCalled();
  });

  it.each([
    [new TypeError('fetch failed'), 'fetch failed'],
    [
      new TypeError('fetch failed', { cause: new Error('getaddrinfo ENOTFOUND a.example') }),
      'getaddrinfo ENOTFOUND a.example. Is this the right address?',
    ],
    [
      new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') }),
      'connect ECONNREFUSED 127.0.0.1:1. Is this the right address?',
    ],
    [
      new TypeError('fetch failed', {
        cause: new AggregateError([new Error('connect ::1'), new Error('connect 127.0.0.1')]),
      }),
      'connect ::1; connect 127.0.0.1',
    ],
    [new AggregateError([new Error('connect ::1')], 'all addresses failed'), 'all addresses failed'],
    [new RangeError(''), 'RangeError'],
    ['refused', 'refused'],
  ])('throws a retryable error if fetch fails with %p', async (failure, message) => {
    const error: unknown = await createExchange([{ failure }])
      .sendOnce(GET)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SvcApiError);
    const expected = {
      httpStatus: 0,
      status: 'InternalServer',
      errors: [{ message: `${new URL(GET.url).origin}: ${message}` }],
      retryable: true,
      cause: failure,
    };
    expect(error).toMatchObject(expected);
  });
});

describe('the timeout of a call', () => {
  let timeout: jest.SpiedFunction<typeof AbortSignal.timeout>;
  const timeouts = (): unknown[] => timeout.mock.calls.map(([milliseconds]) => milliseconds);
  beforeEach(() => void (timeout = jest.spyOn(AbortSignal, 'timeout')));

  it.each([
    [undefined, 10_000],
    [1, 1],
    [120_000, 120_000],
  ])('with the option timeoutMs = %p is %d ms', async (timeoutMs, expected) => {
    await createExchange([{}], timeoutMs === undefined ? {} : { timeoutMs }).sendOnce(GET);
    expect(timeouts()).toEqual([expected]);
    expect(sentRequests[0]!.init.signal).toBe(timeout.mock.results[0]!.value);
  });

  it.each([0, -1, 1.5, 120_001, Number.NaN])('cannot be %p', (timeoutMs) => {
    expect(() => createExchange([], { timeoutMs })).toThrow('timeoutMs must be a whole number from 1 to 120000');
  });

  it('is a whole number of at least one millisecond', async () => {
    const options = { timeoutMs: 1_000, fetch: createFetch({ failure: new Error('timeout'), tookMs: 1_000.6 }) };
    for (const wait of [undefined, async () => void (time += 10_000)])
      await expect(createExchange([], { ...options, ...(wait && { wait }) }).sendWithRetries(GET)).rejects.toThrow('t');
    expect(timeouts()).toEqual([1_000, 1_000, 249, 1_000, 1]);
  });

  it('limits the duration of all attempts together to three times the timeout', async () => {
    const steps = [{ failure: new Error('timeout'), tookMs: 1_000 }];
    await expect(createExchange(steps, { timeoutMs: 1_000 }).sendWithRetries(GET)).rejects.toThrow('timeout');
    expect(pauses).toEqual([250, 500]);
    expect(timeouts()).toEqual([1_000, 1_000, 250]);
  });
});

describe('sendWithRetries', () => {
  const temporaryFailures: Step[] = [
    ...[408, 429, 502, 503, 504].map((status) => ({ status })),
    { status: 409, headers: { 'retry-after': '0' } },
    { failure: new Error('connection lost') },
  ];
  it.each(temporaryFailures)('sends the request again after %j', async (step) => {
    const response = await createExchange([step, { status: 201, body: '7' }]).sendWithRetries(GET);
    expect(response).toMatchObject({ httpStatus: 201, body: 7 });
    expect(sentRequests).toHaveLength(2);
  });

  it.each([200, 204, 400, 401, 403, 404, 409, 413, 422, 425, 428, 430, 500, 501, 505])(
    'does not send the request again after %d',
    async (status) => {
      expect(await createExchange([{ status }, {}]).sendWithRetries(GET)).toMatchObject({ httpStatus: status });
      expect(sentRequests).toHaveLength(1);
    },
  );

  it('sends the request at most four times, and returns the last response or throws the last error', async () => {
    const responses = [503, 503, 503, 502].map((status) => ({ status }));
    const response = await createExchange(responses).sendWithRetries(GET);
    expect(response.httpStatus).toBe(502);
    expect(sentRequests).toHaveLength(4);
    expect(pauses).toEqual([250, 500, 1_000]);

    sentRequests = [];
    const steps = [{ status: 503 }, { status: 503 }, { status: 503 }, { failure: new Error('fourth attempt') }];
    await expect(createExchange(steps).sendWithRetries(GET)).rejects.toThrow('fourth attempt');
  });

  it.each([
    [0, [187.5, 375, 750]],
    [1, [312.5, 625, 1_250]],
  ])(
    'waits longer before each attempt, with 25 %% jitter: the random number %d results in the pauses %j',
    async (random, expected) => {
      await createExchange([{ status: 503 }], { random: () => random }).sendWithRetries(GET);
      expect(pauses).toEqual(expected);
    },
  );

  it('waits as long as Retry-After requires, at most an hour, unless no time is left for another attempt', async () => {
    const exchangeWithRetryAfter = (seconds: string) =>
      createExchange([{ status: 429, headers: { 'retry-after': seconds } }, {}], { timeoutMs: 1_000 });
    expect((await exchangeWithRetryAfter('2').sendWithRetries(GET)).httpStatus).toBe(200);
    expect(pauses).toEqual([2_000]);
    [sentRequests, pauses, time] = [[], [], 0];
    expect((await exchangeWithRetryAfter('3').sendWithRetries(GET)).httpStatus).toBe(429);
    expect(pauses).toEqual([]);
    await createExchange([]).waitBeforeRetry(1, 999_999_999);
    expect(pauses).toEqual([3_600_000]);
  });

  it('uses fetch, clock, timer and random numbers of the platform by default', async () => {
    jest.useFakeTimers();
    jest.spyOn(globalThis, 'fetch').mockImplementation(createFetch({ status: 503 }, { status: 200 }));
    jest.spyOn(Math, 'random').mockReturnValue(0.9);
    const response = new HttpExchange({}).sendWithRetries(GET);
    await jest.advanceTimersByTimeAsync(299);
    expect(sentRequests).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(await response).toMatchObject({ httpStatus: 200 });
    expect(sentRequests).toHaveLength(2);
  });
});

describe('the error from createApiError', () => {
  it.each<[number, string, unknown, string[]]>([
    [404, '<h1>', undefined, ['https://api.example has no such address']],
    [404, '{}', { title: 'Nothing was found here.' }, ['https://api.example has no such address']],
    [404, '{}', { errors: [{ message: 'No session.' }] }, ['No session.']],
    [404, '', undefined, []],
    [403, '<h1>', undefined, []],
  ])('with status %d, the text %p and the body %j has the messages %j', (httpStatus, text, body, messages) => {
    const { errors } = createApiError({ ...createResponse(httpStatus, {}, body), text });
    // A hint about the options of the client follows after `: `. It is not compared.
    expect(errors.map(({ message }) => message.split(': ')[0])).toEqual(messages);
  });

  it.each([
    ['https://api.example/api/v3.1/sessions', 'Not Found', 'https://api.example has no such address'],
    ['https://api.example/api/v3.1/sessions', undefined, 'Nothing was found here.'],
    ['https://api.example/business/api/v1/merchants/7', 'Not Found', 'Nothing was found here.'],
  ])('with status 404 from %s and the title %p (RFC 9457) has the message %j', (url, title, expectedMessage) => {
    const response = createResponse(404, {}, { title, errors: [{ message: 'Nothing was found here.' }] });
    expect(createApiError({ ...response, text: '{}', url }).errors[0]!.message).toContain(expectedMessage);
  });

  it.each([
    [399, 'InternalServer'],
    [400, 'BadRequest'],
    [401, 'Unauthorized'],
    [403, 'BadRequest'],
    [404, 'NotFound'],
    [499, 'BadRequest'],
    [500, 'InternalServer'],
    [503, 'InternalServer'],
  ])('with HTTP status %d and no envelope has the status %s', (httpStatus, status) => {
    for (const body of [undefined, null, 'text', []])
      expect(createApiError(createResponse(httpStatus, {}, body))).toMatchObject({ httpStatus, status, errors: [] });
  });

  it('has the status of the envelope, which may be text or a number', () => {
    const errors = [{ message: 'amount must be positive' }];
    const headers = { 'x-request-id': 'req-77' };
    const envelope = { status: 'NotFound', code: 'resource.not-found', errors };
    expect(createApiError(createResponse(500, headers, envelope))).toMatchObject({
      ...envelope,
      requestId: 'req-77',
    });
    expect(createApiError(createResponse(500, {}, { status: 4, code: 7 }))).toMatchObject({
      status: 'Unauthorized',
      code: undefined,
      requestId: undefined,
    });
  });

  it.each<[string | undefined, string | undefined]>([
    [undefined, undefined],
    ['<https://pages.example/errors/a.b>; rel="help"', 'https://pages.example/errors/a.b'],
    ['<http://pages.example/errors/a.b>; rel="help"', 'http://pages.example/errors/a.b'],
    ['</errors/a.b>; rel="help"', 'https://api.example/errors/a.b'],
    ['</errors/a.b>; rel="next"', undefined],
    ['<javascript:alert(1)>; rel="help"', undefined],
    ['<https://[>; rel="help"', undefined],
    [`</${'x'.repeat(2047)}>; rel="help"`, `https://api.example/${'x'.repeat(2047)}`],
    [`</${'x'.repeat(2048)}>; rel="help"`, undefined],
    ['x</errors/a.b>; rel="help"', undefined],
    ['</errors/a.b>; rel="help", <x>; rel="y"', undefined],
  ])('with the header Link %p has the help page %p', (link, type) => {
    expect(createApiError(createResponse(404, link === undefined ? {} : { link }, { errors: [] })).type).toBe(type);
  });

  it.each([
    [408, {}, true],
    [429, {}, true],
    [409, { 'retry-after': '1' }, true],
    [409, {}, false],
    [400, { 'retry-after': '1' }, false],
    [500, {}, false],
  ])('with status %d and headers %j has retryable = %s', (status, headers, retryable) => {
    expect(createApiError(createResponse(status, headers as Record<string, string>)).retryable).toBe(retryable);
  });

  it.each<[string | undefined, string | undefined, number | undefined]>([
    [undefined, DATE, undefined],
    ['0', undefined, 0],
    ['7', undefined, 7],
    ['999999999', undefined, 999_999_999],
    ['9999999999', undefined, undefined],
    ['7x', undefined, undefined],
    ['x7', undefined, undefined],
    ['Fri, 20 Nov 2026 18:00:04 GMT', DATE, 4],
    ['2026-11-20T18:00:04.200Z', DATE, 5],
    ['Fri, 20 Nov 2026 17:59:00 GMT', DATE, 0],
    ['Fri, 20 Nov 2026 18:00:04 GMT', undefined, undefined],
    ['soon', DATE, undefined],
  ])('with the headers Retry-After %p and Date %p has retryAfterSeconds = %p', (retryAfter, date, seconds) => {
    const headers = { ...(retryAfter && { 'retry-after': retryAfter }), ...(date && { date }) };
    expect(createApiError(createResponse(503, headers)).retryAfterSeconds).toBe(seconds);
  });
});

describe('readResponse', () => {
  const readOrCatch = (
    response: ReturnType<typeof createResponse>,
    reader = (body: Record<string, unknown>) => body['a'],
  ) => {
    try {
      return readResponse(response, reader);
    } catch (error) {
      return error;
    }
  };

  it('returns the result of the reader', () => {
    expect(readOrCatch(createResponse(201, {}, { a: 1 }))).toBe(1);
  });

  it('throws the error of the response if its status is not 2xx', () => {
    expect(readOrCatch(createResponse(404, {}, { a: 1 }))).toMatchObject({ httpStatus: 404, status: 'NotFound' });
  });

  it.each([undefined, null, 'text', []])('throws an error if the body is %j', (body) => {
    expect(readOrCatch(createResponse(200, { 'x-request-id': 'req-77' }, body))).toMatchObject({
      httpStatus: 200,
      status: 'InternalServer',
      errors: [{ message: 'The response cannot be read: body is missing or malformed' }],
      requestId: 'req-77',
      retryable: false,
      cause: new MalformedPaymentError('body'),
    });
    expect(readOrCatch(createResponse(200, {}, body))).toMatchObject({ requestId: undefined });
  });

  it('rethrows an error of the reader that is not a MalformedPaymentError', () => {
    const bug = new RangeError('a bug in the reader');
    const thrown = readOrCatch(createResponse(200, {}, {}), () => {
      throw bug;
    });
    expect(thrown).toBe(bug);
  });
});
