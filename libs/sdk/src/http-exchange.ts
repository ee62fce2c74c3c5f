/**
 * One HTTP call, bounded in time and size, and the same call repeated within bounds. It is *not* for calls that move
 * money without an idempotency key: `repeatably` may send a request that has already taken effect.
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
  /** For one try, connecting and reading included; 10 000 when left out. All tries together take at most three times it. */
  timeoutMs?: number;
  /** Waits between tries; a test steps it. */
  wait?: (milliseconds: number) => Promise<void>;
  /** Milliseconds of a clock that never goes back. */
  monotonicNow?: () => number;
  /** 0 to 1, spreads the tries of many callers. */
  random?: () => number;
}

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
}

export interface ApiAnswer {
  /** What was asked. */
  url: string;
  httpStatus: number;
  ok: boolean;
  headers: Headers;
  /** As it came. */
  text: string;
  /** Parsed JSON; undefined when the body was empty or not JSON. */
  body: unknown;
}

const MAX_TRIES = 4;
const FIRST_PAUSE_MS = 250;
const BUDGET_IN_TIMEOUTS = 3;
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Never processed, or safe to ask again because the call is idempotent. */
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

  /** @throws SvcApiError with httpStatus 0 when no answer came */
  async once(request: ApiRequest, timeoutMs = this.timeoutMs): Promise<ApiAnswer> {
    try {
      const response = await this.send(request, AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs))));
      return await answerOf(request.url, response);
    } catch (cause) {
      throw noAnswer(request.url, cause);
    }
  }

  /**
   * An answer that goes on: its head comes in time, its body for as long as the server sends it.
   *
   * @throws SvcApiError for any answer other than 2xx, and with httpStatus 0 when none came
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

  /** Waits before the next try, longer after each, at least as long as the server asked for. */
  pause(tries: number, askedSeconds?: number): Promise<void> {
    return this.wait(this.pauseBeforeNext(tries, askedSeconds));
  }

  private send(request: ApiRequest, signal: AbortSignal): Promise<Response> {
    return this.fetch(request.url, {
      method: request.method,
      headers: request.headers,
      // A redirect would carry the key to wherever it points.
      redirect: 'error',
      signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    });
  }

  /**
   * The call, and again after a failure that may pass; the last answer, or the last error when none came. An answer of which
   * `isFinal` holds is not worth a repeat here, although the same call may succeed later.
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
      // A pause that leaves no time for another try would only make the caller wait for the same error.
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

/** Names the address without its path: a path may hold what is nobody's business. */
function noAnswer(url: string, cause: unknown): SvcApiError {
  return new SvcApiError({
    httpStatus: 0,
    status: 'InternalServer',
    errors: [{ message: `${new URL(url).origin}: ${withHint(reasonOf(cause))}` }],
    retryable: true,
    cause,
  });
}

/** Of a name that nobody has, and a port where nothing listens. */
function withHint(reason: string): string {
  return /ECONNREFUSED|ENOTFOUND/.test(reason) ? `${reason}. Is this the right address?` : reason;
}

/** `fetch` says "fetch failed", and why in the cause of its error: "connect ECONNREFUSED 127.0.0.1:443". */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return reasonOf(error.cause);
  // Of two addresses of a name (IPv6, IPv4) that both refuse, the error itself says nothing.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ');
  return error.message || error.name;
}

/** The error an answer other than 2xx stands for. */
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
 * Another host, or a path before the API that does not belong there: whoever answers knows no such address. What an API does not
 * find is in its own form, with `errors` or without a body.
 */
function notThere({ httpStatus, body, text, url }: ApiAnswer): { message: string }[] | undefined {
  const { errors, title } = (body ?? {}) as { errors?: unknown; title?: unknown };
  const { origin, pathname } = new URL(url);
  // The gateway answers with its envelope; a problem is of the main API.
  const isInItsForm = !pathname.includes('/api/v3') || title === undefined;
  if (httpStatus !== 404 || text === '' || (errors !== undefined && isInItsForm)) return undefined;
  return [
    {
      message: `${origin} has no such address: is it the one that this client was to be given (gatewayUrl or apiUrl)?`,
    },
  ];
}

const MAX_ADDRESS_LENGTH = 2048;

/** The page that `Link` names as help (RFC 8288): a problem's `type`, and there also where an answer has no place for it. */
function errorPageOf({ headers, url }: ApiAnswer): string | undefined {
  const page = /^<([^<>]+)>; rel="help"$/.exec(headers.get('link') ?? '')?.[1];
  if (page === undefined || page.length > MAX_ADDRESS_LENGTH || !URL.canParse(page, url)) return undefined;
  const { protocol, href } = new URL(page, url);
  return protocol === 'https:' || protocol === 'http:' ? href : undefined;
}

/** What an answer holds, by `reader`, which throws {@link MalformedPaymentError} at what it cannot take. @throws SvcApiError */
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

/** 409 with `Retry-After` means that an equal request is still running (C7); without it, that this one never can. */
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
  // A header that is absent is no date either.
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

/** Undefined for what is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
