/** The data that the server rendered into the document for the script. */
import type { CallsAddress } from '../payment-flow/gateway-calls.js';
import type { SessionState } from '../payment-flow/payment-flow.js';

export const data = document.querySelector('main')?.dataset ?? {};
export const sessionId = data['sessionId'] ?? '';
export const calls: CallsAddress = { path: data['callsPath'] ?? '', query: data['callsQuery'] ?? '' };
/** The state that this document shows now. After a declined attempt it differs from the rendered state. */
export const shown: SessionState = { state: data['state'] ?? '', version: data['sessionVersion'] };

/** Offset to the server's clock, so that a wrong device clock neither rejects a valid card nor expires the session. */
const clockOffsetMs = Date.parse(data['madeAt'] ?? '') - Date.now() || 0;
export const now = (): Date => new Date(Date.now() + clockOffsetMs);

/** Without the fragment: with one, the browser would only scroll instead of reloading. */
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
