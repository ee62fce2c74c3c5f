/**
 * The calls of the page, each bounded in time, below the path that the server named: of the session, or of the code that
 * was scanned. They report what happened and decide nothing.
 */
import type { PostOutcome, SessionState } from './payment-flow.js';

export interface PaymentBody {
  reference: string;
  try: number;
  encryptedCard: string;
}

/** Longer than the 15 s within which the gateway answers: giving up earlier would only cause a second request. */
const POST_TIMEOUT_MS = 25_000;
const STATE_TIMEOUT_MS = 8_000;

export async function postPayment(callsPath: string, body: PaymentBody): Promise<PostOutcome> {
  try {
    const response = await fetch(`${callsPath}/payments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      cache: 'no-store',
      credentials: 'same-origin',
      redirect: 'error',
      signal: AbortSignal.timeout(POST_TIMEOUT_MS),
    });
    const answer = await readObject(response);
    const message = Array.isArray(answer['errors']) ? (answer['errors'] as { message?: unknown }[])[0]?.message : '';
    return {
      kind: 'answered',
      httpStatus: response.status,
      ...(typeof answer['state'] === 'string' ? { state: answer['state'] } : {}),
      ...(typeof answer['redirectUrl'] === 'string' ? { redirectUrl: answer['redirectUrl'] } : {}),
      ...(typeof message === 'string' && message !== '' ? { message: message.slice(0, 300) } : {}),
    };
  } catch {
    return { kind: 'unreachable' };
  }
}

/** The session's state, or undefined when nobody could say. A session that is gone is `not-found`. */
export async function fetchState(callsPath: string, signal: AbortSignal): Promise<SessionState | undefined> {
  // AbortSignal.any would say this in one line, but phones of a few years ago do not have it.
  const bound = new AbortController();
  const abort = () => bound.abort();
  signal.addEventListener('abort', abort);
  const timer = setTimeout(abort, STATE_TIMEOUT_MS);
  try {
    const response = await fetch(`${callsPath}/state`, {
      headers: { accept: 'application/json' },
      cache: 'no-store',
      credentials: 'same-origin',
      redirect: 'error',
      signal: bound.signal,
    });
    if (response.status === 404) return { state: 'not-found' };
    if (!response.ok) return undefined;
    return stateIn(await readObject(response));
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/**
 * Has the server tell every change until the returned function is called. Where it cannot, `onBroken` is called, now and
 * then again: whoever wants to know asks meanwhile. The browser connects again by itself, unless it is over.
 */
export function streamStates(
  callsPath: string,
  onState: (state: SessionState) => void,
  onBroken: (isOver: boolean) => void,
): () => void {
  if (typeof EventSource === 'undefined') {
    onBroken(true);
    return () => undefined;
  }
  const source = new EventSource(`${callsPath}/events`);
  source.addEventListener('state', (event: MessageEvent<string>) => {
    const state = stateIn(asObject(event.data));
    if (state) onState(state);
  });
  source.addEventListener('error', () => onBroken(source.readyState === EventSource.CLOSED));
  return () => source.close();
}

function stateIn({ state, version }: Record<string, unknown>): SessionState | undefined {
  if (typeof state !== 'string') return undefined;
  return { state, version: typeof version === 'number' || typeof version === 'string' ? String(version) : undefined };
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
