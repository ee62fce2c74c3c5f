/** The stream of a site's payments (M6), read for as long as somebody wants it: a connection that ends is opened again. */
import { createParser } from 'eventsource-parser';
import { type ApiRequest, type HttpExchange, parseJson } from './http-exchange.js';
import { MalformedPaymentError } from './hosted-payment.js';
import { type PaymentNotice, readPaymentNotice } from './merchant-payment.js';
import { SvcApiError } from './svc-api-error.js';

export interface StreamOptions {
  /** `id` of the last notice that you have: what came after it comes first. Without one, from now on. */
  after?: string;
  /** Ends the stream. */
  signal?: AbortSignal;
  /** A connection that says nothing for so long is opened again; 45 000 when left out. The service speaks every 15 s. */
  silenceMs?: number;
}

/** Tries before the first connection: an address or a key that is wrong is an error, and not waited for. */
const FIRST_TRIES_MAX = 4;
/** Pauses grow up to this try, to about 16 s. */
const LONGEST_PAUSE_AT = 7;
const MESSAGE_LENGTH_MAX = 1024 * 1024;

/**
 * Every notice once, in order, over reconnections.
 *
 * @throws SvcApiError when there is no use in going on: 400 or 410 for an `after` that is none or too old, 401, 403, 404
 */
export async function* streamPayments(
  http: HttpExchange,
  request: ApiRequest,
  { after, signal, silenceMs = 45_000 }: StreamOptions = {},
): AsyncGenerator<PaymentNotice, void, undefined> {
  let last = after;
  let wasOpen = false;
  for (let tries = 1; !signal?.aborted; tries++) {
    const connection = new AbortController();
    const signals = AbortSignal.any(signal ? [signal, connection.signal] : [connection.signal]);
    try {
      const headers = last === undefined ? request.headers : { ...request.headers, 'last-event-id': last };
      const body = await http.open({ ...request, headers }, signals);
      wasOpen = true;
      tries = 0;
      yield* noticesIn(body, {
        startTimer: () => setTimeout(() => connection.abort(), silenceMs),
        // Also the one that begins a stream, before there is a notice.
        onId: (id) => (last = id),
      });
    } catch (error) {
      if (signal?.aborted) return;
      if (!mayGoOn(error) || (!wasOpen && tries === FIRST_TRIES_MAX)) throw error;
      await http.pause(Math.min(tries + 1, LONGEST_PAUSE_AT), (error as SvcApiError).retryAfterSeconds);
      continue;
    } finally {
      connection.abort();
    }
    await http.pause(Math.min(tries + 1, LONGEST_PAUSE_AT));
  }
}

/** A connection that breaks is no error of the API. */
function mayGoOn(error: unknown): boolean {
  return error instanceof SvcApiError
    ? error.retryable
    : error instanceof Error && error.name !== 'MalformedPaymentError';
}

function noticeOf({ id, data }: { id?: string | undefined; data: string }): PaymentNotice | undefined {
  if (id === undefined) throw new MalformedPaymentError('id');
  return readPaymentNotice(id, parseJson(data));
}

interface Watch {
  readonly startTimer: () => ReturnType<typeof setTimeout>;
  readonly onId: (id: string) => void;
}

async function* noticesIn(
  body: ReadableStream<Uint8Array>,
  { startTimer, onId }: Watch,
): AsyncGenerator<PaymentNotice, void, undefined> {
  const messages: { id?: string | undefined; data: string }[] = [];
  const parser = createParser({
    maxBufferSize: MESSAGE_LENGTH_MAX,
    onId,
    onEvent: (message) => messages.push(message),
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    // Only while the service has its turn: how long the reader of the notices takes is up to them.
    const timer = startTimer();
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    parser.feed(decoder.decode(value, { stream: true }));
    for (const message of messages.splice(0)) {
      const notice = noticeOf(message);
      if (notice) yield notice;
    }
  }
}
