/**
 * The HTTP calls of the page, each with a timeout, below the base path from the server: that of the session or of the scanned
 * code. They return the result and decide nothing.
 */
import type { ScreenAndClock } from './browser-data.js';
import {
  type DeclinedAttempt,
  type NextAttempt,
  type PostResult,
  type SessionState,
  wasNeverSent,
} from './payment-flow.js';

export interface PaymentBody {
  reference: string;
  try: number;
  encryptedCard: string;
  /** Cents, chosen by the payer of an invoice. */
  amount?: number;
  tipAmount?: number;
  browser?: ScreenAndClock | undefined;
}

/** Longer than the 15 s within which the gateway answers: giving up earlier would only cause a second request. */
const POST_TIMEOUT_MS = 25_000;
const STATE_TIMEOUT_MS = 8_000;

/** Address of the calls of a page. */
export interface CallsAddress {
  /** Base path on this origin. */
  readonly path: string;
  /** Query added to the address of each call: the language, if the page's address names one; otherwise empty. */
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
    const answer = await readObject(response);
    const received = stateIn(answer);
    const message = Array.isArray(answer['errors']) ? (answer['errors'] as { message?: unknown }[])[0]?.message : '';
    return {
      kind: 'answered',
      httpStatus: response.status,
      ...(typeof answer['state'] === 'string' ? { state: answer['state'] } : {}),
      ...(typeof answer['redirectUrl'] === 'string' ? { redirectUrl: answer['redirectUrl'] } : {}),
      ...(typeof message === 'string' && message !== '' ? { message: message.slice(0, 300) } : {}),
      ...(received === undefined ? {} : { received }),
    };
  } catch {
    // Offline, the browser sends nothing. If the network changed during the call, the request may have been sent.
    const isOffline = navigator.onLine === false;
    return { kind: 'unreachable', neverSent: wasNeverSent({ wasOffline, cameOnline, isOffline }) };
  } finally {
    window.removeEventListener('online', onOnline);
  }
}

/** The session's state; undefined if the call failed. `not-found` for an unknown session. */
export async function fetchState(calls: CallsAddress, signal: AbortSignal): Promise<SessionState | undefined> {
  // Not AbortSignal.any: phones of a few years ago do not support it.
  const bound = new AbortController();
  const abort = () => bound.abort();
  signal.addEventListener('abort', abort);
  const timer = setTimeout(abort, STATE_TIMEOUT_MS);
  try {
    const response = await fetch(`${calls.path}/state${calls.query}`, {
      headers: { accept: 'application/json' },
      cache: 'no-store',
      credentials: 'same-origin',
      redirect: 'error',
      signal: bound.signal,
    });
    const answer = await readObject(response);
    // Only a 404 of this service counts: a proxy may send its own.
    if (response.status === 404 && answer['status'] === 'NotFound') return { state: 'not-found' };
    return response.ok ? stateIn(answer) : undefined;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** Asks for more time. Returns the session's state from the server's answer; undefined when there was no answer. */
export async function requestMoreTime({ path, query }: CallsAddress): Promise<SessionState | undefined> {
  try {
    const response = await fetch(`${path}/more-time${query}`, {
      method: 'POST',
      headers: { accept: 'application/json' },
      cache: 'no-store',
      credentials: 'same-origin',
      redirect: 'error',
      signal: AbortSignal.timeout(STATE_TIMEOUT_MS),
    });
    return response.ok ? stateIn(await readObject(response)) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Opens a stream of state changes; the returned function closes it. On each connection error `onBroken` is called, possibly
 * several times: the caller should poll meanwhile. The browser reconnects automatically, unless `isOver` is true.
 */
export function streamStates(
  calls: CallsAddress,
  onState: (state: SessionState) => void,
  onBroken: (isOver: boolean) => void,
): () => void {
  if (typeof EventSource === 'undefined') {
    onBroken(true);
    return () => undefined;
  }
  const source = new EventSource(`${calls.path}/events${calls.query}`);
  source.addEventListener('state', (event: MessageEvent<string>) => {
    const state = stateIn(asObject(event.data));
    if (state) onState(state);
  });
  source.addEventListener('error', () => onBroken(source.readyState === EventSource.CLOSED));
  return () => source.close();
}

function stateIn({ state, version, expiresAt, decline, coming }: Record<string, unknown>): SessionState | undefined {
  if (typeof state !== 'string') return undefined;
  const [known, next] = [declineIn(decline), nextAttemptIn(coming)];
  return {
    state,
    version: typeof version === 'number' || typeof version === 'string' ? String(version) : undefined,
    ...(typeof expiresAt === 'string' ? { expiresAt } : {}),
    ...(known === undefined ? {} : { decline: known }),
    ...(next === undefined ? {} : { coming: next }),
  };
}

/** Undefined if incomplete: then the page reloads and the server renders the texts. */
function declineIn(value: unknown): DeclinedAttempt | undefined {
  const given = (value ?? {}) as Partial<Record<keyof DeclinedAttempt, unknown>>;
  const { try: coming, title, next, triesLeft, field, reference } = given;
  const isWhole = [title, next, triesLeft].every((text) => typeof text === 'string');
  if (typeof coming !== 'number' || !isWhole) return undefined;
  const texts = { title: title as string, next: next as string, triesLeft: triesLeft as string };
  return {
    try: coming,
    ...texts,
    ...(typeof field === 'string' ? { field } : {}),
    ...(typeof reference === 'string' ? { reference } : {}),
  };
}

/** Undefined if incomplete, as {@link declineIn}. */
function nextAttemptIn(value: unknown): NextAttempt | undefined {
  const { try: coming, triesLeft } = (value ?? {}) as Partial<Record<keyof NextAttempt, unknown>>;
  return typeof coming === 'number' && typeof triesLeft === 'string' ? { try: coming, triesLeft } : undefined;
}

function asObject(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

async function readObject(response: Response): Promise<Record<string, unknown>> {
  try {
    return asObject(await response.text());
  } catch {
    return {};
  }
}
