import { type AddressPolicy, AddressRefused, checkUrl, guardedConnector, type Resolve } from '@svc/outbound';
import { Agent, type Dispatcher, errors } from 'undici';

/** What an endpoint said to one try, or why it said nothing. */
export interface Answer {
  /** Absent when no answer came. */
  readonly statusCode?: number;
  readonly retryAfter?: string;
  /** The beginning of the body, at most {@link ANSWER_CHARACTERS_MAX} characters. */
  readonly text?: string;
  /** Why there is no status, e.g. `timeout` or `address-refused:private`; or why an answer broke off. */
  readonly errorClass?: string;
  readonly durationMs: number;
}

export interface PostSettings {
  readonly policy: AddressPolicy;
  readonly connectTimeoutMs: number;
  /** From begin to end, the reading of the answer included. */
  readonly timeoutMs: number;
  /** Connections to one host and port, over all merchants that share it; who asks bounds each of them. */
  readonly connectionsPerOrigin: number;
  readonly resolve?: Resolve;
}

export interface Posting {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** At most this much of an answer is read (E1). */
const ANSWER_BYTES_MAX = 64 * 1024;
const ANSWER_HEADER_BYTES_MAX = 16 * 1024;
export const ANSWER_CHARACTERS_MAX = 2_000;

/** Posts notifications over connections that are kept and bounded. Redirects are answers like any other. */
export class NotificationPoster {
  private readonly agent: Agent;

  constructor(private readonly settings: PostSettings) {
    this.agent = new Agent({
      connect: guardedConnector(settings),
      connections: settings.connectionsPerOrigin,
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: 10_000,
      keepAliveMaxTimeout: 60_000,
      maxHeaderSize: ANSWER_HEADER_BYTES_MAX,
      headersTimeout: settings.timeoutMs,
      bodyTimeout: settings.timeoutMs,
    });
  }

  /** Never throws: a failure is an answer without a status. `interrupt` cuts it off, and then it does throw. */
  async post({ url: written, headers, body }: Posting, interrupt: AbortSignal): Promise<Answer> {
    const startedAt = performance.now();
    const elapsed = (): number => Math.round(performance.now() - startedAt);
    // At every try: what was acceptable when the session was made need not be now.
    const { url, refused } = checkUrl(written, this.settings.policy);
    if (refused) return { errorClass: `address-refused:${refused}`, durationMs: elapsed() };

    const cut = new AbortController();
    const onInterrupt = (): void => cut.abort(interrupt.reason);
    const deadline = setTimeout(() => cut.abort(new TryTimeout()), this.settings.timeoutMs);
    interrupt.addEventListener('abort', onInterrupt);
    try {
      interrupt.throwIfAborted();
      const answer = await this.agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'POST',
        headers,
        body,
        signal: cut.signal,
      });
      return { ...(await read(answer)), durationMs: elapsed() };
    } catch (error) {
      interrupt.throwIfAborted();
      return { errorClass: errorClassOf(error), durationMs: elapsed() };
    } finally {
      clearTimeout(deadline);
      interrupt.removeEventListener('abort', onInterrupt);
    }
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }
}

class TryTimeout extends Error {
  override readonly name = 'TryTimeout';
}

/** The status counts as soon as it is there; the body is only for people, so its end is not waited for for ever. */
async function read({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Omit<Answer, 'durationMs'>> {
  const retryAfter = [headers['retry-after'] ?? []].flat()[0];
  const head = { statusCode, ...(retryAfter === undefined ? {} : { retryAfter }) };
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, ANSWER_BYTES_MAX - bytes));
      bytes += chunk.length;
      // Leaving the loop destroys the body, and its connection with it.
      if (bytes >= ANSWER_BYTES_MAX) return { ...head, text: textOf(chunks), errorClass: 'answer-too-large' };
    }
  } catch (error) {
    return { ...head, text: textOf(chunks), errorClass: errorClassOf(error) };
  }
  return { ...head, text: textOf(chunks) };
}

/** PostgreSQL cannot store U+0000, and a cut may leave half a surrogate pair. */
function textOf(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks)
    .toString('utf8')
    .replaceAll('\0', '\ufffd')
    .slice(0, ANSWER_CHARACTERS_MAX)
    .toWellFormed();
}

/** One word for why no answer came. Codes only: messages of errors change between versions and carry addresses. */
export function errorClassOf(error: unknown): string {
  if (error instanceof AddressRefused) return `address-refused:${error.refusal}`;
  if (
    error instanceof TryTimeout ||
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
    CLASS_OF_CODE[code] ??
    (/^(CERT_|ERR_TLS|ERR_SSL|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|EPROTO)/.test(code) ? 'tls' : code.slice(0, 60))
  );
}

const CLASS_OF_CODE: Readonly<Record<string, string>> = {
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
