/** The data that the server rendered into the document for the script. */
import type { CallsAddress } from '../payment-flow/gateway-calls.js';
import type { SessionState } from '../payment-flow/payment-flow.js';

export const pageData = document.querySelector('main')?.dataset ?? {};
export const sessionId = pageData['sessionId'] ?? '';
export const callsAddress: CallsAddress = { path: pageData['callsPath'] ?? '', query: pageData['callsQuery'] ?? '' };
/** The state that this document shows now. After a declined payment it differs from the rendered state. */
export const shownState: SessionState = { state: pageData['state'] ?? '', version: pageData['sessionVersion'] };

/**
 * Difference between the clocks of server and device. Without this correction, the page of a device with a wrong clock
 * could reject a valid card, or warn about the expiry too early.
 */
const clockOffsetMs = Date.parse(pageData['renderedAt'] ?? '') - Date.now() || 0;
export const now = (): Date => new Date(Date.now() + clockOffsetMs);

/** Loads the page again, without the fragment of the address, because with a fragment the browser would only scroll. */
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
