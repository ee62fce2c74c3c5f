import { setTimeout as wait } from 'node:timers/promises';
import type { Mode } from '@svc/contracts';
import { HttpClient, type OutboundResponse } from '@svc/outbound';
import type { AdyenSettings } from './adyen-config.js';

/** A response that decides the outcome of the request. */
export interface AdyenResponse {
  readonly kind: 'response';
  readonly status: number;
  /** Empty if the body is not an object of JSON. It can contain card data: never log it. */
  readonly body: Readonly<Record<string, unknown>>;
  /** True if an earlier call with the same key may have arrived, and its response was lost. */
  readonly isRepeat: boolean;
}

/**
 * `notSent`: Adyen has certainly not received the request. `unknown`: it may have received the request, and the outcome
 * is unknown. `isAnswered`: Adyen has answered, and repeats this answer for each request under the same key, so that a
 * repeat is useless (the OpenAPI document, RequestedTestErrorResponseCode).
 */
export type AdyenResult =
  | AdyenResponse
  | { readonly kind: 'notSent'; readonly failure: AdyenFailure }
  | { readonly kind: 'unknown'; readonly isAnswered?: true; readonly failure: AdyenFailure };

/** Why the last call had no usable response, for the log of operators. */
export interface AdyenFailure {
  readonly status?: number;
  /** A code of Node.js, such as `ECONNREFUSED`, or of Adyen, such as `905`; `NOT_JSON`, `ABORTED` or `NO_SETTINGS`. */
  readonly code?: string;
}

export interface AdyenRequest {
  readonly mode: Mode;
  readonly method: 'DELETE' | 'POST';
  /** Path after the version, such as `/payments`. */
  readonly path: string;
  readonly body?: object;
  /**
   * At most 64 characters. While the signal lasts, a request with a key is repeated after a lost response: Adyen executes
   * it once and repeats its first response.
   */
  readonly idempotencyKey?: string;
  readonly signal: AbortSignal;
}

export interface ClientLimits {
  /** Timeout of each call. The signal of a request limits all its calls. */
  readonly callTimeoutMs: number;
  readonly firstRepeatMs: number;
  readonly maxConnections: number;
}

export const DEFAULT_LIMITS: ClientLimits = { callTimeoutMs: 4_000, firstRepeatMs: 200, maxConnections: 100 };
const MAX_REPEAT_DELAY_MS = 1_000;
/** With a repeat for each second of the longest timeout of a charge. */
const MAX_CALLS = 10;
const CONNECT_TIMEOUT_MS = 2_000;
const KEEP_ALIVE_MS = 4_000;
/** Larger responses are not read. */
const MAX_RESPONSE_BYTES = 256 * 1024;
/**
 * "Request already processed or in progress", with status 422 or 409 (Adyen's documentation, page "API idempotency"): the
 * first request under the key has no result yet.
 */
const IN_PROGRESS = '704';

/** `lost`: no usable response, and a repeat under the same key may return the first response. */
type Classification =
  AdyenResponse | { readonly kind: 'unknown'; readonly isAnswered?: true } | { readonly kind: 'lost' };
const ANSWERED: Classification = { kind: 'unknown', isAnswered: true };
/** Result of one call. */
type CallResult = AdyenResult | { readonly kind: 'lost'; readonly failure: AdyenFailure };

/** HTTP client of Adyen's Checkout API. It never throws. */
export class AdyenClient {
  private readonly http: HttpClient;

  constructor(
    private readonly settings: Readonly<Partial<Record<Mode, AdyenSettings>>>,
    private readonly limits: ClientLimits = DEFAULT_LIMITS,
  ) {
    this.http = new HttpClient({
      policy: undefined,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      maxConnectionsPerOrigin: limits.maxConnections,
      keepAliveMs: KEEP_ALIVE_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
    });
  }

  async send(request: AdyenRequest): Promise<AdyenResult> {
    const settings = this.settings[request.mode];
    if (settings === undefined) return { kind: 'notSent', failure: { code: 'NO_SETTINGS' } };
    if (request.signal.aborted) return { kind: 'notSent', failure: { code: 'ABORTED' } };
    let mayHaveArrived = false;
    let delayMs = this.limits.firstRepeatMs;
    for (let calls = 1; ; calls++) {
      const result = await this.call(request, settings);
      if (result.kind === 'response') return { ...result, isRepeat: mayHaveArrived };
      if (result.kind === 'unknown') return result;
      if (result.kind === 'notSent' && !mayHaveArrived) return result;
      mayHaveArrived = true;
      const { failure } = result;
      if (request.idempotencyKey === undefined || calls === MAX_CALLS) return { kind: 'unknown', failure };
      if (!(await waitUnlessAborted(delayMs, request.signal))) return { kind: 'unknown', failure };
      delayMs = Math.min(delayMs * 2, MAX_REPEAT_DELAY_MS);
    }
  }

  private async call(request: AdyenRequest, { checkoutUrl, apiKey }: AdyenSettings): Promise<CallResult> {
    const { method, path, body, idempotencyKey, signal } = request;
    try {
      const response = await this.http.call({
        method,
        url: new URL(checkoutUrl + path),
        headers: {
          'x-api-key': apiKey,
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        timeoutMs: this.limits.callTimeoutMs,
        signal,
      });
      const result = classify(response);
      return result.kind === 'response' ? result : { ...result, failure: failureOf(response) };
    } catch (error) {
      return { kind: isConnectionFailure(error) ? 'notSent' : 'lost', failure: { code: codeOf(error) } };
    }
  }

  /** Waits for the calls in flight, then closes all connections. */
  close(): Promise<void> {
    return this.http.close();
  }
}

function classify({ statusCode: status, headers, body, bodyError }: OutboundResponse): Classification {
  if (bodyError !== undefined) return codeOf(bodyError) === 'RESPONSE_TOO_LARGE' ? ANSWERED : { kind: 'lost' };
  const json = parseObject(body);
  if (json?.errorCode === IN_PROGRESS) return { kind: 'lost' };
  if (status >= 500 || status === 429) {
    // Adyen has not processed the request, and processes a repeat like a first request (the OpenAPI document,
    // RequestedTestErrorResponseCode). It stores any other error as the result of the key.
    if (headers['transient-error'] === 'true') return { kind: 'lost' };
    return status === 429 ? { kind: 'unknown' } : ANSWERED;
  }
  // A successful response without a body is the deletion of a card.
  if (status !== 204 && status < 400 && json === undefined) return ANSWERED;
  return { kind: 'response', status, body: json ?? {}, isRepeat: false };
}

/** Adyen's codes. Another text could contain a value of the request. */
const ERROR_CODE = /^\d{1,3}(_\d{1,3})?$/;

function failureOf({ statusCode: status, body, bodyError }: OutboundResponse): AdyenFailure {
  if (bodyError !== undefined) return { status, code: codeOf(bodyError) };
  const json = parseObject(body);
  if (json === undefined) return { status, code: 'NOT_JSON' };
  const { errorCode } = json;
  return typeof errorCode === 'string' && ERROR_CODE.test(errorCode) ? { status, code: errorCode } : { status };
}

function parseObject(body: Buffer): Record<string, unknown> | undefined {
  try {
    const json: unknown = JSON.parse(body.toString('utf8'));
    return typeof json === 'object' && json !== null && !Array.isArray(json)
      ? (json as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Returns false as soon as the signal is aborted. */
async function waitUnlessAborted(delayMs: number, signal: AbortSignal): Promise<boolean> {
  try {
    await wait(delayMs, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}

/** The code of an error of Node.js. An error without one, such as that of an aborted signal, has a name. */
function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return typeof code === 'string' ? code : String(name);
}

/** Without a connection nothing was sent. After any other error the request may have arrived. */
function isConnectionFailure(error: unknown): boolean {
  return ['ECONNREFUSED', 'CONNECT_TIMEOUT', 'ENOTFOUND', 'EAI_AGAIN'].includes(codeOf(error));
}
