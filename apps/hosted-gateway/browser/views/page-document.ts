/** The data that the server rendered into the document for the script. */
import type { CallsAddress } from '../payment-flow/gateway-calls.js';
import type { SessionState } from '../payment-flow/payment-flow.js';

export const data = document.querySelector('main')?.dataset ?? {};
export const sessionId = data['sessionId'] ?? '';
export const calls: CallsAddress = { path: data['callsPath'] ?? '', query: data['callsQuery'] ?? '' };
/** The state that this document shows now. After a declined attempt it differs from the rendered state. */
export const shown: SessionState = { state: data['state'] ?? '', version: data['sessionVersion'] };

/** Difference between the clocks of server and device. With it, a wrong device clock neither rejects a valid card nor expires the session. */
const clockOffsetMs = Date.parse(data['madeAt'] ?? '') - Date.now() || 0;
export const now = (): Date => new Date(Date.now() + clockOffsetMs);

/** Loads the page again, without the fragment of the address: with a fragment the browser would only scroll. */
export function reload(): void {
  location.replace(location.pathname + location.search);
}

/** The session storage. Undefined if the browser does not allow it. */
export function storageIfAllowed(): Storage | undefined {
  try {
    return window.sessionStorage;
  } catch {
    return undefined;
  }
}
