/** A request waits at most this long for an app that is draining: a restart takes a few seconds. */
const MAX_WAIT_MS = 20_000;
/** Draining waits at most this long for requests in flight, so that an endless stream does not block a restart. */
const MAX_DRAIN_MS = 10_000;

interface AppState {
  inFlight: number;
  /** Called when the last request in flight has completed. */
  onIdle: () => void;
  /** Present while the app is draining. */
  paused?: { readonly resumed: Promise<void>; readonly resume: () => void };
}

/**
 * Drains an app before a restart: new requests wait here and requests in flight complete. Otherwise a request could meet a
 * connection that is closing, and it would be unknown whether the app executed it.
 */
export class AppDraining {
  private readonly apps = new Map<string, AppState>();

  /** Resolves when the app is not draining, or after a bounded time. Call the result when the request has completed. */
  async enter(app: string): Promise<() => void> {
    const state = this.stateOf(app);
    if (state.paused) await waitAtMost(MAX_WAIT_MS, state.paused.resumed);
    state.inFlight++;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      if (--state.inFlight === 0) state.onIdle();
    };
  }

  /** Resolves when no request is in flight, or after a bounded time. */
  async drain(app: string): Promise<void> {
    const state = this.stateOf(app);
    if (!state.paused) {
      let resume = (): void => undefined;
      const resumed = new Promise<void>((resolve) => (resume = resolve));
      state.paused = { resumed, resume };
    }
    if (state.inFlight > 0) await waitAtMost(MAX_DRAIN_MS, new Promise<void>((resolve) => (state.onIdle = resolve)));
  }

  resume(app: string): void {
    const state = this.stateOf(app);
    state.paused?.resume();
    delete state.paused;
  }

  private stateOf(app: string): AppState {
    const known = this.apps.get(app);
    if (known) return known;
    const state: AppState = { inFlight: 0, onIdle: () => undefined };
    this.apps.set(app, state);
    return state;
  }
}

async function waitAtMost(milliseconds: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
  await Promise.race([promise, timeout]);
  clearTimeout(timer);
}
