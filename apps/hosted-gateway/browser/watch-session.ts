/** Connects the watch and the poller to the document and the gateway. */
import { fetchState, streamStates } from './payment-flow/gateway-calls.js';
import { IdleWatch } from './payment-flow/idle-watch.js';
import type { SessionState } from './payment-flow/payment-flow.js';
import { StatePoller } from './payment-flow/state-poller.js';
import { calls, data, now } from './views/page-document.js';
import { showStillChecking } from './views/processing-view.js';

/** Watches the session while the form waits for the payer. */
export function idleWatch(onNews: (state: SessionState) => void): IdleWatch {
  const watch = new IdleWatch({
    isVisible: () => document.visibilityState === 'visible',
    fetchState: () => fetchState(calls, new AbortController().signal),
    stream: (onState, onBroken) => streamStates(calls, onState, onBroken),
    onState: onNews,
  });
  document.addEventListener('visibilitychange', () => watch.visibilityChanged());
  window.addEventListener('pagehide', () => watch.stop());
  watch.fetchAtExpiry(data['expiresAt'] ?? '', now());
  return watch;
}

/** Polls first, so that a payment with an immediate result needs no stream; then uses the stream. */
export function pollerFor(
  onState: ConstructorParameters<typeof StatePoller>[1],
  onSilence: () => void = showStillChecking,
): StatePoller {
  const poller = new StatePoller(
    (signal) => fetchState(calls, signal),
    onState,
    onSilence,
    (onStreamState, onBroken) => streamStates(calls, onStreamState, onBroken),
  );
  window.addEventListener('pagehide', () => poller.stop());
  window.addEventListener('online', () => poller.pollNow());
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') poller.pollNow();
  });
  return poller;
}
