/** The ways in which the page learns of its session: by asking, and by being told. */
import { fetchState, streamStates } from './payment-flow/gateway-calls.js';
import { IdleWatch } from './payment-flow/idle-watch.js';
import { calls, data, now } from './views/page-document.js';
import type { SessionState } from './payment-flow/payment-flow.js';
import { sayStillChecking } from './views/processing-view.js';
import { StatePoller } from './payment-flow/state-poller.js';

/** For as long as the form waits for its payer. */
export function idleWatch(onNews: (state: SessionState) => void): IdleWatch {
  const watch = new IdleWatch({
    isVisible: () => document.visibilityState === 'visible',
    ask: () => fetchState(calls, new AbortController().signal),
    stream: (onState, onBroken) => streamStates(calls, onState, onBroken),
    onState: onNews,
  });
  document.addEventListener('visibilitychange', () => watch.visibilityChanged());
  window.addEventListener('pagehide', () => watch.stop());
  watch.lookAtExpiry(data['expiresAt'] ?? '', now());
  return watch;
}

/** Asks first, so that a payment that is decided at once costs no stream; from then on the server tells by itself. */
export function pollerFor(
  onState: ConstructorParameters<typeof StatePoller>[1],
  onSilence: () => void = sayStillChecking,
): StatePoller {
  const poller = new StatePoller(
    (signal) => fetchState(calls, signal),
    onState,
    onSilence,
    (told, untold) => streamStates(calls, told, untold),
  );
  window.addEventListener('pagehide', () => poller.stop());
  window.addEventListener('online', () => poller.pollNow());
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') poller.pollNow();
  });
  return poller;
}
