/**
 * The HTTP calls of the page, each with a timeout. Their base path contains the session id or the scanned code. They
 * only return the result; payment-flow.ts decides about the next step.
 */
import type { ScriptBrowserData } from './browser-data.js';
import {
  type DeclinedPayment,
  type NextPayment,
  type PostResult,
  type SessionState,
  wasNeverSent,
} from './payment-flow.js';

export interface PaymentBody {
  reference: string;
  paymentNumber: number;
  encryptedCard: string;
  /** Amount in cents that the payer of an invoice chose. */
  amount?: number;
  tipAmount?: number;
  /** The solved challenge, if the page has one. */
  challenge?: string;
  solution?: number;
  browser?: ScriptBrowserData | undefined;
}

/** Longer than the 15 s within which the gateway responds. A shorter timeout would only cause a second request. */
const POST_TIMEOUT_MS = 25_000;
const STATE_TIMEOUT_MS = 8_000;

/** Address of the calls of a page. */
export interface CallsAddress {
  /** Base path on this origin. */
  readonly path: string;
  /** Query of each call: the language if the address of the page contains one, otherwise empty. */
  readonly query: string;
}

export async function postPayment(calls: CallsAddress, body: PaymentBody): Promise<PostResult> {
  const wasOffline = navigator.onLine === false;
  let cameOnline = false;
  const onOnline = () => (cameOnline = true);
  window.addEventListener('online', onOnline);
  try {
    const response = await fetch(`${calls.path}/payments${calls.query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      cache: 'no-store',
      credentials: 'same-origin',
      redirect: 'error',
      signal: AbortSignal.timeout(POST_TIMEOUT_MS),
    });
    const json = await readJsonObject(response);
    const received = parseState(json);
    const retryAfterSeconds = Number(response.headers.get('retry-after'));
    const message = Array.isArray(json['errors']) ? (json['errors'] as { message?: unknown }[])[0]?.message : '';
    return {
      kind: 'response',
      httpStatus: response.status,
      ...(typeof json['state'] === 'string' ? { state: json['state'] } : {}),
      ...(typeof json['redirectUrl'] === 'string' ? { redirectUrl: json['redirectUrl'] } : {}),
      ...(typeof message === 'string' && message !== '' ? { message: message.slice(0, 300) } : {}),
      ...(received === undefined ? {} : { received }),
      ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
    };
  } catch {
    // A browser that is offline sends nothing. But if the network changed during the call, it may have sent the
    // request.
    const isOffline = navigator.onLine === false;
    return { kind: 'unreachable', neverSent: wasNeverSent({ wasOffline, cameOnline, isOffline }) };
  } finally {
    window.removeEventListener('online', onOnline);
  }
}

/** Fetches the state of the session. Undefined if the call failed, and `not-found` for an unknown session. */
export async function fetchState(calls: CallsAddress, signal: AbortSignal): Promise<SessionState | undefined> {
  // AbortSignal.any would be simpler, but older phones do not support it.
  const controller = new AbortController();
  const abort = () => controller.abort();
  signal.addEventListener('abort', abort);
  const timer = setTimeout(abort, STATE_TIMEOUT_MS);
  try {
    const response = await fetch(`${calls.path}/state${calls.query}`, {
      headers: { accept: 'application/json' },
      cache: 'no-store',
      credentials: 'same-origin',
      redirect: 'error',
      signal: controller.signal,
    });
    const json = await readJsonObject(response);
    // Ignores a 404 that a proxy sent.
    if (response.status === 404 && json['status'] === 'NotFound') return { state: 'not-found' };
    return response.ok ? parseState(json) : undefined;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** Requests a challenge for the next payment. Its text is absent if the payment needs none. Undefined if the call failed. */
export async function requestChallenge(calls: CallsAddress): Promise<{ challenge?: string } | undefined> {
  const response = await postWithoutBody(calls, 'challenges');
  if (!response?.ok) return undefined;
  const { challenge } = await readJsonObject(response);
  return typeof challenge === 'string' ? { challenge } : {};
}

/** Requests more time for the session. Returns its state from the response. Undefined if the call failed. */
export async function requestMoreTime(calls: CallsAddress): Promise<SessionState | undefined> {
  const response = await postWithoutBody(calls, 'more-time');
  return response?.ok ? parseState(await readJsonObject(response)) : undefined;
}

/** Undefined if there is no response. */
async function postWithoutBody({ path, query }: CallsAddress, name: string): Promise<Response | undefined> {
  try {
    return await fetch(`${path}/${name}${query}`, {
      method: 'POST',
      headers: { accept: 'application/json' },
      cache: 'no-store',
      credentials: 'same-origin',
      redirect: 'error',
      signal: AbortSignal.timeout(STATE_TIMEOUT_MS),
    });
  } catch {
    return undefined;
  }
}

/**
 * Opens a stream of state changes. Returns a function that closes the stream. Calls `onBroken` at each connection
 * error, so that the caller can poll. The browser reconnects automatically, unless `isClosed` is true.
 */
export function streamStates(
  calls: CallsAddress,
  onState: (state: SessionState) => void,
  onBroken: (isClosed: boolean) => void,
): () => void {
  if (typeof EventSource === 'undefined') {
    onBroken(true);
    return () => undefined;
  }
  const source = new EventSource(`${calls.path}/events${calls.query}`);
  source.addEventListener('state', (event: MessageEvent<string>) => {
    const state = parseState(parseObject(event.data));
    if (state) onState(state);
  });
  source.addEventListener('error', () => onBroken(source.readyState === EventSource.CLOSED));
  return () => source.close();
}

function parseState({
  state,
  version,
  expiresAt,
  decline,
  nextPayment,
}: Record<string, unknown>): SessionState | undefined {
  if (typeof state !== 'string') return undefined;
  const [parsedDecline, parsedNext] = [parseDecline(decline), parseNextPayment(nextPayment)];
  return {
    state,
    version: typeof version === 'number' || typeof version === 'string' ? String(version) : undefined,
    ...(typeof expiresAt === 'string' ? { expiresAt } : {}),
    ...(parsedDecline === undefined ? {} : { decline: parsedDecline }),
    ...(parsedNext === undefined ? {} : { nextPayment: parsedNext }),
  };
}

/** Returns undefined if a field is missing. In this case the page reloads, and the server renders the texts. */
function parseDecline(value: unknown): DeclinedPayment | undefined {
  const fields = (value ?? {}) as Partial<Record<keyof DeclinedPayment, unknown>>;
  const { paymentNumber, title, next, paymentsLeft, field, reference } = fields;
  const isComplete = [title, next, paymentsLeft].every((text) => typeof text === 'string');
  if (typeof paymentNumber !== 'number' || !isComplete) return undefined;
  const texts = { title: title as string, next: next as string, paymentsLeft: paymentsLeft as string };
  return {
    paymentNumber,
    ...texts,
    ...(typeof field === 'string' ? { field } : {}),
    ...(typeof reference === 'string' ? { reference } : {}),
  };
}

/** Undefined if a field is missing. */
function parseNextPayment(value: unknown): NextPayment | undefined {
  const { paymentNumber, paymentsLeft } = (value ?? {}) as Partial<Record<keyof NextPayment, unknown>>;
  return typeof paymentNumber === 'number' && typeof paymentsLeft === 'string'
    ? { paymentNumber, paymentsLeft }
    : undefined;
}

function parseObject(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

async function readJsonObject(response: Response): Promise<Record<string, unknown>> {
  try {
    return parseObject(await response.text());
  } catch {
    return {};
  }
}
