/** The stream of a site's payments (M6), with automatic reconnection. */
import { createParser } from 'eventsource-parser';
import { MalformedPaymentError } from '../hosted-payment.js';
import { type ApiRequest, type HttpExchange, parseJson } from '../http-exchange.js';
import { SvcApiError } from '../svc-api-error.js';
import { type PaymentNotice, readPaymentNotice } from './merchant-payment.js';

export interface StreamOptions {
  /** `id` of the last notice that you have: the stream continues after it. Without one, it begins with the next notice. */
  after?: string | undefined;
  /** Ends the stream. */
  signal?: AbortSignal | undefined;
  /** Milliseconds without data after which it reconnects; default 45 000. The server sends a comment every 15 s. */
  silenceMs?: number | undefined;
  /** Called once, when the stream is open, with the id after which it begins. */
  onOpen?: ((id: string) => void) | undefined;
}

/** Attempts before the first connection: a wrong address or key is reported as an error. */
const MAX_FIRST_ATTEMPTS = 4;
/** Pauses grow up to this attempt, to about 16 s. */
const LONGEST_PAUSE_AT = 7;
const MAX_MESSAGE_LENGTH = 1024 * 1024;

/**
 * Every notice once, in order, over reconnections.
 *
 * @throws SvcApiError for permanent errors: 400 or 410 for an `after` that is invalid or too old, 401, 403, 404; with `retryable`
 * false for an unreadable message
 */
export async function* streamPayments(
  http: HttpExchange,
  request: ApiRequest,
  { after, signal, silenceMs = 45_000, onOpen }: StreamOptions = {},
): AsyncGenerator<PaymentNotice, void, undefined> {
  let last = after;
  let isOpened = false;
  const onId = (id: string): void => {
    last = id;
    if (!isOpened) onOpen?.(id);
    isOpened = true;
  };
  for (let tries = 1; !signal?.aborted; tries++) {
    const connection = new AbortController();
    const signals = AbortSignal.any(signal ? [signal, connection.signal] : [connection.signal]);
    let retryAfterSeconds: number | undefined;
    try {
      const headers = last === undefined ? request.headers : { ...request.headers, 'last-event-id': last };
      const body = await http.open({ ...request, headers }, signals);
      tries = 0;
      const startTimer = (): NodeJS.Timeout => setTimeout(() => connection.abort(), silenceMs);
      yield* noticesIn(body, { startTimer, onId });
    } catch (error) {
      if (signal?.aborted) return;
      if (!(error instanceof SvcApiError && error.retryable)) throw error;
      if (!isOpened && tries === MAX_FIRST_ATTEMPTS) throw error;
      ({ retryAfterSeconds } = error);
    } finally {
      connection.abort();
    }
    await Promise.race([http.pause(Math.min(tries + 1, LONGEST_PAUSE_AT), retryAfterSeconds), abortOf(signal)]);
  }
}

/** Never resolves without a signal. */
function abortOf(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) resolve();
    signal?.addEventListener('abort', () => resolve(), { once: true });
  });
}

interface Watch {
  readonly startTimer: () => NodeJS.Timeout;
  /** Also for the first message of a stream, before any notice. */
  readonly onId: (id: string) => void;
}

async function* noticesIn(
  body: ReadableStream<Uint8Array>,
  { startTimer, onId }: Watch,
): AsyncGenerator<PaymentNotice, void, undefined> {
  const messages: Message[] = [];
  const parser = createParser({
    maxBufferSize: MAX_MESSAGE_LENGTH,
    onId,
    onEvent: (message) => messages.push(message),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw unreadable(error);
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await readChunk(reader, startTimer);
    if (done) return;
    parser.feed(decoder.decode(value, { stream: true }));
    for (const message of messages.splice(0)) {
      const notice = parseNotice(message);
      if (notice) yield notice;
    }
  }
}

type Chunk = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>>;

/** The timer runs only while waiting for the server; the caller may take any time to process a notice. */
async function readChunk(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  startTimer: Watch['startTimer'],
): Promise<Chunk> {
  const timer = startTimer();
  try {
    return await reader.read();
  } catch (cause) {
    const errors = [{ message: 'The connection broke off' }];
    throw new SvcApiError({ httpStatus: 0, status: 'InternalServer', errors, retryable: true, cause });
  } finally {
    clearTimeout(timer);
  }
}

interface Message {
  readonly id?: string | undefined;
  readonly data: string;
}

function parseNotice({ id, data }: Message): PaymentNotice | undefined {
  try {
    if (id === undefined) throw new MalformedPaymentError('id');
    return readPaymentNotice(id, parseJson(data));
  } catch (cause) {
    throw unreadable(cause);
  }
}

function unreadable(cause: unknown): SvcApiError {
  const errors = [{ message: `A message of the stream cannot be read: ${(cause as Error).message}` }];
  return new SvcApiError({ httpStatus: 200, status: 'InternalServer', errors, retryable: false, cause });
}
