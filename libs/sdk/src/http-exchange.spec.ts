import { MalformedPaymentError } from './hosted-payment.js';
import {
  type ApiRequest,
  describeFailure,
  HttpExchange,
  type HttpExchangeOptions,
  readAnswer,
} from './http-exchange.js';
import { SvcApiError } from './svc-api-error.js';

const GET: ApiRequest = { method: 'GET', url: 'https://api.example/v1/payments', headers: { 'x-api-key': 'key' } };
const DATE = 'Fri, 20 Nov 2026 18:00:00 GMT';

/** How a server handles one request: a response or a connection error. `tookMs` advances the clock. */
interface Step {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  readonly failure?: unknown;
  readonly tookMs?: number;
}

let sent: { url: string; init: RequestInit }[];
let pauses: number[];
let time: number;
beforeEach(() => {
  [sent, pauses, time] = [[], [], 0];
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

/** Responds with each step in turn, and then repeats the last one. */
function fetchOf(...steps: Step[]): typeof globalThis.fetch {
  return async (url, init) => {
    const step = steps[Math.min(sent.length, steps.length - 1)]!;
    sent.push({ url: url as string, init: init! });
    time += step.tookMs ?? 0;
    if ('failure' in step) throw step.failure;
    return new Response(step.body ?? null, { status: step.status ?? 200, headers: step.headers ?? {} });
  };
}

function exchange(steps: Step[], options: HttpExchangeOptions = {}): HttpExchange {
  return new HttpExchange({
    fetch: fetchOf(...steps),
    wait: async (milliseconds) => {
      pauses.push(milliseconds);
      time += milliseconds;
    },
    monotonicNow: () => time,
    random: () => 0.5,
    ...options,
  });
}

const answerOf = (status: number, headers: Record<string, string> = {}, body?: unknown) => ({
  url: GET.url,
  httpStatus: status,
  ok: status >= 200 && status < 300,
  headers: new Headers(headers),
  text: '',
  body,
});

describe('a single call', () => {
  it('sends the given request, and follows no redirect', async () => {
    await exchange([{}]).once(GET);
    await exchange([{}]).once({ ...GET, method: 'POST', body: '{"amount":1}' });
    expect(sent[0]).toMatchObject({ url: GET.url, init: { method: 'GET', headers: GET.headers, redirect: 'error' } });
    expect(sent[0]!.init).not.toHaveProperty('body');
    expect(sent[1]!.init).toMatchObject({ method: 'POST', body: '{"amount":1}' });
  });

  it('reads status, headers and JSON', async () => {
    const answer = await exchange([{ status: 404, headers: { 'x-request-id': 'r' }, body: '{"a":[1]}' }]).once(GET);
    expect(answer).toMatchObject({ httpStatus: 404, ok: false, body: { a: [1] } });
    expect(answer.headers.get('x-request-id')).toBe('r');
    expect((await exchange([{}]).once(GET)).ok).toBe(true);
  });

  it.each([
    ['no body', { status: 204 }],
    ['an empty body', { body: '' }],
    ['a body that is not JSON', { body: '<html>' }],
  ])('has no parsed body if the response has %s', async (_, step) => {
    expect((await exchange([step]).once(GET)).body).toBeUndefined();
  });

  it('reads a character whose bytes arrive in two parts', async () => {
    const bytes = new TextEncoder().encode('"é💳"');
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expect((await exchange([{ body }]).once(GET)).body).toBe('é💳');
  });

  it('reads up to 1 MiB, and stops reading a larger response', async () => {
    const mebibyte = 1024 * 1024;
    const full = await exchange([{ body: `"${'x'.repeat(mebibyte - 2)}"` }]).once(GET);
    expect(full.body).toHaveLength(mebibyte - 2);

    const cancel = jest.fn();
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(mebibyte / 2 + 1)),
      cancel,
    });
    await expect(exchange([{ body }]).once(GET)).rejects.toMatchObject({
      httpStatus: 0,
      errors: [{ message: expect.stringMatching(/^https?:\/\/[\w.:]+: The answer is larger than 1 MiB$/) as string }],
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
    ['refused', 'refused'],
  ])('without a response is a retryable error: %p', async (failure, message) => {
    const error: unknown = await exchange([{ failure }])
      .once(GET)
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
  ])('for the option %p is %d ms', async (timeoutMs, expected) => {
    await exchange([{}], timeoutMs === undefined ? {} : { timeoutMs }).once(GET);
    expect(timeouts()).toEqual([expected]);
    expect(sent[0]!.init.signal).toBe(timeout.mock.results[0]!.value);
  });

  it.each([0, -1, 1.5, 120_001, Number.NaN])('refuses the option %p', (timeoutMs) => {
    expect(() => exchange([], { timeoutMs })).toThrow('timeoutMs must be a whole number from 1 to 120000');
  });

  it('is a whole number of at least one millisecond', async () => {
    const http = exchange([{}]);
    for (const milliseconds of [200.4, 0.2, -5]) await http.once(GET, milliseconds);
    expect(timeouts()).toEqual([201, 1, 1]);
  });

  it('is shared by all attempts: at most three times that of one', async () => {
    const steps = [{ failure: new Error('timeout'), tookMs: 1_000 }];
    await expect(exchange(steps, { timeoutMs: 1_000 }).repeatably(GET)).rejects.toThrow('timeout');
    expect(pauses).toEqual([250, 500]);
    expect(timeouts()).toEqual([1_000, 1_000, 250]);
  });
});

describe('a repeatable call', () => {
  const repeatable: Step[] = [
    ...[429, 502, 503, 504].map((status) => ({ status })),
    { status: 409, headers: { 'retry-after': '0' } },
    { failure: new Error('connection lost') },
  ];
  it.each(repeatable)('is sent again after %j', async (step) => {
    const answer = await exchange([step, { status: 201, body: '7' }]).repeatably(GET);
    expect(answer).toMatchObject({ httpStatus: 201, body: 7 });
    expect(sent).toHaveLength(2);
  });

  it.each([200, 204, 400, 401, 403, 404, 408, 409, 413, 422, 425, 428, 430, 500, 501, 505])(
    'is not sent again after %d',
    async (status) => {
      expect(await exchange([{ status }, {}]).repeatably(GET)).toMatchObject({ httpStatus: status });
      expect(sent).toHaveLength(1);
    },
  );

  it('is sent at most four times, and returns the last response or error', async () => {
    const answer = await exchange([{ status: 503 }, { status: 503 }, { status: 503 }, { status: 502 }]).repeatably(GET);
    expect(answer.httpStatus).toBe(502);
    expect(sent).toHaveLength(4);
    expect(pauses).toEqual([250, 500, 1_000]);

    sent = [];
    const last = [{ status: 503 }, { status: 503 }, { status: 503 }, { failure: new Error('the last one') }];
    await expect(exchange(last).repeatably(GET)).rejects.toThrow('the last one');
  });

  it.each([
    [0, [187.5, 375, 750]],
    [1, [312.5, 625, 1_250]],
  ])('waits longer before each attempt, with a jitter of a quarter: %d', async (random, expected) => {
    await exchange([{ status: 503 }], { random: () => random }).repeatably(GET);
    expect(pauses).toEqual(expected);
  });

  it('waits as long as Retry-After requires, unless no time is left for another attempt', async () => {
    const asked = (seconds: string) =>
      exchange([{ status: 429, headers: { 'retry-after': seconds } }, {}], { timeoutMs: 1_000 });
    expect((await asked('2').repeatably(GET)).httpStatus).toBe(200);
    expect(pauses).toEqual([2_000]);
    [sent, pauses, time] = [[], [], 0];
    expect((await asked('3').repeatably(GET)).httpStatus).toBe(429);
    expect(pauses).toEqual([]);
  });

  it('uses fetch, clock, timer and random numbers of the platform by default', async () => {
    jest.useFakeTimers();
    jest.spyOn(globalThis, 'fetch').mockImplementation(fetchOf({ status: 503 }, { status: 200 }));
    jest.spyOn(Math, 'random').mockReturnValue(0.9);
    const answer = new HttpExchange({}).repeatably(GET);
    await jest.advanceTimersByTimeAsync(299);
    expect(sent).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(await answer).toMatchObject({ httpStatus: 200 });
    expect(sent).toHaveLength(2);
  });
});

describe('the error of a response', () => {
  it.each<[number, string, unknown, string[]]>([
    [404, '<h1>', undefined, ['https://api.example has no such address']],
    [404, '{}', { title: 'Nothing was found here.' }, ['https://api.example has no such address']],
    [404, '{}', { errors: [{ message: 'No session.' }] }, ['No session.']],
    [404, '', undefined, []],
    [403, '<h1>', undefined, []],
  ])('with status %d, the text %p and the body %j has the messages %j', (httpStatus, text, body, said) => {
    const { errors } = describeFailure({ ...answerOf(httpStatus, {}, body), text });
    expect(
      errors.map(({ message }) => (message.split(':')[0] === message ? message : `${message.split(': ')[0]}`)),
    ).toEqual(said);
  });

  it.each([
    ['https://api.example/api/v3.1/sessions', 'https://api.example has no such address'],
    ['https://api.example/business/api/v1/merchants/7', 'Nothing was found here.'],
  ])('that is a problem from %s has the message %j', (url, said) => {
    const message = 'Nothing was found here.';
    const answer = answerOf(404, {}, { title: message, errors: [{ message }] });
    expect(describeFailure({ ...answer, text: '{}', url }).errors[0]!.message).toContain(said);
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
  ])('with status %d and no envelope is %s', (httpStatus, status) => {
    for (const body of [undefined, null, 'text', []])
      expect(describeFailure(answerOf(httpStatus, {}, body))).toMatchObject({ httpStatus, status, errors: [] });
  });

  it('has the status of the envelope, as text or number', () => {
    const errors = [{ message: 'amount must be positive' }];
    const headers = { 'x-request-id': 'req-77' };
    expect(describeFailure(answerOf(500, headers, { status: 'NotFound', errors }))).toMatchObject({
      status: 'NotFound',
      errors,
      requestId: 'req-77',
    });
    expect(describeFailure(answerOf(500, {}, { status: 4 }))).toMatchObject({
      status: 'Unauthorized',
      requestId: undefined,
    });
  });

  it.each<[string | undefined, string | undefined]>([
    [undefined, undefined],
    ['<https://pages.example/errors/a.b>; rel="help"', 'https://pages.example/errors/a.b'],
    ['</errors/a.b>; rel="help"', 'https://api.example/errors/a.b'],
    ['</errors/a.b>; rel="next"', undefined],
    ['<javascript:alert(1)>; rel="help"', undefined],
    ['<https://[>; rel="help"', undefined],
    [`</${'x'.repeat(2047)}>; rel="help"`, `https://api.example/${'x'.repeat(2047)}`],
    [`</${'x'.repeat(2048)}>; rel="help"`, undefined],
    ['x</errors/a.b>; rel="help"', undefined],
    ['</errors/a.b>; rel="help", <x>; rel="y"', undefined],
  ])('with the Link %p has the page: %p', (link, type) => {
    expect(describeFailure(answerOf(404, link === undefined ? {} : { link }, { errors: [] })).type).toBe(type);
  });

  it.each([
    [429, {}, true],
    [409, { 'retry-after': '1' }, true],
    [409, {}, false],
    [400, { 'retry-after': '1' }, false],
    [500, {}, false],
  ])('with status %d and headers %j is retryable: %s', (status, headers, retryable) => {
    expect(describeFailure(answerOf(status, headers as Record<string, string>)).retryable).toBe(retryable);
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
  ])('with Retry-After %p and Date %p has a delay of %p seconds', (retryAfter, date, seconds) => {
    const headers = { ...(retryAfter && { 'retry-after': retryAfter }), ...(date && { date }) };
    expect(describeFailure(answerOf(503, headers)).retryAfterSeconds).toBe(seconds);
  });
});

describe('the content of a response', () => {
  const read = (answer: ReturnType<typeof answerOf>, reader = (body: Record<string, unknown>) => body['a']) => {
    try {
      return readAnswer(answer, reader);
    } catch (error) {
      return error;
    }
  };

  it('is the result of the reader', () => {
    expect(read(answerOf(201, {}, { a: 1 }))).toBe(1);
  });

  it('is the error of the response if it is one', () => {
    expect(read(answerOf(404, {}, { a: 1 }))).toMatchObject({ httpStatus: 404, status: 'NotFound' });
  });

  it.each([undefined, null, 'text', []])('is an error if the body is %j', (body) => {
    expect(read(answerOf(200, { 'x-request-id': 'req-77' }, body))).toMatchObject({
      httpStatus: 200,
      status: 'InternalServer',
      errors: [{ message: 'The answer cannot be read: body is missing or malformed' }],
      requestId: 'req-77',
      retryable: false,
      cause: new MalformedPaymentError('body'),
    });
    expect(read(answerOf(200, {}, body))).toMatchObject({ requestId: undefined });
  });

  it('is not an error of the response if the reader itself has a bug', () => {
    const mistake = new RangeError('a bug');
    const thrown = read(answerOf(200, {}, {}), () => {
      throw mistake;
    });
    expect(thrown).toBe(mistake);
  });
});
