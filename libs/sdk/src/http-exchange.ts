/**
 * One HTTP call with limits of time and size, and bounded retries. It is *not* for calls that move money without an idempotency
 * key: `repeatably` may send a request that has already taken effect.
 */
import {
  MalformedPaymentError,
  readErrors,
  readObject,
  readResponseStatus,
  type ResponseStatus,
} from './hosted-payment.js';
import { SvcApiError } from './svc-api-error.js';

export interface HttpExchangeOptions {
  /** Instead of the global one, for a proxy or a test. */
  fetch?: typeof globalThis.fetch;
  /** For one attempt, including connecting and reading; default 10 000. All attempts together take at most three times this. */
  timeoutMs?: number;
  /** Waits between attempts; a test replaces it. */
  wait?: (milliseconds: number) => Promise<void>;
  /** Milliseconds of a monotonic clock. */
  monotonicNow?: () => number;
  /** 0 to 1, jitter between callers. */
  random?: () => number;
}

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
}

export interface ApiAnswer {
  /** Method and URL of the request. */
  url: string;
  httpStatus: number;
  ok: boolean;
  headers: Headers;
  /** The raw body. */
  text: string;
  /** Parsed JSON; undefined when the body was empty or not JSON. */
  body: unknown;
}

const MAX_TRIES = 4;
const FIRST_PAUSE_MS = 250;
const BUDGET_IN_TIMEOUTS = 3;
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Never processed, or safe to retry because the call is idempotent. */
const RETRYABLE = new Set([429, 502, 503, 504]);

export class HttpExchange {
  private readonly fetch: typeof globalThis.fetch;
  private readonly timeoutMs: number;
  private readonly wait: (milliseconds: number) => Promise<void>;
  private readonly now: () => number;
  private readonly random: () => number;

  constructor(options: HttpExchangeOptions) {
    this.fetch = options.fetch ?? globalThis.fetch;
    this.timeoutMs = options.timeoutMs ?? 10_000;
    if (!Number.isInteger(this.timeoutMs) || this.timeoutMs < 1 || this.timeoutMs > 120_000) {
      throw new TypeError('timeoutMs must be a whole number from 1 to 120000');
    }
    this.wait = options.wait ?? ((milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)));
    this.now = options.monotonicNow ?? (() => performance.now());
    this.random = options.random ?? Math.random;
  }

  /** @throws SvcApiError with httpStatus 0 without a response */
  async once(request: ApiRequest, timeoutMs = this.timeoutMs): Promise<ApiAnswer> {
    try {
      const response = await this.send(request, AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs))));
      return await answerOf(request.url, response);
    } catch (cause) {
      throw noAnswer(request.url, cause);
    }
  }

  /**
   * A streaming response: its headers must arrive in time, its body may last as long as the server sends it.
   *
   * @throws SvcApiError for any status other than 2xx, and with httpStatus 0 without a response
   */
  async open(request: ApiRequest, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error('The answer does not begin in time')), this.timeoutMs);
    let answer: ApiAnswer;
    try {
      const response = await this.send(request, AbortSignal.any([signal, late.signal]));
      if (response.ok && response.body) return response.body;
      answer = await answerOf(request.url, response);
    } catch (cause) {
      throw noAnswer(request.url, cause);
    } finally {
      clearTimeout(timer);
    }
    throw describeFailure(answer);
  }

  /** Waits before the next attempt with exponential backoff, at least as long as `Retry-After`. */
  pause(tries: number, askedSeconds?: number): Promise<void> {
    return this.wait(this.pauseBeforeNext(tries, askedSeconds));
  }

  private send(request: ApiRequest, signal: AbortSignal): Promise<Response> {
    return this.fetch(request.url, {
      method: request.method,
      headers: request.headers,
      // A redirect would send the key to its target.
      redirect: 'error',
      signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    });
  }

  /**
   * The call with retries after temporary failures. Returns the last response, or throws the last error. A response for which
   * `isFinal` is true is not retried here, although the same call may succeed later.
   */
  async repeatably(request: ApiRequest, isFinal: (answer: ApiAnswer) => boolean = () => false): Promise<ApiAnswer> {
    const deadline = this.now() + this.timeoutMs * BUDGET_IN_TIMEOUTS;
    for (let tries = 1; ; tries++) {
      let answer: ApiAnswer | undefined;
      let failure: unknown;
      try {
        answer = await this.once(request, Math.min(this.timeoutMs, deadline - this.now()));
        if (!isRetryable(answer) || isFinal(answer)) return answer;
      } catch (error) {
        failure = error;
      }
      const pause = this.pauseBeforeNext(tries, answer && retryAfterSeconds(answer.headers));
      // A pause that leaves no time for another attempt would only delay the same error.
      if (tries === MAX_TRIES || this.now() + pause >= deadline) {
        if (answer) return answer;
        throw failure;
      }
      await this.wait(pause);
    }
  }

  private pauseBeforeNext(tries: number, asked: number | undefined): number {
    const backoff = FIRST_PAUSE_MS * 2 ** (tries - 1);
    return Math.max((asked ?? 0) * 1000, backoff * (0.75 + this.random() / 2));
  }
}

async function answerOf(url: string, response: Response): Promise<ApiAnswer> {
  const text = response.body ? await readBounded(response.body) : '';
  return { url, httpStatus: response.status, ok: response.ok, headers: response.headers, text, body: parseJson(text) };
}

/** The address without its path, because a path may have confidential data. */
function noAnswer(url: string, cause: unknown): SvcApiError {
  return new SvcApiError({
    httpStatus: 0,
    status: 'InternalServer',
    errors: [{ message: `${new URL(url).origin}: ${withHint(reasonOf(cause))}` }],
    retryable: true,
    cause,
  });
}

/** An unknown host name, or a closed port. */
function withHint(reason: string): string {
  return /ECONNREFUSED|ENOTFOUND/.test(reason) ? `${reason}. Is this the right address?` : reason;
}

/** The error of `fetch` is "fetch failed", with the reason in its cause: "connect ECONNREFUSED 127.0.0.1:443". */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return reasonOf(error.cause);
  // If both addresses of a name (IPv6, IPv4) refuse, the error itself has no reason.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ');
  return error.message || error.name;
}

/** The error for a status other than 2xx. */
export function describeFailure(answer: ApiAnswer): SvcApiError {
  const envelope = (answer.body ?? {}) as { status?: unknown; errors?: unknown; code?: unknown };
  return new SvcApiError({
    httpStatus: answer.httpStatus,
    status: readResponseStatus(envelope.status) ?? statusOf(answer.httpStatus),
    errors: notThere(answer) ?? readErrors(envelope.errors),
    code: typeof envelope.code === 'string' ? envelope.code : undefined,
    type: errorPageOf(answer),
    requestId: answer.headers.get('x-request-id') ?? undefined,
    retryable: isRetryable(answer),
    retryAfterSeconds: retryAfterSeconds(answer.headers),
  });
}

/**
 * Detects a wrong host, or a wrong path before the API: another server responded. A 404 of the API has its own format, with
 * `errors` or without a body.
 */
function notThere({ httpStatus, body, text, url }: ApiAnswer): { message: string }[] | undefined {
  const { errors, title } = (body ?? {}) as { errors?: unknown; title?: unknown };
  const { origin, pathname } = new URL(url);
  // The gateway returns its envelope; the main API returns a problem.
  const isInItsForm = !pathname.includes('/api/v3') || title === undefined;
  if (httpStatus !== 404 || text === '' || (errors !== undefined && isInItsForm)) return undefined;
  return [
    {
      message: `${origin} has no such address: is it the one that this client was to be given (gatewayUrl or apiUrl)?`,
    },
  ];
}

const MAX_ADDRESS_LENGTH = 2048;

/** The help page in the header `Link` (RFC 8288), also for responses without a problem's `type`. */
function errorPageOf({ headers, url }: ApiAnswer): string | undefined {
  const page = /^<([^<>]+)>; rel="help"$/.exec(headers.get('link') ?? '')?.[1];
  if (page === undefined || page.length > MAX_ADDRESS_LENGTH || !URL.canParse(page, url)) return undefined;
  const { protocol, href } = new URL(page, url);
  return protocol === 'https:' || protocol === 'http:' ? href : undefined;
}

/** Reads a response with `reader`, which throws {@link MalformedPaymentError} for invalid content. @throws SvcApiError */
export function readAnswer<T>(answer: ApiAnswer, reader: (body: Record<string, unknown>) => T): T {
  if (!answer.ok) throw describeFailure(answer);
  try {
    return reader(readObject(answer.body, 'body'));
  } catch (cause) {
    if (!(cause instanceof MalformedPaymentError)) throw cause;
    throw new SvcApiError({
      httpStatus: answer.httpStatus,
      status: 'InternalServer',
      errors: [{ message: `The answer cannot be read: ${cause.message}` }],
      requestId: answer.headers.get('x-request-id') ?? undefined,
      retryable: false,
      cause,
    });
  }
}

/** 409 with `Retry-After` means that an equal request is still running (C7); without it, the request can never succeed. */
function isRetryable(answer: ApiAnswer): boolean {
  return RETRYABLE.has(answer.httpStatus) || (answer.httpStatus === 409 && answer.headers.has('retry-after'));
}

function statusOf(httpStatus: number): ResponseStatus {
  if (httpStatus === 401) return 'Unauthorized';
  if (httpStatus === 404) return 'NotFound';
  return httpStatus >= 400 && httpStatus < 500 ? 'BadRequest' : 'InternalServer';
}

/** Seconds, or a date compared with the answer's own `Date`, so that the caller's clock does not matter. */
function retryAfterSeconds(headers: Headers): number | undefined {
  const text = String(headers.get('retry-after'));
  if (/^\d{1,9}$/.test(text)) return Number(text);
  // An absent header is not a date.
  const seconds = (Date.parse(text) - Date.parse(String(headers.get('date')))) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}

async function readBounded(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > MAX_ANSWER_BYTES) {
      await reader.cancel();
      throw new Error('The answer is larger than 1 MiB');
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
