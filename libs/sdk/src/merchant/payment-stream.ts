/** The stream of a site's payments (M6), with automatic reconnection. */
import { createParser } from 'eventsource-parser';
import { MalformedPaymentError } from '../hosted-payment.js';
import { type ApiRequest, type HttpExchange, parseJson } from '../http-exchange.js';
import { SvcApiError } from '../svc-api-error.js';
import { type PaymentNotification, readPaymentNotification } from './merchant-payment.js';

export interface StreamOptions {
  /**
   * `id` of the last notification that you have stored. The stream continues after this notification. By default, the stream begins
   * with the next new notification.
   */
  after?: string | undefined;
  /** Aborting this signal ends the stream. */
  signal?: AbortSignal | undefined;
  /**
   * Milliseconds without data after which the stream reconnects; default 45 000. The server sends a comment every 15 s.
   */
  silenceMs?: number | undefined;
  /** Called once, when the stream is open. The stream begins after the notification with this id. */
  onOpen?: ((id: string) => void) | undefined;
}

/** Number of attempts to connect for the first time. Without a limit, a wrong URL or key would never be reported. */
const MAX_FIRST_ATTEMPTS = 4;
/** Pauses increase up to this attempt, to about 16 s. */
const MAX_BACKOFF_ATTEMPT = 7;
const MAX_MESSAGE_LENGTH = 1024 * 1024;
/** A timer with more milliseconds would end immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Returns every notification once and in order, even if the stream has to reconnect.
 *
 * @throws SvcApiError for a permanent error: 400 for an invalid `after`, 410 for an `after` that is too old, 401, 403,
 *   404. For an unreadable message, the error has `retryable` false
 */
export async function* streamPayments(
  http: HttpExchange,
  request: ApiRequest,
  { after, signal, silenceMs = 45_000, onOpen }: StreamOptions = {},
): AsyncGenerator<PaymentNotification, void, undefined> {
  let lastId = after;
  let isOpened = false;
  let attempt = 1;
  const onId = (id: string): void => {
    lastId = id;
    if (!isOpened) onOpen?.(id);
    isOpened = true;
    // The stream is open, so the pauses between attempts begin again with the shortest pause.
    attempt = 0;
  };
  for (; !signal?.aborted; attempt++) {
    const connection = new AbortController();
    const signals = AbortSignal.any(signal ? [signal, connection.signal] : [connection.signal]);
    let retryAfterSeconds: number | undefined;
    try {
      const headers = lastId === undefined ? request.headers : { ...request.headers, 'last-event-id': lastId };
      const body = await http.openStream({ ...request, headers }, signals);
      const startTimer = (): NodeJS.Timeout => setTimeout(() => connection.abort(), Math.min(silenceMs, MAX_TIMER_MS));
      yield* readNotifications(body, { startTimer, onId });
      throw endOfResponseError();
    } catch (error) {
      if (signal?.aborted) return;
      if (!(error instanceof SvcApiError && error.retryable)) throw error;
      if (!isOpened && attempt === MAX_FIRST_ATTEMPTS) throw error;
      ({ retryAfterSeconds } = error);
    } finally {
      connection.abort();
    }
    const pause = new AbortController();
    await Promise.race([
      http.waitBeforeRetry(Math.min(attempt + 1, MAX_BACKOFF_ATTEMPT), retryAfterSeconds),
      waitForAbort(signal, pause.signal),
    ]);
    pause.abort();
  }
}

/**
 * Resolves when the signal is aborted. Without a signal, it never resolves. Removes its listener when `until` is
 * aborted.
 */
function waitForAbort(signal: AbortSignal | undefined, until: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) resolve();
    signal?.addEventListener('abort', () => resolve(), { signal: until });
  });
}

/**
 * The server ends an open stream when it restarts, and the stream reconnects. The error is reported only if no attempt
 * has opened the stream, which begins with a message that has an id: then the URL is wrong.
 */
function endOfResponseError(): SvcApiError {
  const errors = [{ message: 'The response ended without the first message of a stream of payments' }];
  return new SvcApiError({ httpStatus: 200, status: 'InternalServer', errors, retryable: true });
}

interface StreamCallbacks {
  readonly startTimer: () => NodeJS.Timeout;
  /** Called for the id of each message, including the first message of a stream, which has an id but no notification. */
  readonly onId: (id: string) => void;
}

async function* readNotifications(
  body: ReadableStream<Uint8Array>,
  { startTimer, onId }: StreamCallbacks,
): AsyncGenerator<PaymentNotification, void, undefined> {
  const messages: Message[] = [];
  const parser = createParser({
    maxBufferSize: MAX_MESSAGE_LENGTH,
    onId,
    onEvent: (message) => messages.push(message),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw unreadableMessageError(error);
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await readChunk(reader, startTimer);
    if (done) return;
    parser.feed(decoder.decode(value, { stream: true }));
    for (const message of messages.splice(0)) {
      const notification = parseNotification(message);
      if (notification) yield notification;
    }
  }
}

type Chunk = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>>;

/**
 * Reads one chunk. The timer runs only while this function waits for the server, so the caller may take any time to
 * process a notification.
 */
async function readChunk(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  startTimer: StreamCallbacks['startTimer'],
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

function parseNotification({ id, data }: Message): PaymentNotification | undefined {
  try {
    if (id === undefined) throw new MalformedPaymentError('id');
    return readPaymentNotification(id, parseJson(data));
  } catch (cause) {
    throw unreadableMessageError(cause);
  }
}

function unreadableMessageError(cause: unknown): SvcApiError {
  const errors = [{ message: `A message of the stream cannot be read: ${(cause as Error).message}` }];
  return new SvcApiError({ httpStatus: 200, status: 'InternalServer', errors, retryable: false, cause });
}
