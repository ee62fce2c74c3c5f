/** Creates the watch and the poller, and connects them to the document and the gateway. */
import { fetchState, streamStates } from './payment-flow/gateway-calls.js';
import { IdleWatch } from './payment-flow/idle-watch.js';
import type { SessionState } from './payment-flow/payment-flow.js';
import { StatePoller } from './payment-flow/state-poller.js';
import { callsAddress, now, pageData } from './views/page-document.js';
import { showStillChecking } from './views/processing-view.js';

/** Creates an object that watches the state of the session while the page shows the form. */
export function createIdleWatch(onSessionState: (state: SessionState) => void): IdleWatch {
  const watch = new IdleWatch({
    isVisible: () => document.visibilityState === 'visible',
    fetchState: () => fetchState(callsAddress, new AbortController().signal),
    openStream: (onState, onBroken) => streamStates(callsAddress, onState, onBroken),
    onState: onSessionState,
  });
  document.addEventListener('visibilitychange', () => watch.onVisibilityChange());
  window.addEventListener('pagehide', () => watch.stop());
  watch.fetchAtExpiry(pageData['expiresAt'] ?? '', now());
  return watch;
}

/**
 * Creates a poller for a payment in progress. The poller polls before it opens a stream, because a payment with an
 * immediate result needs no stream.
 */
export function createPoller(
  onState: ConstructorParameters<typeof StatePoller>[1],
  onFailure: () => void = showStillChecking,
): StatePoller {
  const poller = new StatePoller(
    (signal) => fetchState(callsAddress, signal),
    onState,
    onFailure,
    (onStreamState, onBroken) => streamStates(callsAddress, onStreamState, onBroken),
  );
  window.addEventListener('pagehide', () => poller.stop());
  window.addEventListener('online', () => poller.pollNow());
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') poller.pollNow();
  });
  return poller;
}
