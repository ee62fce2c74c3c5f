import { type AddressPolicy, AddressRefusedError, checkUrl, guardedConnector, type Resolve } from '@svc/outbound';
import { Agent, type Dispatcher, errors } from 'undici';

/** The response of an endpoint to one attempt, or the reason why there is no response. */
export interface WebhookResponse {
  /** Absent when there is no response. */
  readonly statusCode?: number;
  readonly retryAfter?: string;
  /** The beginning of the body, at most {@link MAX_RESPONSE_CHARACTERS} characters. */
  readonly text?: string;
  /** The reason why there is no status, e.g. `timeout` or `address-refused:private`, or why the body is incomplete. */
  readonly errorClass?: string;
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

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Only this many bytes of a response body are read (E1). */
const MAX_RESPONSE_BYTES = 64 * 1024;
const MAX_RESPONSE_HEADER_BYTES = 16 * 1024;
export const MAX_RESPONSE_CHARACTERS = 2_000;

/** Posts notifications over a limited pool of connections. It does not follow redirects. */
export class WebhookClient {
  private readonly agent: Agent;

  constructor(private readonly options: WebhookClientOptions) {
    this.agent = new Agent({
      connect: guardedConnector(options),
      connections: options.connectionsPerOrigin,
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: 10_000,
      keepAliveMaxTimeout: 60_000,
      maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
      headersTimeout: options.timeoutMs,
      bodyTimeout: options.timeoutMs,
    });
  }

  /** Returns a failed request as a response without a status. Throws only when `abortSignal` aborts the request. */
  async post({ url: text, headers, body }: WebhookRequest, abortSignal: AbortSignal): Promise<WebhookResponse> {
    const startedAt = performance.now();
    const elapsedMs = (): number => Math.round(performance.now() - startedAt);
    // The URL was checked when it was set, but the rules may have changed since then.
    const { url, refused } = checkUrl(text, this.options.policy);
    if (refused) return { errorClass: `address-refused:${refused}`, durationMs: elapsedMs() };

    const attempt = new AbortController();
    const onAbort = (): void => attempt.abort(abortSignal.reason);
    const deadline = setTimeout(() => attempt.abort(new AttemptTimeout()), this.options.timeoutMs);
    abortSignal.addEventListener('abort', onAbort);
    try {
      abortSignal.throwIfAborted();
      const response = await this.agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'POST',
        headers,
        body,
        signal: attempt.signal,
      });
      return { ...(await readResponse(response)), durationMs: elapsedMs() };
    } catch (error) {
      abortSignal.throwIfAborted();
      return { errorClass: classifyError(error), durationMs: elapsedMs() };
    } finally {
      clearTimeout(deadline);
      abortSignal.removeEventListener('abort', onAbort);
    }
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }
}

class AttemptTimeout extends Error {
  override readonly name = 'AttemptTimeout';
}

/**
 * Only the status decides the result of the attempt. The body is for support, so an incomplete body is not an error.
 */
async function readResponse({
  statusCode,
  headers,
  body,
}: Dispatcher.ResponseData): Promise<Omit<WebhookResponse, 'durationMs'>> {
  const retryAfter = [headers['retry-after'] ?? []].flat()[0];
  const head = { statusCode, ...(retryAfter === undefined ? {} : { retryAfter }) };
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, MAX_RESPONSE_BYTES - bytes));
      bytes += chunk.length;
      // `return` ends the loop, which closes the connection.
      if (bytes >= MAX_RESPONSE_BYTES) return { ...head, text: decodeText(chunks), errorClass: 'answer-too-large' };
    }
  } catch (error) {
    return { ...head, text: decodeText(chunks), errorClass: classifyError(error) };
  }
  return { ...head, text: decodeText(chunks) };
}

/** Replaces U+0000, which PostgreSQL cannot store, and repairs a surrogate pair that the truncation has split. */
function decodeText(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks)
    .toString('utf8')
    .replaceAll('\0', '\ufffd')
    .slice(0, MAX_RESPONSE_CHARACTERS)
    .toWellFormed();
}

/** Returns the class of an error by its code, because messages change between versions and contain addresses. */
export function classifyError(error: unknown): string {
  if (error instanceof AddressRefusedError) return `address-refused:${error.refusal}`;
  if (
    error instanceof AttemptTimeout ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError
  )
    return 'timeout';
  if (error instanceof errors.ConnectTimeoutError) return 'connect-timeout';
  if (error instanceof errors.HeadersOverflowError) return 'answer-headers-too-large';
  const first: unknown = error instanceof AggregateError ? (error.errors as unknown[])[0] : error;
  const code = (first as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return 'unknown';
  return (
    ERROR_CLASSES[code] ??
    (/^(CERT_|ERR_TLS|ERR_SSL|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|EPROTO)/.test(code) ? 'tls' : code.slice(0, 60))
  );
}

const ERROR_CLASSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection-refused',
  ECONNRESET: 'connection-reset',
  EPIPE: 'connection-reset',
  UND_ERR_SOCKET: 'connection-reset',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ETIMEDOUT: 'connect-timeout',
  ENOTFOUND: 'name-not-found',
  ENODATA: 'name-not-found',
  ESERVFAIL: 'name-servers-failed',
  ETIMEOUT: 'name-servers-failed',
  EREFUSED: 'name-servers-failed',
};
