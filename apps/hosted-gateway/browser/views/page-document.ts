/** What the server wrote into the document for its script. */
import type { CallsAddress } from '../payment-flow/gateway-calls.js';
import type { SessionState } from '../payment-flow/payment-flow.js';

export const data = document.querySelector('main')?.dataset ?? {};
export const sessionId = data['sessionId'] ?? '';
export const calls: CallsAddress = { path: data['callsPath'] ?? '', query: data['callsQuery'] ?? '' };
/** What this document shows; after a declined try it is not what it was rendered from. */
export const shown: SessionState = { state: data['state'] ?? '', version: data['sessionVersion'] };

/** By the server's clock: a device whose own is wrong must not refuse a good card, or think that the session has expired. */
const clockOffsetMs = Date.parse(data['madeAt'] ?? '') - Date.now() || 0;
export const now = (): Date => new Date(Date.now() + clockOffsetMs);

/** Without the fragment: with one, the browser would only scroll. */
export function reload(): void {
  location.replace(location.pathname + location.search);
}

export function storageIfAllowed(): Storage | undefined {
  try {
    return window.sessionStorage;
  } catch {
    return undefined;
  }
}
