import { withDeadline } from '@svc/kernel';

/** A request waits at most this long for an app that is draining: a restart takes a few seconds. */
const MAX_WAIT_MS = 20_000;
/** Draining waits at most this long for requests in flight, so that an endless stream does not block a restart. */
const MAX_DRAIN_MS = 10_000;

interface AppState {
  inFlight: number;
  /** Called when the last request in flight has completed. */
  onIdle: () => void;
  /** Present while the app is draining. */
  pause?: { readonly resumed: Promise<void>; readonly resume: () => void };
}

/**
 * Drains an app before a restart: new requests wait here, and requests in flight complete. Without draining, a request
 * could be sent on a connection that the app is closing, and it would be unknown whether the app executed the request.
 */
export class AppDraining {
  private readonly apps = new Map<string, AppState>();

  /**
   * Waits until the app is not draining, but at most {@link MAX_WAIT_MS}. Returns a function that the caller must call
   * when the request has completed.
   */
  async enter(app: string): Promise<() => void> {
    const state = this.getState(app);
    if (state.pause) await withDeadline(state.pause.resumed, MAX_WAIT_MS, () => undefined);
    state.inFlight++;
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      if (--state.inFlight === 0) state.onIdle();
    };
  }

  /**
   * Holds new requests of the app. Resolves when no request is in flight, but after {@link MAX_DRAIN_MS} at the latest.
   */
  async drain(app: string): Promise<void> {
    const state = this.getState(app);
    if (!state.pause) {
      let resume = (): void => undefined;
      const resumed = new Promise<void>((resolve) => (resume = resolve));
      state.pause = { resumed, resume };
    }
    if (state.inFlight === 0) return;
    const idle = new Promise<void>((resolve) => (state.onIdle = resolve));
    await withDeadline(idle, MAX_DRAIN_MS, () => undefined);
  }

  /** Admits the requests of the app again. */
  resume(app: string): void {
    const state = this.getState(app);
    state.pause?.resume();
    delete state.pause;
  }

  private getState(app: string): AppState {
    const existing = this.apps.get(app);
    if (existing) return existing;
    const state: AppState = { inFlight: 0, onIdle: () => undefined };
    this.apps.set(app, state);
    return state;
  }
}
