/**
 * HTTP calls with limits of time and size, and a limited number of retries. A call that moves money without an
 * idempotency key must use `sendOnce`: `sendWithRetries` may repeat a request that has already taken effect.
 */
import { explainCertificateError, recordApiTime } from './clock-error.js';
import {
  MalformedPaymentError,
  readErrors,
  readObject,
  readResponseStatus,
  type ResponseStatus,
} from './hosted-payment.js';
import { SvcApiError } from './svc-api-error.js';

export interface HttpExchangeOptions {
  /** Replaces the global `fetch`, for a proxy or a test. */
  fetch?: typeof globalThis.fetch;
  /**
   * Timeout of one attempt, including connecting and reading; default 10 000. All attempts together take at most three
   * times this timeout.
   */
  timeoutMs?: number;
  /** Waits between attempts; a test may replace it. */
  wait?: (milliseconds: number) => Promise<void>;
  /** Returns the milliseconds of a monotonic clock; a test may replace it. */
  monotonicNow?: () => number;
  /** Returns a number from 0 to 1, for jitter between callers; a test may replace it. */
  random?: () => number;
}

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
}

export interface ApiResponse {
  /** URL of the request. */
  url: string;
  httpStatus: number;
  ok: boolean;
  headers: Headers;
  /** The raw body. */
  text: string;
  /** Parsed JSON; undefined if the body is empty or not JSON. */
  body: unknown;
}

const MAX_ATTEMPTS = 4;
const INITIAL_BACKOFF_MS = 250;
const MAX_DURATION_IN_TIMEOUTS = 3;
/** A longer pause is not useful, and a timer of more than 24 days would end immediately. */
const MAX_RETRY_AFTER_SECONDS = 3_600;
const MAX_RESPONSE_BYTES = 1024 * 1024;
/**
 * With these statuses, either the server has not processed the request, or it is unknown whether the server has
 * processed it. A retry is safe in both cases, because only idempotent calls are retried. 408: the server has not
 * received the whole request in time.
 */
const RETRYABLE_STATUSES = new Set([408, 429, 502, 503, 504]);

export class HttpExchange {
  private readonly fetch: typeof globalThis.fetch;
  private readonly timeoutMs: number;
  private readonly wait: (milliseconds: number) => Promise<void>;
  /** Milliseconds of a monotonic clock: the clock of the computer may be wrong, and may jump. */
  readonly now: () => number;
  private readonly random: () => number;
  /** The API's time minus the monotonic clock, from the newest response of the API. */
  private apiTimeOffsetMs: number | undefined;

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

  /** Sends the request once. @throws SvcApiError with httpStatus 0 if there is no response */
  async sendOnce(request: ApiRequest): Promise<ApiResponse> {
    try {
      return await this.exchange(request, this.timeoutMs);
    } catch (cause) {
      throw await noResponseError(request.url, cause);
    }
  }

  /**
   * Opens a streaming response. The headers must arrive within the timeout, but the body has no time limit.
   *
   * @throws SvcApiError for any status other than 2xx, and with httpStatus 0 if there is no response
   */
  async openStream(request: ApiRequest, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(new Error('The response does not begin in time')), this.timeoutMs);
    let apiResponse: ApiResponse;
    try {
      const response = await this.send(request, AbortSignal.any([signal, timeout.signal]));
      if (response.ok && response.body) return response.body;
      apiResponse = await parseResponse(request.url, response);
    } catch (cause) {
      throw await noResponseError(request.url, cause);
    } finally {
      clearTimeout(timer);
    }
    throw createApiError(apiResponse);
  }

  /**
   * Waits before the next attempt with exponential backoff, but at least as long as `Retry-After` requires, up to an
   * hour.
   *
   * @param attempts number of attempts so far
   */
  waitBeforeRetry(attempts: number, retryAfterSeconds?: number): Promise<void> {
    return this.wait(this.retryDelayMs(attempts, retryAfterSeconds));
  }

  /**
   * The API's time, from the header `Date` of the API's newest response. Before the first response, the time of the
   * computer. Unix time in ms.
   */
  apiTime(): number {
    return this.apiTimeOffsetMs === undefined ? Date.now() : this.now() + this.apiTimeOffsetMs;
  }

  private async exchange(request: ApiRequest, timeoutMs: number): Promise<ApiResponse> {
    const response = await this.send(request, AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs))));
    return parseResponse(request.url, response);
  }

  private async send(request: ApiRequest, signal: AbortSignal): Promise<Response> {
    const response = await this.fetch(request.url, {
      method: request.method,
      headers: request.headers,
      // If a redirect were followed, the key would be sent to another address.
      redirect: 'error',
      signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    });
    const time = readApiTime(response.headers);
    if (!Number.isNaN(time)) {
      this.apiTimeOffsetMs = time - this.now();
      recordApiTime(time);
    }
    return response;
  }

  /**
   * Sends the request, and sends it again after temporary failures. Returns the last response, or throws the last
   * error. If `isFinal` returns true for a response, the request is not sent again, although it may succeed later.
   */
  async sendWithRetries(
    request: ApiRequest,
    isFinal: (apiResponse: ApiResponse) => boolean = () => false,
  ): Promise<ApiResponse> {
    const deadline = this.now() + this.timeoutMs * MAX_DURATION_IN_TIMEOUTS;
    for (let attempt = 1; ; attempt++) {
      let apiResponse: ApiResponse | undefined;
      let failure: unknown;
      try {
        apiResponse = await this.exchange(request, Math.min(this.timeoutMs, deadline - this.now()));
        if (!isRetryable(apiResponse) || isFinal(apiResponse)) return apiResponse;
      } catch (error) {
        failure = error;
      }
      const pause = this.retryDelayMs(attempt, apiResponse && retryAfterSeconds(apiResponse.headers));
      // If no time is left for another attempt after the pause, the pause would only delay the error.
      if (attempt === MAX_ATTEMPTS || this.now() + pause >= deadline) {
        if (apiResponse) return apiResponse;
        throw await noResponseError(request.url, failure);
      }
      await this.wait(pause);
    }
  }

  private retryDelayMs(attempts: number, retryAfterSeconds: number | undefined): number {
    const backoff = INITIAL_BACKOFF_MS * 2 ** (attempts - 1);
    // The jitter is up to 25 % in both directions.
    return Math.max(
      Math.min(retryAfterSeconds ?? 0, MAX_RETRY_AFTER_SECONDS) * 1000,
      backoff * (0.75 + this.random() / 2),
    );
  }
}

/** Content types of the API. A page of a proxy has another one, and its time may be wrong. */
const API_CONTENT_TYPE = /^(application\/(problem\+)?json|text\/event-stream)\b/;

/** The time of a response of the API, or NaN. A cache adds the header `Age` to a response, whose `Date` is old. */
function readApiTime(headers: Headers): number {
  const isOfApi = API_CONTENT_TYPE.test(String(headers.get('content-type'))) && !headers.has('age');
  return isOfApi ? Date.parse(String(headers.get('date'))) : Number.NaN;
}

async function parseResponse(url: string, response: Response): Promise<ApiResponse> {
  const text = response.body ? await readBounded(response.body) : '';
  return { url, httpStatus: response.status, ok: response.ok, headers: response.headers, text, body: parseJson(text) };
}

/**
 * The error of a call without a response. It contains the URL's origin but not its path, which may contain confidential
 * data.
 */
async function noResponseError(url: string, cause: unknown): Promise<SvcApiError> {
  const explanation = await explainCertificateError(url, cause);
  const reason = addAddressHint(describeCause(cause));
  return new SvcApiError({
    httpStatus: 0,
    status: 'InternalServer',
    errors: [{ message: `${new URL(url).origin}: ${reason}${explanation === undefined ? '' : `. ${explanation}`}` }],
    retryable: true,
    cause,
  });
}

/** An unknown host name or a closed port is often caused by a wrong URL. */
function addAddressHint(reason: string): string {
  return /ECONNREFUSED|ENOTFOUND/.test(reason) ? `${reason}. Is this the right address?` : reason;
}

/**
 * The message of an error of `fetch` is only "fetch failed". Its cause has the reason, as in "connect ECONNREFUSED
 * 127.0.0.1:443".
 */
function describeCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return describeCause(error.cause);
  // If both the IPv6 and the IPv4 address of a host refuse, the error has no message, but one nested error per address.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(describeCause).join('; ');
  return error.message || error.name;
}

/** Creates the error for a response with a status other than 2xx. */
export function createApiError(apiResponse: ApiResponse): SvcApiError {
  const envelope = (apiResponse.body ?? {}) as { status?: unknown; errors?: unknown; code?: unknown };
  return new SvcApiError({
    httpStatus: apiResponse.httpStatus,
    status: readResponseStatus(envelope.status) ?? defaultStatus(apiResponse.httpStatus),
    errors: wrongAddressErrors(apiResponse) ?? readErrors(envelope.errors),
    code: typeof envelope.code === 'string' ? envelope.code : (apiResponse.headers.get('x-error-code') ?? undefined),
    type: helpPageUrl(apiResponse),
    requestId: apiResponse.headers.get('x-request-id') ?? undefined,
    retryable: isRetryable(apiResponse),
    retryAfterSeconds: retryAfterSeconds(apiResponse.headers),
  });
}

/**
 * Detects that a server other than the API has responded, because the configured URL has a wrong host or path. A 404 of
 * the API contains `errors` in the format of that API, or has no body.
 */
function wrongAddressErrors({ httpStatus, body, text, url }: ApiResponse): { message: string }[] | undefined {
  const { errors, title, detail } = (body ?? {}) as { errors?: unknown; title?: unknown; detail?: unknown };
  const { origin, pathname } = new URL(url);
  // The gateway returns an envelope, which has no title. The main API returns a problem (RFC 9457), which has a title.
  const hasFormatOfApi = !pathname.includes('/api/v3') || title === undefined;
  if (httpStatus !== 404 || text === '' || (errors !== undefined && hasFormatOfApi)) return undefined;
  // The other API of the platform says where the path belongs to.
  if (errors !== undefined && typeof detail === 'string' && detail !== '' && detail.length <= MAX_DETAIL_LENGTH)
    return [{ message: `${origin}: ${detail}` }];
  return [
    {
      message: `${origin} has no such address: is it the one that this client was to be given (gatewayUrl or apiUrl)?`,
    },
  ];
}

const MAX_DETAIL_LENGTH = 1_000;
const MAX_URL_LENGTH = 2048;

/** URL of the help page in the header `Link` (RFC 8288). Responses without a body also have this header. */
function helpPageUrl({ headers, url }: ApiResponse): string | undefined {
  const page = /^<([^<>]+)>; rel="help"$/.exec(headers.get('link') ?? '')?.[1];
  if (page === undefined || page.length > MAX_URL_LENGTH || !URL.canParse(page, url)) return undefined;
  const { protocol, href } = new URL(page, url);
  return protocol === 'https:' || protocol === 'http:' ? href : undefined;
}

/**
 * Converts a response with `reader`, which throws {@link MalformedPaymentError} for invalid content.
 *
 * @throws SvcApiError for a status other than 2xx, or for invalid content
 */
export function readResponse<T>(apiResponse: ApiResponse, reader: (body: Record<string, unknown>) => T): T {
  if (!apiResponse.ok) throw createApiError(apiResponse);
  try {
    return reader(readObject(apiResponse.body, 'body'));
  } catch (cause) {
    if (!(cause instanceof MalformedPaymentError)) throw cause;
    throw new SvcApiError({
      httpStatus: apiResponse.httpStatus,
      status: 'InternalServer',
      errors: [{ message: `The response cannot be read: ${cause.message}` }],
      requestId: apiResponse.headers.get('x-request-id') ?? undefined,
      retryable: false,
      cause,
    });
  }
}

/** As {@link readResponse}, for a response that is an array. `name` is the name of the array in an error. */
export function readList<Item>(response: ApiResponse, name: string, read: (value: unknown) => Item): Item[] {
  return readResponse({ ...response, body: response.ok ? { items: response.body } : response.body }, ({ items }) => {
    if (!Array.isArray(items)) throw new MalformedPaymentError(name);
    return items.map(read);
  });
}

/**
 * A 409 with `Retry-After` means that an equal request is in progress (C7). Without `Retry-After`, the request can
 * never succeed.
 */
function isRetryable(apiResponse: ApiResponse): boolean {
  return (
    RETRYABLE_STATUSES.has(apiResponse.httpStatus) ||
    (apiResponse.httpStatus === 409 && apiResponse.headers.has('retry-after'))
  );
}

function defaultStatus(httpStatus: number): ResponseStatus {
  if (httpStatus === 401) return 'Unauthorized';
  if (httpStatus === 404) return 'NotFound';
  return httpStatus >= 400 && httpStatus < 500 ? 'BadRequest' : 'InternalServer';
}

/**
 * `Retry-After` contains seconds or a date. A date is compared with the response's `Date`, because the caller's clock
 * may be wrong.
 */
function retryAfterSeconds(headers: Headers): number | undefined {
  const text = String(headers.get('retry-after'));
  if (/^\d{1,9}$/.test(text)) return Number(text);
  // If a header is absent, parsing its text "null" results in NaN.
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
    if (bytes > MAX_RESPONSE_BYTES) {
      await reader.cancel();
      throw new Error('The response is larger than 1 MiB');
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Returns undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
