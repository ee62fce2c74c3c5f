import {
  type AddressPolicy,
  AddressRefusedError,
  checkUrl,
  HttpClient,
  type OutboundResponse,
  type Resolve,
} from '@svc/outbound';
import { describeResponseHint } from './response-hint.js';

/** The response of an endpoint to one attempt, or the reason why there is no response. */
export interface WebhookResponse {
  /** Absent when there is no response. */
  readonly statusCode?: number;
  readonly retryAfter?: string;
  /** The beginning of the body, at most {@link MAX_RESPONSE_CHARACTERS} characters. */
  readonly text?: string;
  /** The reason why there is no status, e.g. `timeout` or `address-refused:private`, or why the body is incomplete. */
  readonly errorClass?: string;
  /** Explains a response that is probably a mistake of the endpoint's developer. */
  readonly hint?: string;
  readonly durationMs: number;
}

export interface WebhookClientOptions {
  readonly policy: AddressPolicy;
  readonly connectTimeoutMs: number;
  /** Maximum duration of the whole attempt, including reading the response. */
  readonly timeoutMs: number;
  /** Maximum connections to one host and port, for all merchants together. The caller limits each merchant. */
  readonly connectionsPerOrigin: number;
  readonly resolve?: Resolve;
}

interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Only this many bytes of a response body are read (E1). */
const MAX_RESPONSE_BYTES = 64 * 1024;
const KEEP_ALIVE_MS = 10_000;
const MAX_RESPONSE_CHARACTERS = 2_000;

/** Posts notifications over a limited pool of connections. It does not follow redirects. */
export class WebhookClient {
  private readonly client: HttpClient;

  constructor(private readonly options: WebhookClientOptions) {
    const { connectionsPerOrigin: maxConnectionsPerOrigin, ...settings } = options;
    this.client = new HttpClient({
      ...settings,
      maxConnectionsPerOrigin,
      keepAliveMs: KEEP_ALIVE_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
    });
  }

  /** Returns a failed request as a response without a status. Throws only when `abortSignal` aborts the request. */
  async post({ url: urlText, headers, body }: WebhookRequest, abortSignal: AbortSignal): Promise<WebhookResponse> {
    const startedAt = performance.now();
    const elapsedMs = (): number => Math.round(performance.now() - startedAt);
    // The URL was checked when it was set, but the rules may have changed since then.
    const { url, refused } = checkUrl(urlText, this.options.policy);
    if (refused) return { errorClass: `address-refused:${refused}`, durationMs: elapsedMs() };

    const { timeoutMs } = this.options;
    const request = { method: 'POST', url, urlText, headers, body, timeoutMs, signal: abortSignal } as const;
    try {
      return { ...convertResponse(url, await this.client.call(request)), durationMs: elapsedMs() };
    } catch (error) {
      abortSignal.throwIfAborted();
      return { errorClass: classifyError(error), durationMs: elapsedMs() };
    }
  }

  close(): void {
    this.client.destroy();
  }
}

/**
 * Only the status decides the result of the attempt. The body is for support, so an incomplete body is not an error.
 */
function convertResponse(
  url: URL,
  { statusCode, headers, body, bodyError }: OutboundResponse,
): Omit<WebhookResponse, 'durationMs'> {
  const retryAfter = headers['retry-after'];
  const text = decodeText(body);
  const hint = describeResponseHint({ statusCode, location: headers.location, text, url });
  return {
    statusCode,
    text,
    ...(hint === undefined ? {} : { hint }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(bodyError === undefined ? {} : { errorClass: classifyError(bodyError) }),
  };
}

/** Replaces U+0000, which PostgreSQL cannot store, and repairs a surrogate pair that the truncation has split. */
function decodeText(body: Buffer): string {
  return body.toString('utf8').replaceAll('\0', '\ufffd').slice(0, MAX_RESPONSE_CHARACTERS).toWellFormed();
}

/** Returns the class of an error by its code, because messages change between versions and contain addresses. */
function classifyError(error: unknown): string {
  if (error instanceof AddressRefusedError) return `address-refused:${error.refusal}`;
  const first: unknown = error instanceof AggregateError ? (error.errors as unknown[])[0] : error;
  const code = (first as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return 'unknown';
  return (
    ERROR_CLASSES[code] ??
    (/^(CERT_|ERR_TLS|ERR_SSL|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|EPROTO)/.test(code) ? 'tls' : code.slice(0, 60))
  );
}

const ERROR_CLASSES: Readonly<Record<string, string>> = {
  REQUEST_TIMEOUT: 'timeout',
  CONNECT_TIMEOUT: 'connect-timeout',
  RESPONSE_TOO_LARGE: 'response-too-large',
  HPE_HEADER_OVERFLOW: 'response-headers-too-large',
  INTERIM_RESPONSE: 'interim-answers',
  ECONNREFUSED: 'connection-refused',
  ECONNRESET: 'connection-reset',
  EPIPE: 'connection-reset',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ETIMEDOUT: 'connect-timeout',
  ENOTFOUND: 'name-not-found',
  ENODATA: 'name-not-found',
  ESERVFAIL: 'name-servers-failed',
  ETIMEOUT: 'name-servers-failed',
  EREFUSED: 'name-servers-failed',
};
