import { type ApiRequest, HttpExchange } from './http-exchange.js';
import { SvcApiError } from './svc-api-error.js';

const GET: ApiRequest = { method: 'GET', url: 'https://api.example/v1/stream', headers: {} };
const TIMEOUT_MS = 1_000;

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
afterEach(() => void jest.useRealTimers());

const openStream = (fetch: typeof globalThis.fetch, { signal } = new AbortController()) =>
  new HttpExchange({ fetch, timeoutMs: TIMEOUT_MS }).openStream(GET, signal);

/** A fetch function without a response, which ends only when the request is aborted. */
const fetchWithoutResponse: typeof globalThis.fetch = (_, init) =>
  new Promise((_resolve, reject) => {
    init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason as Error));
  });

describe('openStream', () => {
  it('returns the body of the response, which has no time limit', async () => {
    const stream = await openStream(() => Promise.resolve(new Response('data: 1')));
    expect(jest.getTimerCount()).toBe(0);
    expect(await new Response(stream).text()).toBe('data: 1');
  });

  it.each([
    ['the status 404', 404, '{"errors":[{"message":"No site."}]}', [{ message: 'No site.' }]],
    ['the status 200 without a body', 200, null, []],
  ])('throws an error after a response with %s', async (_, status, body, errors) => {
    const error: unknown = await openStream(() => Promise.resolve(new Response(body, { status }))).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(SvcApiError);
    expect(error).toMatchObject({ httpStatus: status, errors });
  });

  it('throws an error if the request fails, and ends its timer', async () => {
    const cause = new Error('connection lost');
    await expect(openStream(() => Promise.reject(cause))).rejects.toMatchObject({ httpStatus: 0, cause });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('throws an error if the response does not begin within the timeout', async () => {
    const error = openStream(fetchWithoutResponse).catch((thrown: unknown) => thrown);
    await jest.advanceTimersByTimeAsync(TIMEOUT_MS);
    expect(await error).toMatchObject({
      httpStatus: 0,
      errors: [{ message: 'https://api.example: The response does not begin in time' }],
    });
  });

  it('throws an error if the caller aborts the signal', async () => {
    const caller = new AbortController();
    const stream = openStream(fetchWithoutResponse, caller);
    caller.abort(new Error('stopped'));
    await expect(stream).rejects.toMatchObject({ cause: new Error('stopped') });
  });
});

test.each([
  [1, undefined, 250],
  [3, undefined, 1_000],
  [1, 7, 7_000],
])('waitBeforeRetry after %d attempts and with Retry-After = %p waits %d ms', async (attempts, seconds, expected) => {
  const wait = jest.fn(() => Promise.resolve());
  await new HttpExchange({ wait, random: () => 0.5 }).waitBeforeRetry(attempts, seconds);
  expect(wait.mock.calls).toEqual([[expected]]);
});
